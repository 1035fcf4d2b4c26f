import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import type { EventMessage } from '../events/message.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { OnAccepted, PublishOutcome, Refusal } from '../ports/announcer.ts';
import { fifoIds } from './fifo-ids.ts';
import { codeOf, refusalKind } from './refusals.ts';

/** An event on its way, as AWS takes it. */
export interface Message extends EventMessage {
  readonly owed: OwedEvent;
}

/** What an entry of a batch has for SNS as for SQS, besides its body. Its id is its place in the batch. */
export function entryOf({ owed, attributes }: Message, place: number, arn: string) {
  const ids = arn.endsWith('.fifo') && fifoIds(owed.event);
  return { Id: String(place), MessageAttributes: attributes, ...ids };
}

/** What is not named in `Successful` is not accepted, whether or not `Failed` names it. */
export interface BatchResult {
  readonly Successful?: readonly { readonly Id?: string | undefined }[] | undefined;
  readonly Failed?:
    | readonly { readonly Id?: string | undefined; readonly Code?: string | undefined }[]
    | undefined;
}

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

/** Rejects when nothing was taken. @param patienceMs how long its answer may take */
type Send = (batch: readonly Message[], patienceMs: number) => Promise<BatchResult>;

/** The messages of a subject that are neither accepted nor refused for good, and how it stands with the oldest. */
interface Lane {
  readonly oldest: Message;
  readonly later: readonly Message[];
  attempts: number;
  /** When the oldest may be sent, or sent again: milliseconds since the epoch. `never` while it is under way or refused. */
  until: number;
  /** A request with others was refused, and it may be this one's fault. */
  isAlone: boolean;
  /** The code of its refusal, which is final in this run. */
  code?: string;
  /** Invalid by itself, if it is not the topic that is. */
  isInvalid?: boolean;
}

const never = Number.POSITIVE_INFINITY;
const asNew = { attempts: 0, until: 0, isAlone: false };

interface Answered {
  readonly batch: readonly Lane[];
  /** What became of each, in their order. `undefined`: accepted. Else the code of the refusal. */
  readonly codes: readonly (string | undefined)[];
  /** The request was refused, not one or the other of its entries. */
  readonly isWhole: boolean;
  readonly isLate: boolean;
  readonly sentAt: number;
  /** That `onAccepted` has thrown. */
  readonly error?: unknown;
}

