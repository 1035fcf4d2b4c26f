import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { Observations } from './conditions.ts';
import { instant } from './days.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * No refusal makes the pace slower: a transient one in a quiet minute says little about the host's
 * limit.
 */
const leastLearned = 4;
/** From the third minute without a refusal, each minute raises the learned pace by half. */
const minutesUnraised = 2;
const raisedBy = 1.5;
/** Ops are told after this time without any answer but refusals for pace. */
const toldAfterMs = 15 * minuteMs;

/**
 * The wait after the first refusal that only people can mend; each further one in a row doubles it.
 */
const firstBackOffMinutes = 2;
const longestBackOffMinutes = 60;

/** The memory of the requests to one host. All times are milliseconds since the epoch. */
export const paceKnown = z.readonly(
  z.object({
    /** When the counted minute began: with its first request. */
    since: z.number(),
    /** Requests of that minute that were not refused for their pace. */
    sent: z.int(),
    /** Since when it has answered with nothing but refusals for pace. */
    refusedSince: z.exactOptional(z.number()),
    /** When the last tokens that had worked were refused before their end (tokens.ts). */
    tokensEnded: z.exactOptional(z.readonly(z.array(z.number()))),
    /** When a number of the host was last not believed, by name (host-numbers.ts). */
    odd: z.exactOptional(z.readonly(z.record(z.string(), z.number()))),
    /** The last refusal for pace that stood when the request was repeated. */
    refusal: z.exactOptional(
      z.readonly(
        z.object({
          at: z.number(),
          /** Nothing is sent before then. */
          until: z.number(),
          /** Requests of its minute that the host answered. */
          answered: z.int(),
          /** Requests a minute, as learned from refusals; absent: as set. */
          learned: z.exactOptional(z.int()),
        }),
      ),
    ),
  }),
);

export type Pace = z.output<typeof paceKnown>;
type Refusal = NonNullable<Pace['refusal']>;

/** The pace of the requests to one host. */
export interface RequestPace {
  /** Requests a minute, at most. */
  readonly perMinute: number;
  /**
   * Each request replaces it. A tick begins with the value that the last one saved, and saves it at
   * its end.
   */
  value: Pace;
}

export const unhurried: Pace = { since: 0, sent: 0 };

/** Milliseconds since the host could be asked again after its last refusal; below 0: not yet. */
const calmMs = ({ at, until }: Refusal, now: number) => now - Math.max(at, until);

/** Requests a minute that are allowed now: as set, or as learned and raised since. */
export function allowedAt({ refusal }: Pace, set: number, now: number): number {
  if (refusal?.learned === undefined) return set;
  const raises = Math.floor(calmMs(refusal, now) / minuteMs) - minutesUnraised + 1;
  return Math.min(set, Math.ceil(refusal.learned * raisedBy ** Math.max(0, raises)));
}

/**
 * Requests a minute that the host is known to answer. Audits are planned by these for a day, so that
 * they are not refused each time because the pace was raised meanwhile.
 */
export function knownPace({ value: { refusal }, perMinute }: RequestPace): number {
  return Math.min(perMinute, refusal?.learned ?? perMinute);
}

/**
 * The pace as it is now, and when it has room for a request: now, or later. A minute that is over,
 * or has no request yet, begins now. A refusal is forgotten after a day; one that lies an hour ahead
 * is another clock's. A clock that was set back begins a minute.
 *
 * @param set requests a minute, at most
 */
export function paceAt({ refusal: last, ...rest }: Pace, set: number, now: number) {
  const { since, sent } = rest;
  const isOver = sent === 0 || now < since || now - since >= minuteMs;
  const calm = last ? calmMs(last, now) : dayMs;
  const refusal = calm >= -hourMs && calm < dayMs ? last : undefined;
  const pace: Pace = {
    ...rest,
    ...(isOver && { since: now, sent: 0 }),
    ...(refusal && { refusal }),
  };
  const isSpent = pace.sent >= allowedAt(pace, set, now);
  const opensAt = Math.max(now, refusal?.until ?? now, isSpent ? pace.since + minuteMs : now);
  return { pace, opensAt };
}

/**
 * Notes the host's answer. A request refused for its pace counts as not sent, and may be sent
 * again.
 */
export function answered({ refusedSince, ...pace }: Pace, status: number, now: number): Pace {
  if (status !== 429) return pace;
  return { ...pace, sent: Math.max(0, pace.sent - 1), refusedSince: refusedSince ?? now };
}

