import type { Cursor } from './days.ts';
import type { RangeRead } from './partner-reads.ts';
import type { ReadResult, ReadStep } from './worklist.ts';

export interface Answered extends RangeRead {
  /** The pace cut it off, not time. */
  readonly isOutOfPace: boolean;
}

/** Facts about a read: the ids that it showed, and the host's counts. */
export interface Shown {
  /** A chain of pages came to its end, each of them one answer, and none had an id twice. */
  readonly isChained: boolean;
  readonly ids: number;
  /** Places of the list that earlier parts of this read have shown. */
  readonly from: number;
  /** The host's count on the first page; absent: an earlier part contradicted itself. */
  readonly first: number | undefined;
  /** The same on the last page. */
  readonly last: number;
}

/**
 * Whether a read that came to its end has read its range. If not, its answers contradict each
 * other. A wrong answer that is consistent cannot be told from the truth.
 */
export function hasRead({ isChained, ids, from, first, last }: Shown): boolean {
  return isChained || (first === last && ids === last - from);
}

/**
 * The facts about a read that follow from its answer alone.
 *
 * @param begunAt when it began: milliseconds since the epoch
 */
export function judged(step: ReadStep, read: Answered, begunAt: number) {
  const isFirstReading = step.purpose === 'start' || step.purpose === 'baseline';
  const mayGoOn = step.mayGoOn || (isFirstReading && read.isOutOfPace);
  /** Where the next tick resumes. */
  const next = mayGoOn ? read.bookmark : undefined;
  // With all of a tick's time, its answers lead nowhere: they contradict each other.
  const isStuck = isFirstReading && step.mayGoOn && !step.goneOnFrom && read.requests > 0;
  return {
    ...read,
    step,
    begunAt,
    next,
    isFirstReading,
    isUnproven: isFirstReading ? !read.isRead : read.proof === undefined,
    isInParts: step.goneOnFrom !== undefined || next !== undefined,
    /** Cut off, and it cannot be resumed: it counts no day. */
    isInVain: read.isCutOff && next === undefined && !isStuck,
  };
}

export type Judged = Readonly<ReturnType<typeof judged>>;

export function resultOf(read: Judged, hasFailed: boolean): ReadResult {
  const { step, next, count, isFirstReading, isInParts } = read;
  if (read.isInVain) return 'in-vain';
  if (hasFailed) return 'failed';
  if (next !== undefined) return 'left';
  // Its count has changed between the first tick and the last.
  if (isInParts && !isFirstReading && step.goneOnFrom?.count !== count) return 'failed';
  return read.isUnproven && (isFirstReading || !isInParts) ? 'unproven' : 'done';
}

/**
 * Where the next tick resumes. A read in vain, and one that may not be resumed, leave the cursor as
 * it was.
 */
export function cursorAfter(
  { step, next, isFirstReading }: Judged,
  result: ReadResult,
  cursor: Cursor | undefined,
): Cursor | undefined {
  if (result === 'in-vain' || !(step.mayGoOn || isFirstReading)) return cursor;
  if (isFirstReading) return result === 'failed' ? cursor : next;
  const [day] = step.days;
  return next && { ...next, ...(day && { day }) };
}
