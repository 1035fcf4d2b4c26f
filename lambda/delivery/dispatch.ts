import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { OnAccepted, PublishOutcome, Refusal } from '../ports/announcer.ts';
import { pack } from './pack.ts';
import { refusalKind } from './refusals.ts';
import type { TopicPace } from './topic-pace.ts';

/** An event on its way, with the bytes that AWS counts: body and attributes. */
export interface Message {
  readonly owed: OwedEvent;
  readonly bytes: number;
}

/** What became of each message of a request, in their order, or of the request as a whole. */
export type Answer =
  | { readonly entries: readonly EntryAnswer[] }
  /** None was taken. */
  | { readonly code: string };

/** `undefined`: accepted. Else the code of the refusal. */
export type EntryAnswer = string | undefined;

export interface DispatchContext {
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  readonly pace: TopicPace;
  /** After which nothing more is sent. */
  readonly deadline?: Temporal.Instant | undefined;
  /** Told of what was accepted before anything else is sent in its place. */
  readonly onAccepted?: OnAccepted | undefined;
}

/** For each entry; a request that fails counts for all of its entries. */
const attempts = 5;
const firstBackOffMs = 100;
const longestBackOffMs = 5_000;
/** After so many requests in a row that failed as a whole, SNS is taken to be down. */
const failuresInARow = 8;

/** An answer that takes longer is late: fewer requests are made beside the next. */
const lateMs = 2_000;
/** How long an answer is waited for: as long as there is time, since what is sent again is heard twice. */
const leastPatienceMs = 5_000;
const mostPatienceMs = 30_000;

/** @param patienceMs how long its answer may take */
type Send<Sent extends Message> = (batch: readonly Sent[], patienceMs: number) => Promise<Answer>;

interface Waiting<Sent extends Message> {
  readonly message: Sent;
  /** Oldest first. */
  readonly position: number;
  attempts: number;
  /** A request with others was refused, and it may be this one's fault. */
  alone: boolean;
}

/**
 * Sends events in batches, several at a time, until each is accepted, refused for good, or out of
 * attempts or time.
 *
 * Of one subject, only the oldest event is ever under way: a batch can be taken in part, and batches
 * can overtake each other. So a later revision never goes out before an earlier one.
 */
export class Dispatch<Sent extends Message> {
  readonly #send: Send<Sent>;
  readonly #context: DispatchContext;
  /** Behind the event of the same subject that goes first. */
  readonly #behind = new Map<string, Waiting<Sent>[]>();
  #ready: Waiting<Sent>[] = [];
  #delayed: { readonly entry: Waiting<Sent>; readonly until: number }[] = [];
  /** Invalid by themselves, if it is not the topic that is. */
  #suspects: { readonly entry: Waiting<Sent>; readonly code: string }[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly #accepted: OwedEvent[] = [];
  readonly #refused: Refusal[] = [];
  #failures = 0;
  /** Why nothing more is sent. */
  #stopped: string | undefined;
  /** An error of the callback that is told of accepted batches. */
  #error: { readonly cause: unknown } | undefined;

  constructor(send: Send<Sent>, context: DispatchContext) {
    this.#send = send;
    this.#context = context;
  }

  /** @param messages oldest first; of one subject, in the order of its revisions */
  async run(messages: readonly Sent[]): Promise<PublishOutcome> {
    for (const [position, message] of messages.entries()) {
      const entry = { message, position, attempts: 0, alone: false };
      const line = this.#behind.get(message.owed.event.subject);
      if (line) line.push(entry);
      else {
        this.#behind.set(message.owed.event.subject, []);
        this.#ready.push(entry);
      }
    }
    for (;;) {
      this.#wake();
      this.#sendReady();
      if (this.#underWay.size > 0) await Promise.race(this.#underWay);
      else if (this.#stopped !== undefined || !(await this.#pause())) break;
    }
    if (this.#error !== undefined) throw this.#error.cause;
    this.#refuseRest();
    return {
      accepted: this.#accepted,
      refused: this.#refused,
      ...(this.#stopped !== undefined && { isDown: true }),
    };
  }

  #sendReady(): void {
    const { pace, clock } = this.#context;
    while (this.#stopped === undefined && this.#ready.length > 0) {
      if (this.#underWay.size >= pace.width || pace.until > clock.now().epochMilliseconds) return;
      if (this.#isOutOfTime(0)) return;
      const batch = this.#nextBatch();
      const sent = this.#sendBatch(batch).finally(() => this.#underWay.delete(sent));
      this.#underWay.add(sent);
    }
  }

  /** Waits until something can be sent again. @returns false when nothing can in the time there is */
  async #pause(): Promise<boolean> {
    const { clock, pace } = this.#context;
    const now = clock.now().epochMilliseconds;
    const next = Math.min(...this.#delayed.map(({ until }) => until));
    const until = this.#ready.length > 0 ? pace.until : Math.max(next, pace.until);
    if (until === Number.POSITIVE_INFINITY) return false;
    const ms = Math.max(0, until - now);
    if (this.#isOutOfTime(ms)) {
      this.#stopped = 'OutOfTime';
      return false;
    }
    await clock.sleep(ms);
    return true;
  }

  /** The deadline leaves time for a usual answer to what is sent just before it. */
  #patienceMs(): number {
    const { clock, deadline } = this.#context;
    if (deadline === undefined) return leastPatienceMs;
    const leftMs = Math.max(0, deadline.epochMilliseconds - clock.now().epochMilliseconds);
    return Math.min(mostPatienceMs, leastPatienceMs + leftMs);
  }

  #isOutOfTime(inMs: number): boolean {
    const { clock, deadline } = this.#context;
    return (
      deadline !== undefined && clock.now().epochMilliseconds + inMs >= deadline.epochMilliseconds
    );
  }

  #wake(): void {
    const now = this.#context.clock.now().epochMilliseconds;
    const due = this.#delayed.filter(({ until }) => until <= now);
    if (due.length === 0) return;
    this.#delayed = this.#delayed.filter(({ until }) => until > now);
    this.#enqueue(due.map(({ entry }) => entry));
  }

  #enqueue(entries: readonly Waiting<Sent>[]): void {
    this.#ready = [...this.#ready, ...entries].sort((a, b) => a.position - b.position);
  }

  #nextBatch(): Waiting<Sent>[] {
    const [first] = this.#ready;
    const together = first?.alone ? [first] : this.#ready.filter(({ alone }) => !alone);
    const [batch = []] = pack(together.slice(0, 10), ({ message }) => message.bytes);
    const taken = new Set(batch);
    this.#ready = this.#ready.filter((entry) => !taken.has(entry));
    return batch;
  }