/** One call of `dispatch`, as far as it has come. */
interface Run {
  /** By their subjects. */
  readonly open: Map<string, Lane>;
  readonly accepted: OwedEvent[];
  readonly refused: Refusal[];
  /** Requests in a row that failed as a whole. */
  failures: number;
  /** Why nothing more is sent. */
  stopped?: string;
  /** The first that `onAccepted` has thrown. */
  error?: unknown;
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
export async function dispatch(
  messages: readonly Message[],
  send: Send,
  context: DispatchContext,
): Promise<PublishOutcome> {
  const run: Run = { open: new Map(), accepted: [], refused: [], failures: 0 };
  for (const [subject, all] of Map.groupBy(messages, ({ owed }) => owed.event.subject))
    queue(run.open, subject, all);
  await sendAll(run, send, context);
  const { open, accepted, refused, stopped, error } = run;
  if (error !== undefined) throw error;
  // What was not sent, or waits for what was refused, waits for the next tick.
  const waiting = stopped ?? 'Waiting';
  const left = [...open.values()].flatMap(({ oldest, later, code = waiting }) => [
    { owed: oldest.owed, code },
    ...later.map(({ owed }) => ({ owed, code: waiting })),
  ]);
  const isDown = stopped !== undefined && ({ isDown: true } as const);
  return { accepted, refused: [...refused, ...left], ...isDown };
}

/** Until nothing is under way, and nothing can be sent in the time there is. */
async function sendAll(run: Run, send: Send, context: DispatchContext): Promise<void> {
  const { clock, pace, deadline } = context;
  const endsAt = deadline?.epochMilliseconds ?? never;
  const underWay = new Map<Answered['batch'], Promise<Answered>>();
  for (;;) {
    const now = clock.now().epochMilliseconds;
    const { batch, from } = nextBatch(run, Math.max(now, pace.until));
    if (from <= now && now < endsAt && underWay.size < pace.width)
      underWay.set(batch, request(batch, send, context));
    else if (underWay.size > 0) {
      const answered = await Promise.race(underWay.values());
      underWay.delete(answered.batch);
      adapt(run, answered, context);
      conclude(run, answered, context);
    } else if (from === never) return;
    else if (from >= endsAt) run.stopped = 'OutOfTime';
    else await clock.sleep(from - now);
  }
}

/**
 * As many as one request takes, and from when on it may be made; never, before another answer, if there are none.
 * One that is larger by itself goes alone: SNS refuses it by name, and the others do not suffer.
 */
function nextBatch({ open, stopped }: Run, now: number): { batch: Lane[]; from: number } {
  const batch: Lane[] = [];
  let bytes = 0;
  let from = never;
  if (stopped !== undefined) return { batch, from };
  for (const lane of open.values()) {
    from = Math.min(from, Math.max(lane.until, now));
    if (lane.until > now || (lane.isAlone && batch.length > 0)) continue;
    bytes += lane.oldest.bytes;
    if (batch.length > 0 && bytes > batchBytes) break;
    batch.push(lane);
    if (lane.isAlone || batch.length === batchEntries) break;
  }
  return { batch, from };
}

/** Never throws: what `onAccepted` throws is for the end, when nothing is under way any more. */
async function request(
  batch: readonly Lane[],
  send: Send,
  { clock, deadline, onAccepted }: DispatchContext,
): Promise<Answered> {
  for (const lane of batch) lane.until = never;
  const sentAt = clock.now().epochMilliseconds;
  // The deadline leaves time for a usual answer to what is sent just before it.
  const leftMs = deadline === undefined ? 0 : Math.max(0, deadline.epochMilliseconds - sentAt);
  const messages = batch.map(({ oldest }) => oldest);
  const patienceMs = Math.min(mostPatienceMs, leastPatienceMs + leftMs);
  const answer = await send(messages, patienceMs).catch(codeOf);
  const isLate = clock.now().epochMilliseconds - sentAt > lateMs;
  const isWhole = typeof answer === 'string';
  const { Successful = [], Failed = [] } = isWhole ? {} : answer;
  const successful = new Set(Successful.map(({ Id }) => Id));
  const failed = new Map(Failed.map(({ Id, Code }) => [Id, Code]));
  const codes = batch.map((_, place) => {
    if (isWhole) return answer;
    const Id = String(place);
    return successful.has(Id) ? undefined : (failed.get(Id) ?? 'NotAnswered');
  });
  const taken = messages.filter((_, place) => codes[place] === undefined);
  const answered = { batch, codes, isWhole, isLate, sentAt };
  try {
    if (taken.length > 0) await onAccepted?.(taken.map(({ owed }) => owed));
    return answered;
  } catch (error) {
    return { ...answered, error };
  }
}

/** What the request as a whole says of the topic. */
function adapt(
  run: Run,
  { batch, codes, isWhole, isLate, sentAt, error }: Answered,
  { clock, random, pace }: DispatchContext,
): void {
  const [code = ''] = codes;
  run.failures = isWhole ? failuresAfter(run.failures, code) : 0;
  if (run.failures >= failuresInARow) run.stopped = code;
  if (error !== undefined) run.stopped ??= 'NotSettled';
  run.error ??= error;

  const made = Math.max(...batch.map(({ attempts }) => attempts));
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

/** What becomes of each message. */
function conclude(
  { open, accepted, refused }: Run,
  { batch, codes, isWhole }: Answered,
  { clock, random, pace }: DispatchContext,
): void {
  for (const [place, lane] of batch.entries()) {
    const code = codes[place];
    if (code === undefined) {
      accepted.push(lane.oldest.owed);
      pace.isTrusted = true;
      queue(open, lane.oldest.owed.event.subject, lane.later);
    } else {
      lane.until = clock.now().epochMilliseconds + backOffMs(lane.attempts, random);
      lane.attempts += 1;
      noteRefusal(lane, code, isWhole, batch.length);
    }
  }
  // A topic that does not exist as it is named would make every event invalid.
  const known = pace.isTrusted ? open : [];
  for (const [subject, { oldest, later, code = '', isInvalid = false }] of known) {
    if (!isInvalid) continue;
    // SNS will not take it: the next one of its subject need not wait for it.
    refused.push({ owed: oldest.owed, code, forGood: true });
    queue(open, subject, later);
  }
}

/** @param messages those that are left of a subject */
function queue(open: Run['open'], subject: string, [oldest, ...later]: readonly Message[]): void {
  if (oldest === undefined) open.delete(subject);
  else open.set(subject, { ...asNew, oldest, later });
}

function noteRefusal(lane: Lane, code: string, isWhole: boolean, together: number): void {
  const kind = refusalKind(code);
  const isInvalid = kind === 'invalid' || (kind === 'too-long' && isWhole);
  if (isInvalid && isWhole && together > 1) {
    // By itself, each tells whether it was meant.
    lane.isAlone = true;
    lane.until = 0;
  } else if (isInvalid || kind === 'configuration' || lane.attempts >= attempts) {
    lane.code = code;
    lane.until = never;
    lane.isInvalid = isInvalid;
  }
}
