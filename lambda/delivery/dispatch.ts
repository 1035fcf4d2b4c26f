import type { Temporal } from 'temporal-polyfill';
import { type AwsRequest, type Denial, denialOf } from '../access-denied.ts';
import type { Clock } from '../clock.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { EventMessage } from '../events/sns-message.ts';
import type { OnAccepted, PublishOutcome, Refusal } from '../ports/announcer.ts';
import { codeOf, refusalKind } from './refusals.ts';

/** An event on its way, as AWS accepts it. */
export interface Message extends EventMessage {
  readonly owed: OwedEvent;
}

interface FailedEntry {
  readonly Id?: string | undefined;
  readonly Code?: string | undefined;
  readonly Message?: string | undefined;
}

/**
 * The id of an entry is its place in the batch. An entry that `Successful` does not name is not
 * accepted, even if `Failed` does not name it either.
 */
export interface BatchResult {
  /** Why nothing was accepted. */
  readonly code?: string;
  readonly Successful?: readonly { readonly Id?: string | undefined }[] | undefined;
  readonly Failed?: readonly FailedEntry[] | undefined;
  readonly $metadata?: { readonly requestId?: string | undefined };
}

export interface DispatchContext {
  readonly clock: Clock;
  readonly pace: TopicPace;
  /** Nothing more is sent after it. */
  readonly deadline: Temporal.Instant;
  /** Called with accepted events before anything else is sent in their place. */
  readonly onAccepted?: OnAccepted | undefined;
  /** The permission that each request needs. */
  readonly asked: AwsRequest;
  /** From 0 up to, not including, 1. */
  readonly random?: (() => number) | undefined;
}

/** The pace of a topic. It outlives a tick, as the topic's limits do. */
export class TopicPace {
  /**
   * Requests at once. One at first, since a process that dies repeats the requests in flight. Each
   * throttle or late answer halves it, and each request that goes well raises it.
   */
  width = 1;
  /** Milliseconds since the epoch: nothing is sent before then. */
  until = 0;
  /** It has accepted something, so an invalid event is the event's own fault. */
  isTrusted = false;
}

const mostWidth = 8;
/**
 * Rounds of `width` requests that go well before there is one more at once. A process that lives on
 * soon has all.
 */
const rounds = 4;

/** AWS limits of PublishBatch: entries a request, and bytes of all their bodies and attributes. */
const batchEntries = 10;
const batchBytes = 262_144;

/** For each entry; a request that fails counts for all of its entries. */
const attempts = 5;
const firstBackOffMs = 100;
/** After this many requests in a row that failed as a whole, SNS counts as down. */
const failuresInARow = 8;

/** An answer that takes longer is late: fewer requests are made beside the next. */
const lateMs = 2_000;
/**
 * Limits of the wait for an answer: as long as there is time, since an event that is sent again is
 * heard twice.
 */
const leastTimeoutMs = 5_000;
const mostTimeoutMs = 30_000;

/**
 * Rejects if nothing was accepted.
 * @param timeoutMs how long its answer may take
 */
export type Send = (batch: readonly Message[], timeoutMs: number) => Promise<BatchResult>;

/** A message that is neither accepted nor refused for good. */
interface Sending extends Message {
  attempts: number;
  /** When it may be sent, or sent again: milliseconds since the epoch. `never` while it is under way or refused. */
  until: number;
  /** A request with others was refused, and it may be this one's fault. */
  isAlone: boolean;
  /** The code of its refusal, which is final in this run. */
  code?: string;
}

const never = Number.POSITIVE_INFINITY;

/** The progress of one call of `dispatch`. */
interface Run {
  /** In the order of sending. */
  readonly open: Set<Sending>;
  readonly accepted: OwedEvent[];
  /**
   * Events that were refused as invalid. Until the topic is trusted, it may be at fault, so later
   * events of their subjects wait.
   */
  readonly invalid: Refusal[];
  /** Requests in a row that failed as a whole. */
  failures: number;
  /** Why nothing more is sent. */
  stopped?: string | undefined;
  denial?: Denial | undefined;
}

/**
 * Sends events in batches, several at a time, until each is accepted, refused for good, or out of
 * attempts or time.
 *
 * Of one subject, only the oldest event is ever under way: a batch can be accepted in part, and
 * batches can overtake each other. So a later revision never goes out before an earlier one.
 *
 * @param messages oldest first; of one subject, in the order of its revisions
 */
export async function dispatch(
  messages: readonly Message[],
  send: Send,
  context: DispatchContext,
): Promise<PublishOutcome> {
  const { clock, pace } = context;
  const endsAt = context.deadline.epochMilliseconds;
  const asNew = { attempts: 0, until: 0, isAlone: false };
  const open: Run['open'] = new Set(messages.map((message) => ({ ...message, ...asNew })));
  const run: Run = { open, accepted: [], invalid: [], failures: 0 };
  const underWay = new Map<readonly Sending[], ReturnType<typeof request>>();
  try {
    for (;;) {
      const now = clock.now().epochMilliseconds;
      const { batch, from } = nextBatch(run, pace, Math.max(now, pace.until));
      if (from <= now && now < endsAt && underWay.size < Math.floor(pace.width)) {
        underWay.set(batch, request(run, batch, send, context));
      } else if (underWay.size > 0) underWay.delete(await Promise.race(underWay.values()));
      else if (from === never) break;
      else if (from >= endsAt) run.stopped = 'OutOfTime';
      else await clock.sleep(from - now);
    }
  } finally {
    // An error of `onAccepted` is thrown once nothing is under way any more.
    await Promise.allSettled(underWay.values());
  }
  const { accepted, invalid, denial, stopped, stopped: waiting = 'Waiting' } = run;
  // A topic with a wrong name would make every event invalid.
  const refused = invalid.map((one) => ({ ...one, forGood: pace.isTrusted }));
  // Events that were not sent, or are behind refused ones, wait for the next tick.
  const left = [...open].map(({ owed, code = waiting }) => ({ owed, code }));
  return { accepted, refused: [...refused, ...left], stopped, denial };
}

