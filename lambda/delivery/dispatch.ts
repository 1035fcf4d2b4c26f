import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { OnAccepted, PublishOutcome, Refusal } from '../ports/announcer.ts';
import { codeOf, refusalKind } from './refusals.ts';

/** An event on its way, with the bytes that AWS counts: body and attributes. */
export interface Message {
  readonly owed: OwedEvent;
  readonly bytes: number;
}

/** What became of each message of a request, in their order, or of the request as a whole. */
export type Answer =
  /** `undefined`: accepted. Else the code of the refusal. */
  | { readonly entries: readonly (string | undefined)[] }
  /** None was taken. */
  | { readonly code: string };

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

/** Requests in flight at once: one at first, since a process that dies repeats what is in flight. */
const firstWidth = 1;
const mostWidth = 8;
/** Rounds of these that went well before there is one more: a process that lives on soon has all. */
const rounds = 4;

/**
 * How fast a topic takes what it is given: half as many requests at once after each throttle, one
 * more after some rounds that went well. It outlives a tick, as the topic's limits do.
 */
export class TopicPace {
  width = firstWidth;
  /** Milliseconds since the epoch: before, nothing is sent. */
  until = 0;
  /** It has accepted something: that an event is invalid is the event's own fault. */
  isTrusted = false;
  #wentWell = 0;

  slowDown(until: number): void {
    this.#wentWell = 0;
    this.width = Math.max(1, Math.floor(this.width / 2));
    this.until = Math.max(this.until, until);
  }

