import { Temporal } from 'temporal-polyfill';
import type { Lease } from '../decisions/state.ts';
import { isCutOff } from '../partner/errors.ts';

/** The reserve for the end of the tick, until a batch has been measured. */
const leastReserveMs = 10_000;
/** The next piece of work may take longer than the longest so far. */
const reserveFactor = 2;
/**
 * The share of the remaining time that one read may take; the rest is for committing its findings.
 */
const readingShare = 0.6;
/** A lease slightly outlives its invocation, so that two ticks never hold it at once. */
const leaseSlackSeconds = 5;

/**
 * Says when an invocation must stop at the next boundary, so that it ends before it is killed.
 *
 * Between two boundaries lie the commit and delivery of one batch, which take longer on some days
 * than on others. So the longest one of a tick is measured, and twice as much time is reserved.
 */
export interface Time {
  readonly killedAt: Temporal.Instant;
  readonly reserveMs: number;
  /** Work was left undone because of the limit. It stays so, since the reserve only grows. */
  readonly isCutShort: boolean;
}

export function timeUntil(killedAt: Temporal.Instant): Time {
  return { killedAt, reserveMs: leastReserveMs, isCutShort: false };
}

/** @param owner unique: the invocation's id */
export function leaseOf(owner: string, { killedAt }: Time): Lease {
  return { owner, until: killedAt.add({ seconds: leaseSlackSeconds }) };
}

/** After this time nothing more is begun. */
export function deadlineOf({ killedAt, reserveMs }: Time): Temporal.Instant {
  return killedAt.subtract({ milliseconds: reserveMs });
}

/** A read that begins now should end by this time. */
export function readingDeadline(time: Time, now: Temporal.Instant): Temporal.Instant {
  const left = Math.max(0, now.until(deadlineOf(time)).total('milliseconds'));
  return now.add({ milliseconds: Math.floor(left * readingShare) });
}

export function isOver(time: Time, now: Temporal.Instant): boolean {
  return time.isCutShort || Temporal.Instant.compare(now, deadlineOf(time)) >= 0;
}

/** At a place where the tick can stop. */
export function atBoundary(time: Time, now: Temporal.Instant): Time {
  return isOver(time, now) ? { ...time, isCutShort: true } : time;
}

/** @param ms the time of a batch, between two boundaries */
export function reserving(time: Time, ms: number): Time {
  return { ...time, reserveMs: Math.max(time.reserveMs, Math.ceil(ms * reserveFactor)) };
}

/**
 * @returns 'out-of-time' if our deadline or the pace cuts the question off: nobody has failed, and
 * the next tick asks again
 */
export async function ask<Answer>(
  time: Time,
  question: (deadline: Temporal.Instant) => Promise<Answer>,
): Promise<Answer | 'out-of-time'> {
  try {
    return await question(deadlineOf(time));
  } catch (error) {
    if (isCutOff(error)) return 'out-of-time';
    throw error;
  }
}