/**
 * The events of the next request, and from when on it may be sent; `never` if there are none before
 * another answer. An event that is too large by itself goes alone: SNS refuses it by name, and the
 * others do not suffer.
 */
function nextBatch(run: Run, pace: TopicPace, now: number): { batch: Sending[]; from: number } {
  const oldest = oldestOf(run, pace);
  const batch: Sending[] = [];
  let bytes = 0;
  for (const one of oldest.filter(({ until }) => until <= now)) {
    if (one.isAlone && batch.length > 0) continue;
    bytes += one.bytes;
    if (batch.length > 0 && bytes > batchBytes) break;
    batch.push(one);
    if (one.isAlone || batch.length === batchEntries) break;
  }
  return { batch, from: Math.max(now, Math.min(...oldest.map(({ until }) => until))) };
}

/** The oldest event of each subject that is not blocked. */
function oldestOf({ open, invalid, stopped }: Run, { isTrusted }: TopicPace): readonly Sending[] {
  if (stopped !== undefined) return [];
  const bySubject = Map.groupBy(open, ({ owed }) => owed.event.subject);
  if (!isTrusted) for (const { owed } of invalid) bySubject.delete(owed.event.subject);
  return [...bySubject.values()].flatMap(([first = []]) => first);
}

/**
 * @returns the batch
 * @throws the error of `onAccepted`
 */
async function request(
  run: Run,
  batch: readonly Sending[],
  send: Send,
  context: DispatchContext,
): Promise<readonly Sending[]> {
  const { clock, pace, deadline, onAccepted, asked } = context;
  for (const one of batch) one.until = never;
  const sentAt = clock.now().epochMilliseconds;
  // The deadline leaves time for a usual answer to a request that is sent just before it.
  const leftMs = Math.max(0, deadline.epochMilliseconds - sentAt);
  const timeoutMs = Math.min(mostTimeoutMs, leastTimeoutMs + leftMs);
  const noteDenial = (error: unknown) => {
    run.denial ??= denialOf(error, asked);
  };
  const refusal = (error: unknown): BatchResult => {
    noteDenial(error);
    return { code: codeOf(error) };
  };
  const answer = await send(batch, timeoutMs).catch(refusal);
  const { Failed = [], $metadata } = answer;
  for (const { Code: name, Message: message } of Failed) noteDenial({ name, message, $metadata });
  const isLate = clock.now().epochMilliseconds - sentAt > lateMs;
  const refused = refusedOf(batch, answer);
  const accepted = batch.filter((one) => !refused.has(one));
  if (accepted.length > 0) {
    await onAccepted?.(accepted.map(({ owed }) => owed));
    pace.isTrusted = true;
  }
  for (const one of accepted) {
    run.accepted.push(one.owed);
    run.open.delete(one);
  }
  if (isLate) pace.width = Math.max(1, pace.width / 2);
  else if (refused.size === 0)
    pace.width = Math.min(mostWidth, pace.width + 1 / (rounds * Math.floor(pace.width)));
  if (refused.size === 0) run.failures = 0;
  else noteRefusals(run, refused, answer.code !== undefined, context);
  return batch;
}

/** The events that were not accepted, with the codes of their refusals. */
function refusedOf(
  batch: readonly Sending[],
  { Successful = [], Failed = [], code = 'NotAnswered' }: BatchResult,
): Refused {
  const successful = new Set(Successful.map(({ Id }) => Id));
  const codes = new Map(Failed.map(({ Id, Code }) => [Id, Code]));
  const refused = [...batch.entries()].filter(([place]) => !successful.has(String(place)));
  return new Map(refused.map(([place, one]) => [one, codes.get(String(place)) ?? code]));
}

type Refused = ReadonlyMap<Sending, string>;

/** @param isWhole the whole request was refused, not only some of its entries */
function noteRefusals(
  run: Run,
  refused: Refused,
  isWhole: boolean,
  { clock, random = Math.random, pace }: DispatchContext,
): void {
  const [code] = refused.values();
  const kinds = new Set([...refused.values()].map(refusalKind));
  // Ops must mend a configuration first. An invalid event says nothing about the topic.
  if (!isWhole) run.failures = 0;
  else if (!kinds.has('invalid')) run.failures += 1;
  const isDown = run.failures >= failuresInARow || (isWhole && kinds.has('configuration'));
  if (isDown) run.stopped = code;
  if (kinds.has('throttled')) pace.width = Math.max(1, pace.width / 2);
  for (const [one, code] of refused) {
    // Full jitter: any time between zero and the back-off.
    const waitMs = Math.ceil(random() * firstBackOffMs * 2 ** one.attempts);
    one.until = clock.now().epochMilliseconds + waitMs;
    one.attempts += 1;
    if (kinds.has('throttled')) pace.until = Math.max(pace.until, one.until);
    noteRefusal(run, one, code, isWhole && refused.size > 1);
  }
}

function noteRefusal(run: Run, one: Sending, code: string, isAmongOthers: boolean): void {
  const kind = refusalKind(code);
  if (kind === 'invalid' && isAmongOthers) {
    // Sent alone, each shows whether it was at fault.
    one.isAlone = true;
    one.until = 0;
  } else if (kind === 'invalid') {
    run.invalid.push({ owed: one.owed, code });
    run.open.delete(one);
  } else if (kind === 'configuration' || one.attempts >= attempts) {
    one.code = code;
    one.until = never;
  }
}