  quicken(): void {
    this.#wentWell += 1;
    if (this.#wentWell < rounds * this.width) return;
    this.#wentWell = 0;
    this.width = Math.min(mostWidth, this.width + 1);
  }
}

/** AWS limits of PublishBatch: entries a request, and bytes of all their bodies and attributes. */
const batchEntries = 10;
const batchBytes = 262_144;

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

/** A message that is neither accepted nor refused for good. */
interface Entry<Sent extends Message> {
  readonly message: Sent;
  readonly attempts: number;
  readonly isUnderWay: boolean;
  /** Milliseconds since the epoch: before, it is not sent again. */
  readonly until: number;
  /** A request with others was refused, and it may be this one's fault. */
  readonly isAlone: boolean;
  /** It is not sent again in this run: the code of its refusal. */
  readonly code?: string;
  /** Invalid by itself, if it is not the topic that is. */
  readonly isInvalid?: true;
}

/** Entries by their place in the order, oldest first. */
type Open<Sent extends Message> = Map<number, Entry<Sent>>;
type Batch<Sent extends Message> = readonly (readonly [place: number, entry: Entry<Sent>])[];

interface Answered<Sent extends Message> {
  readonly batch: Batch<Sent>;
  readonly codes: readonly (string | undefined)[];
  /** The request was refused, not one or the other of its entries. */
  readonly isWhole: boolean;
  readonly isLate: boolean;
  readonly sentAt: number;
  /** That `onAccepted` has thrown. */
  readonly error?: { readonly cause: unknown } | undefined;
}

/** One call of `dispatch`, as far as it has come. */
interface Run<Sent extends Message> {
  /** Milliseconds since the epoch: from then on nothing is sent. */
  readonly endsAt: number;
  readonly open: Open<Sent>;
  readonly accepted: OwedEvent[];
  readonly refused: Refusal[];
  readonly underWay: Set<Promise<unknown>>;
  /** That are not looked at yet. */
  readonly answers: Answered<Sent>[];
  /** Requests in a row that failed as a whole. */
  failures: number;
  /** Why nothing more is sent. */
  stopped?: string;
  /** The first that `onAccepted` has thrown. */
  error?: { readonly cause: unknown } | undefined;
}

/**
 * Sends events in batches, several at a time, until each is accepted, refused for good, or out of
 * attempts or time.
 *
 * Of one subject, only the oldest event is ever under way: a batch can be taken in part, and batches
 * can overtake each other. So a later revision never goes out before an earlier one.
 *
 * @param messages oldest first; of one subject, in the order of its revisions
 */
export async function dispatch<Sent extends Message>(
  messages: readonly Sent[],
  send: Send<Sent>,
  context: DispatchContext,
): Promise<PublishOutcome> {
  const asNew = { attempts: 0, isUnderWay: false, until: 0, isAlone: false };
  const run: Run<Sent> = {
    endsAt: context.deadline?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    open: new Map(messages.map((message, place) => [place, { ...asNew, message }])),
    accepted: [],
    refused: [],
    underWay: new Set(),
    answers: [],
    failures: 0,
  };
  do {
    sendMore(run, send, context);
    if (run.underWay.size > 0) await Promise.race(run.underWay);
    for (const answered of run.answers.splice(0)) {
      adapt(run, answered, context);
      conclude(run, answered, context);
    }
  } while (run.underWay.size > 0 || (await isTimeForMore(run, context)));

  const { open, accepted, refused, stopped, error } = run;
  if (error !== undefined) throw error.cause;
  // What was not sent, or waits for what was refused, waits for the next tick.
  for (const { message, code = stopped ?? 'Waiting' } of open.values())
    refused.push({ owed: message.owed, code });
  return { accepted, refused, ...(stopped !== undefined && { isDown: true }) };
}

function sendMore<Sent extends Message>(
  { endsAt, open, underWay, answers, stopped }: Run<Sent>,
  send: Send<Sent>,
  context: DispatchContext,
): void {
  const { clock, pace } = context;
  while (stopped === undefined && underWay.size < pace.width) {
    const now = clock.now().epochMilliseconds;
    const batch = pace.until <= now && now < endsAt ? nextBatch(open, now) : [];
    if (batch.length === 0) return;
    for (const [place, entry] of batch) open.set(place, { ...entry, isUnderWay: true });
    const sent: Promise<unknown> = request(batch, send, context)
      .then((answered) => answers.push(answered))
      .finally(() => underWay.delete(sent));
    underWay.add(sent);
  }
}

/** Waits until something can be sent again. @returns false when nothing can in the time there is */
async function isTimeForMore<Sent extends Message>(
  run: Run<Sent>,
  context: DispatchContext,
): Promise<boolean> {
  const { clock, pace } = context;
  const waiting = run.stopped === undefined ? [...sendable(run.open)] : [];
  if (waiting.length === 0) return false;
  const now = clock.now().epochMilliseconds;
  const until = Math.max(now, pace.until, Math.min(...waiting.map(([, entry]) => entry.until)));
  if (until >= run.endsAt) run.stopped = 'OutOfTime';
  else if (until > now) await clock.sleep(until - now);
  return run.stopped === undefined;
}

/** The oldest of each subject, unless it is under way or was refused: what follows it has to wait. */
function* sendable<Sent extends Message>(
  open: Open<Sent>,
): Generator<readonly [place: number, entry: Entry<Sent>]> {
  const subjects = new Set<string>();
  for (const [place, entry] of open) {
    const { subject } = entry.message.owed.event;
    if (!subjects.has(subject) && !entry.isUnderWay && entry.code === undefined)
      yield [place, entry];
    subjects.add(subject);
  }
}

/** As many as one request takes. One that is larger by itself goes alone: SNS refuses it by name, and the others do not suffer. */
function nextBatch<Sent extends Message>(open: Open<Sent>, now: number): Batch<Sent> {
  const batch: (readonly [place: number, entry: Entry<Sent>])[] = [];
  let bytes = 0;
  for (const next of sendable(open)) {
    const [, { message, until, isAlone }] = next;
    if (until > now || (isAlone && batch.length > 0)) continue;
    bytes += message.bytes;
    if (batch.length > 0 && bytes > batchBytes) break;
    batch.push(next);
    if (isAlone || batch.length === batchEntries) break;
  }
  return batch;
}

/** Never throws: what `onAccepted` throws is for the end, when nothing is under way any more. */
async function request<Sent extends Message>(
  batch: Batch<Sent>,
  send: Send<Sent>,
  { clock, deadline, onAccepted }: DispatchContext,
): Promise<Answered<Sent>> {
  const sentAt = clock.now().epochMilliseconds;
  // The deadline leaves time for a usual answer to what is sent just before it.
  const leftMs = deadline === undefined ? 0 : Math.max(0, deadline.epochMilliseconds - sentAt);
  const messages = batch.map(([, { message }]) => message);
  const answer = await send(messages, Math.min(mostPatienceMs, leastPatienceMs + leftMs));
  const isLate = clock.now().epochMilliseconds - sentAt > lateMs;
  const isWhole = 'code' in answer;
  const codes = isWhole ? batch.map(() => answer.code) : answer.entries;
  const answered = { batch, codes, isWhole, isLate, sentAt };
  const taken = messages.filter((_, index) => codes[index] === undefined);
  try {
    if (taken.length > 0) await onAccepted?.(taken.map(({ owed }) => owed));
    return answered;
  } catch (cause) {
    return { ...answered, error: { cause } };
  }
}

/** What the request as a whole says of the topic. */
function adapt<Sent extends Message>(
  run: Run<Sent>,
  { batch, codes, isWhole, isLate, sentAt, error }: Answered<Sent>,
  { clock, random, pace }: DispatchContext,
): void {
  const [code = ''] = codes;
  run.failures = isWhole ? failuresAfter(run.failures, code) : 0;
  if (run.failures >= failuresInARow) run.stopped = code;
  if (error !== undefined) run.stopped ??= 'NotSettled';
  run.error ??= error;

  const made = Math.max(...batch.map(([, entry]) => entry.attempts));
  const isThrottled = codes.some((one) => one && refusalKind(one) === 'throttled');
  if (isLate) pace.slowDown(sentAt);
  if (isThrottled) pace.slowDown(clock.now().epochMilliseconds + backOffMs(made, random));
  else if (!isLate && !isWhole) pace.quicken();
}

/** As many as are too many where somebody has to mend something first. */
function failuresAfter(failures: number, code: string): number {
  const kind = refusalKind(code);
  if (kind === 'configuration') return failuresInARow;
  return kind === 'invalid' || kind === 'too-long' ? failures : failures + 1;
}

/** Full jitter: anything between nothing and the back-off. */
function backOffMs(made: number, random: () => number): number {
  return Math.ceil(random() * Math.min(longestBackOffMs, firstBackOffMs * 2 ** made));
}

/** What becomes of each entry. */
function conclude<Sent extends Message>(
  { open, accepted, refused }: Run<Sent>,
  { batch, codes, isWhole }: Answered<Sent>,
  { clock, random, pace }: DispatchContext,
): void {
  const now = clock.now().epochMilliseconds;
  for (const [index, [place, entry]] of batch.entries()) {
    const code = codes[index];
    if (code === undefined) {
      open.delete(place);
      accepted.push(entry.message.owed);
      pace.isTrusted = true;
    } else {
      const until = now + backOffMs(entry.attempts, random);
      const tried = { ...entry, until, attempts: entry.attempts + 1 };
      open.set(place, afterRefusal(tried, code, isWhole, batch.length));
    }
  }
  // A topic that does not exist as it is named would make every event invalid.
  for (const [place, { message, code = '', isInvalid = false }] of pace.isTrusted ? open : []) {
    if (!isInvalid) continue;
    // SNS will not take it: the next one of its subject need not wait for it.
    open.delete(place);
    refused.push({ owed: message.owed, code, forGood: true });
  }
}

function afterRefusal<Sent extends Message>(
  entry: Entry<Sent>,
  code: string,
  isWhole: boolean,
  together: number,
): Entry<Sent> {
  const kind = refusalKind(code);
  if (kind === 'invalid' || (kind === 'too-long' && isWhole))
    // By itself, each tells whether it was meant.
    return isWhole && together > 1
      ? { ...entry, isAlone: true, until: 0 }
      : { ...entry, code, isInvalid: true };
  return entry.attempts >= attempts || kind === 'configuration' ? { ...entry, code } : entry;
}

interface BatchResult {
  readonly Successful?: readonly { readonly Id?: string | undefined }[] | undefined;
  readonly Failed?:
    | readonly { readonly Id?: string | undefined; readonly Code?: string | undefined }[]
    | undefined;
}

/**
 * The answer of AWS to a batch whose entries' ids are their places in it. What is not named in `Successful` is not
 * accepted, whether or not `Failed` names it.
 */
export async function answerOf(entries: number, request: Promise<BatchResult>): Promise<Answer> {
  try {
    const { Successful = [], Failed = [] } = await request;
    const successful = new Set(Successful.map(({ Id }) => Id));
    const codes = new Map(Failed.map(({ Id, Code }) => [Id, Code]));
    const ids = Array.from({ length: entries }, (_, index) => String(index));
    return {
      entries: ids.map((id) => (successful.has(id) ? undefined : (codes.get(id) ?? 'NotAnswered'))),
    };
  } catch (error) {
    return { code: codeOf(error) };
  }
}
