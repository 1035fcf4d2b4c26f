import type { RangeRead } from '../ports/partner-reader.ts';
import type { Cursor } from '../ports/state.ts';
import type { ReadResult, ReadStep } from './worklist.ts';

/** What the partner has answered to a read. */
export interface Answered extends RangeRead {
  /** It was cut off by the pace, and not by time. */
  readonly isOutOfPace: boolean;
}

/** A read that was cut off, and cannot be gone on with, counts no day. */
export function isReadCounted(wasInVain: boolean): boolean {
  return !wasInVain;
}

/**
 * What the answer alone says of a read.
 *
 * @param isCounted whether a read that was cut off counts its days
 * @param begunAt when it began: milliseconds since the epoch
 */
export function judged(
  isCounted: typeof isReadCounted,
  step: ReadStep,
  read: Answered,
  begunAt: number,
) {
  const isFirstReading = step.purpose === 'start' || step.purpose === 'baseline';
  const mayGoOn = step.mayGoOn || (isFirstReading && read.isOutOfPace);
  /** Where the next tick goes on. */
  const next = mayGoOn ? read.bookmark : undefined;
  return {
    ...read,
    step,
    begunAt,
    next,
    isFirstReading,
    isUnproven: read.proof === undefined && !isFirstReading,
    isInParts: step.goneOnFrom !== undefined || next !== undefined,
    isInVain: !isCounted(read.isCutOff && next === undefined),
  };
}

export type Judged = Readonly<ReturnType<typeof judged>>;

export function resultOf(read: Judged, hasFailed: boolean): ReadResult {
  const { step, next, count, isFirstReading, isInParts } = read;
  if (read.isInVain) return 'in-vain';
  if (hasFailed) return 'failed';
  if (next !== undefined) return 'left';
  // Its count has changed between the first part and the last.
  if (isInParts && !isFirstReading && step.goneOnFrom?.count !== count) return 'failed';
  return read.isUnproven && !isInParts ? 'unproven' : 'done';
}

/** Where the next tick goes on. What is read again goes on as it was. */
export function cursorAfter(
  { step, next, count, isFirstReading }: Judged,
  result: ReadResult,
  cursor: Cursor | undefined,
): Cursor | undefined {
  if (result === 'in-vain' || !(step.mayGoOn || isFirstReading)) return cursor;
  if (isFirstReading) return result === 'failed' ? cursor : next;
  const [day] = step.days;
  return next && { count: step.goneOnFrom?.count ?? count, ...next, ...(day && { day }) };
}