/**
 * Notes that the host goes on refusing: the minute has no more room than was used.
 *
 * A burst of refusals is no limit, so the pace falls only if one of the two minutes before ended so,
 * too (its answers are those of a whole minute), or if a limit is known already. A refusal of a
 * request that was sent before the last refusal was heard teaches nothing more.
 *
 * @param retryAfterMs how long the host asks for silence, if it does; an hour at most
 */
export function refused(before: Pace, set: number, now: number, retryAfterMs?: number): Pace {
  const { pace } = paceAt(before, set, now);
  const { sent: answered, refusal: last } = pace;
  const until =
    retryAfterMs === undefined ? pace.since + minuteMs : now + Math.min(retryAfterMs, hourMs);
  if (last !== undefined && last.until > now)
    return { ...pace, refusal: { ...last, until: Math.max(last.until, until) } };
  const allowed = allowedAt(pace, set, now);
  const { learned: known, answered: earlier = 0 } = last ?? {};
  const isRepeated = last !== undefined && calmMs(last, now) < minutesUnraised * minuteMs;
  // The host's minutes begin at other times than ours, so an early refusal halves the pace at most.
  const least = known === undefined ? earlier : Math.min(known, Math.floor(allowed / 2));
  const learned = Math.min(allowed, Math.max(leastLearned, least, answered));
  const isLimit = isRepeated || known !== undefined;
  return { ...pace, refusal: { at: now, until, answered, ...(isLimit && { learned }) } };
}

/**
 * The memory for the next tick; `undefined`: there is none. A minute of which less than half is
 * spent does not matter to it, so a quiet tick writes nothing.
 */
export function remembered(before: Pace, set: number, now: number): Pace | undefined {
  const { pace } = paceAt(before, set, now);
  if (2 * pace.sent > allowedAt(pace, set, now)) return pace;
  const { since: _, sent: __, ...known } = pace;
  return Object.keys(known).length === 0 ? undefined : { ...known, ...unhurried };
}

/**
 * Ops are told that the host allows less than is wanted in two cases: the learned pace is used up,
 * or the host has answered with nothing but refusals for 15 minutes. A tick that cannot tell
 * observes nothing; it is over an hour after the last refusal that showed a limit.
 */
export function paceSeen({ value, perMinute }: RequestPace, nowMs: number): Observations {
  const { pace } = paceAt(value, perMinute, nowMs);
  const { sent, since, refusal, refusedSince } = pace;
  const { learned = perMinute, at = nowMs } = refusal ?? {};
  const isSlowed = allowedAt(pace, perMinute, nowMs) < perMinute;
  const isUsedUp = isSlowed && sent >= learned && at < since;
  const isSlow = isUsedUp || nowMs - (refusedSince ?? nowMs) >= toldAfterMs;
  // A burst that is no limit does not make the condition last.
  const isRecent = refusal?.learned !== undefined && calmMs(refusal, nowMs) < hourMs;
  if (!isSlow && (isRecent || refusedSince !== undefined)) return {};
  const details = learned === perMinute ? [] : [`Answered within a minute: ${learned}`];
  return { 'rate-limited': { number: isSlow ? 1 : 0, details } };
}

/** Requests that this minute has room for. */
export function requestsLeft({ value, perMinute }: RequestPace, nowMs: number): number {
  const { pace } = paceAt(value, perMinute, nowMs);
  return Math.max(0, allowedAt(pace, perMinute, nowMs) - pace.sent);
}

/** The back-off after this many refusals in a row that no retry mends. */
export const backOff = z.readonly(z.object({ until: instant, failures: z.number() }));

type BackOff = z.output<typeof backOff>;

export function isBackingOff(
  { backOff }: { readonly backOff?: BackOff | undefined },
  now: Temporal.Instant,
): boolean {
  return backOff !== undefined && Temporal.Instant.compare(now, backOff.until) < 0;
}

/** The back-off after one more refusal that only people can mend. */
export function backOffAfter(before: BackOff | undefined, now: Temporal.Instant): BackOff {
  const failures = (before?.failures ?? 0) + 1;
  const minutes = Math.min(firstBackOffMinutes * 2 ** (failures - 1), longestBackOffMinutes);
  return { until: now.add({ minutes }), failures };
}