  async #sendBatch(batch: readonly Waiting<Sent>[]): Promise<void> {
    const { clock, pace } = this.#context;
    const sentAt = clock.now().epochMilliseconds;
    const messages = batch.map(({ message }) => message);
    const answer = await this.#send(messages, this.#patienceMs());
    const isLate = clock.now().epochMilliseconds - sentAt > lateMs;
    if (isLate) pace.slowDown(sentAt);
    for (const entry of batch) entry.attempts += 1;
    if ('code' in answer) return this.#requestFailed(batch, answer.code);
    this.#failures = 0;
    const codes = batch.map((_, index) => answer.entries[index]);
    const isThrottled = codes.some((code) => code && refusalKind(code) === 'throttled');
    if (isThrottled) this.#slowDown(batch);
    batch.forEach((entry, index) => {
      const code = codes[index];
      if (code === undefined) this.#accept(entry);
      else if (refusalKind(code) === 'invalid') this.#suspect(entry, code);
      else this.#retry(entry, code);
    });
    const accepted = batch.filter((_, index) => codes[index] === undefined);
    await this.#tell(accepted.map(({ message }) => message.owed));
    if (!isThrottled && !isLate) pace.quicken();
  }

  async #tell(accepted: readonly OwedEvent[]): Promise<void> {
    const { onAccepted } = this.#context;
    if (onAccepted === undefined || accepted.length === 0) return;
    try {
      await onAccepted(accepted);
    } catch (cause) {
      this.#error ??= { cause };
      this.#stopped ??= 'NotSettled';
    }
  }

  #requestFailed(batch: readonly Waiting<Sent>[], code: string): void {
    const kind = refusalKind(code);
    const isSingle = batch.length === 1;
    if (kind === 'invalid' || kind === 'too-long') {
      // By itself, each tells whether it was meant.
      if (!isSingle) this.#enqueue(batch.map((entry) => Object.assign(entry, { alone: true })));
      else for (const entry of batch) this.#suspect(entry, code);
      return;
    }
    this.#failures += 1;
    if (kind === 'configuration' || this.#failures >= failuresInARow) this.#stopped = code;
    if (kind === 'throttled') this.#slowDown(batch);
    for (const entry of batch) this.#retry(entry, code);
  }

  #accept({ message }: Waiting<Sent>): void {
    this.#accepted.push(message.owed);
    this.#context.pace.isTrusted = true;
    this.#next(message);
    for (const { entry, code } of this.#suspects.splice(0)) this.#park(entry, code);
  }

  /** SNS will not take it: the next one of its subject need not wait for it. */
  #park({ message }: Waiting<Sent>, code: string): void {
    this.#refused.push({ owed: message.owed, code, forGood: true });
    this.#next(message);
  }

  /** A topic that does not exist as it is named would make every event invalid. */
  #suspect(entry: Waiting<Sent>, code: string): void {
    if (this.#context.pace.isTrusted) this.#park(entry, code);
    else this.#suspects.push({ entry, code });
  }

  #next({ owed }: Message): void {
    const next = this.#behind.get(owed.event.subject)?.shift();
    if (next) this.#enqueue([next]);
  }

  #retry(entry: Waiting<Sent>, code: string): void {
    if (entry.attempts >= attempts || refusalKind(code) === 'configuration')
      return void this.#refused.push({ owed: entry.message.owed, code });
    const until = this.#context.clock.now().epochMilliseconds + this.#backOffMs(entry.attempts);
    this.#delayed.push({ entry, until });
  }

  #slowDown(batch: readonly Waiting<Sent>[]): void {
    const { pace, clock } = this.#context;
    const made = Math.max(...batch.map((entry) => entry.attempts));
    pace.slowDown(clock.now().epochMilliseconds + this.#backOffMs(made));
  }

  /** Full jitter: anything between nothing and the back-off. */
  #backOffMs(made: number): number {
    const most = Math.min(longestBackOffMs, firstBackOffMs * 2 ** (made - 1));
    return Math.ceil(this.#context.random() * most);
  }

  /** What was not sent, or waits for what was refused, waits for the next tick. */
  #refuseRest(): void {
    const code = this.#stopped ?? 'Waiting';
    for (const { entry, code } of this.#suspects) this.#refuse(entry, code);
    for (const entry of this.#ready) this.#refuse(entry, code);
    for (const { entry } of this.#delayed) this.#refuse(entry, code);
    for (const line of this.#behind.values()) for (const entry of line) this.#refuse(entry, code);
  }

  #refuse({ message }: Waiting<Sent>, code: string): void {
    this.#refused.push({ owed: message.owed, code });
  }
}
