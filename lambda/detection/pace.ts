import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { State } from '../ports/state.ts';
import type { Observations } from './conditions.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** No refusal makes the pace slower: a transient one, on a quiet minute, says little of what the host allows. */
const leastLearned = 4;
/** So long after a refusal, a pace that is used up is raised. */
const raisedAfterMs = 10 * minuteMs;
const raisedBy = 1.5;
/** So long without any other answer than a refusal for pace, and people are told. */
const toldAfterMs = 15 * minuteMs;

/** So long the partner is left alone after the first refusal that only people can mend; each in a row doubles it. */
const firstBackOffMinutes = 2;
const longestBackOffMinutes = 60;

/** What is remembered of the requests to one host. All times are milliseconds since the epoch. */
export const paceKnown = z.readonly(
  z.object({
    /** When the minute began that is counted: with its first request. */
    since: z.number(),
    /** Requests of that minute that were not refused for their pace. */
    sent: z.int(),
    /** Requests a minute, as refusals have taught; absent: as many as are set. */
    learned: z.exactOptional(z.int()),
    /** When the host last refused for pace, however often it was asked. */
    refusedAt: z.exactOptional(z.number()),
    /** Since when it has answered nothing else. */
    refusedSince: z.exactOptional(z.number()),
    /** Before that, nothing is sent. */
    closedUntil: z.exactOptional(z.number()),
  }),
);

export type Pace = z.output<typeof paceKnown>;

/** Of the requests to one host. */
export interface RequestPace {
  /** Requests a minute, at most: as set, or the share of a task. */
  perMinute: number;
  /** Each request leaves another one. A tick begins with what the last one has kept, and keeps it at its end. */
  value: Pace;
}

export const unhurried: Pace = { since: 0, sent: 0 };

/**
 * The pace as it is now, and when it has room for a request: now, or later. A minute that is over, or has no request
 * yet, begins now. A refusal is forgotten after a day, and a minute that was used up without one raises what was
 * learned. A clock that was set back begins anew.
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

/** The host has answered a request; refused for its pace, it counts as not sent, and may be sent again. */
export function answered({ refusedSince, ...pace }: Pace, status: number, now: number): Pace {
  if (status !== 429) return pace;
  return { ...pace, sent: Math.max(0, pace.sent - 1), refusedSince: refusedSince ?? now };
}

/**
 * The host goes on refusing: the minute has no more than what was sent.
 *
 * @param retryAfterMs how long it wants to be left alone, if it says so: an hour at most
 */
export function refused(before: Pace, set: number, now: number, retryAfterMs?: number): Pace {
  const { pace } = paceAt(before, set, now);
  // The minutes of the host begin at other times than ours: one that is refused early halves the pace at most.
  const least = Math.max(leastLearned, Math.floor((pace.learned ?? 0) / 2));
  const learned = Math.min(pace.learned ?? set, Math.max(least, pace.sent));
  const closedUntil =
    retryAfterMs === undefined ? pace.since + minuteMs : now + Math.min(retryAfterMs, hourMs);
  return { ...pace, learned, refusedAt: now, closedUntil };
}

/**
 * What the next tick has to know, `undefined` if nothing. A minute of which less than half is spent does not
 * matter to it: a quiet tick writes nothing.
 */
export function remembered(before: Pace, set: number, now: number): Pace | undefined {
  const { pace } = paceAt(before, set, now);
  const { learned, refusedSince, closedUntil } = pace;
  if (2 * pace.sent > (learned ?? set)) return pace;
  const isEmpty = (learned ?? refusedSince ?? closedUntil) === undefined;
  return isEmpty ? undefined : { ...pace, ...unhurried };
}

/**
 * Whether operations are to be told that the host allows less than is wanted: the pace that it taught was used up
 * within the hour, or it has answered nothing but refusals for a quarter of an hour. It may be that this tick cannot tell.
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

/** What each of so many at once may ask for, the ticks beside them counted as one more. */
export function shareOf(perMinute: number, atOnce: number): number {
  return Math.max(1, Math.floor(perMinute / (atOnce + 1)));
}

/** Whether the partner is still to be left alone. */
export function isBackingOff({ backOff }: Pick<State, 'backOff'>, now: Temporal.Instant): boolean {
  return backOff !== undefined && Temporal.Instant.compare(now, backOff.until) < 0;
}

/** After one more refusal that only people can mend. */
export function backOffAfter(
  before: State['backOff'],
  now: Temporal.Instant,
): NonNullable<State['backOff']> {
  const failures = (before?.failures ?? 0) + 1;
  const minutes = Math.min(firstBackOffMinutes * 2 ** (failures - 1), longestBackOffMinutes);
  return { until: now.add({ minutes }), failures };
}
