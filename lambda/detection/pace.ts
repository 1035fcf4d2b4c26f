import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { State } from '../ports/state.ts';
import type { Observations } from './conditions.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * No refusal makes the pace slower: a transient one in a quiet minute says little about the host's
 * limit.
 */
const leastLearned = 4;
/** How long after a refusal a used-up pace is raised. */
const raisedAfterMs = 10 * minuteMs;
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
    /** Requests a minute, as learned from refusals; absent: as set. */
    learned: z.exactOptional(z.int()),
    /** When the host last refused a request for pace, even after it was repeated. */
    refusedAt: z.exactOptional(z.number()),
    /** Since when it has answered with nothing but refusals for pace. */
    refusedSince: z.exactOptional(z.number()),
    /** Nothing is sent before then. */
    closedUntil: z.exactOptional(z.number()),
  }),
);

export type Pace = z.output<typeof paceKnown>;

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

/**
 * The pace as it is now, and when it has room for a request: now, or later. A minute that is over,
 * or has no request yet, begins now. A refusal is forgotten after a day. A minute that was used up
 * without a refusal raises the learned pace. A clock that was set back begins a new minute.
 *
 * @param set requests a minute, at most
 */
export function paceAt(before: Pace, set: number, now: number) {
  const { learned = set, refusedAt = now, closedUntil = now, ...rest } = before;
  const { since, sent } = before;
  const isOver = sent === 0 || now < since || now - since >= minuteMs;
  const refusedMs = now - refusedAt;
  const isRaised = isOver && sent >= learned && refusedAt < since && refusedMs >= raisedAfterMs;
  const allowed = isRaised ? Math.ceil(learned * raisedBy) : learned;
  const isLearned = refusedMs >= 0 && refusedMs < dayMs && allowed < set;
  const isClosed = closedUntil > now && closedUntil - now <= hourMs;
  const pace: Pace = {
    ...rest,
    ...(isOver && { since: now, sent: 0 }),
    ...(isLearned && { learned: allowed, refusedAt }),
    ...(isClosed && { closedUntil }),
  };
  const isSpent = pace.sent >= (isLearned ? allowed : set);
  const opensAt = Math.max(isClosed ? closedUntil : now, isSpent ? pace.since + minuteMs : now);
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
 * @param retryAfterMs how long the host asks for silence, if it does; an hour at most
 */
export function refused(before: Pace, set: number, now: number, retryAfterMs?: number): Pace {
  const { pace } = paceAt(before, set, now);
  // The host's minutes begin at other times than ours, so an early refusal halves the pace at most.
  const least = Math.max(leastLearned, Math.floor((pace.learned ?? 0) / 2));
  const learned = Math.min(pace.learned ?? set, Math.max(least, pace.sent));
  const closedUntil =
    retryAfterMs === undefined ? pace.since + minuteMs : now + Math.min(retryAfterMs, hourMs);
  return { ...pace, learned, refusedAt: now, closedUntil };
}

/**
 * The memory for the next tick; `undefined`: there is none. A minute of which less than half is
 * spent does not matter to it, so a quiet tick writes nothing.
 */
export function remembered(before: Pace, set: number, now: number): Pace | undefined {
  const { pace } = paceAt(before, set, now);
  const { learned, refusedSince, closedUntil } = pace;
  if (2 * pace.sent > (learned ?? set)) return pace;
  const isEmpty = (learned ?? refusedSince ?? closedUntil) === undefined;
  return isEmpty ? undefined : { ...pace, ...unhurried };
}

/**
 * Ops are told that the host allows less than is wanted in two cases: the pace learned within the
 * hour is used up, or the host has answered with nothing but refusals for 15 minutes. A tick that
 * cannot tell observes nothing.
 */
export function paceSeen({ value, perMinute }: RequestPace, nowMs: number): Observations {
  const {
    learned,
    sent,
    since,
    refusedAt = nowMs,
    refusedSince,
  } = paceAt(value, perMinute, nowMs).pace;
  const taught = nowMs - refusedAt < hourMs ? learned : undefined;
  const isUsedUp = taught !== undefined && sent >= taught && refusedAt < since;
  const isSlow = isUsedUp || nowMs - (refusedSince ?? nowMs) >= toldAfterMs;
  if (!isSlow && (taught ?? refusedSince) !== undefined) return {};
  const details = learned === undefined ? [] : [`Answered within a minute: ${learned}`];
  return { 'rate-limited': { number: isSlow ? 1 : 0, details } };
}

/** Requests that this minute has room for. */
export function requestsLeft({ value, perMinute }: RequestPace, nowMs: number): number {
  const { pace } = paceAt(value, perMinute, nowMs);
  return Math.max(0, (pace.learned ?? perMinute) - pace.sent);
}

export function isBackingOff({ backOff }: Pick<State, 'backOff'>, now: Temporal.Instant): boolean {
  return backOff !== undefined && Temporal.Instant.compare(now, backOff.until) < 0;
}

/** The back-off after one more refusal that only people can mend. */
export function backOffAfter(
  before: State['backOff'],
  now: Temporal.Instant,
): NonNullable<State['backOff']> {
  const failures = (before?.failures ?? 0) + 1;
  const minutes = Math.min(firstBackOffMinutes * 2 ** (failures - 1), longestBackOffMinutes);
  return { until: now.add({ minutes }), failures };
}
