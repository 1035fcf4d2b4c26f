import type { Bookmark, RangeRead } from '../ports/partner-reader.ts';
import type { Cursor } from '../ports/state.ts';
import type { Outcome } from './day-entries.ts';
import type { ReadResult, ReadStep } from './worklist.ts';

/** What the partner has answered to a read. */
export interface Answered extends RangeRead {
  /** It was cut off by the pace, and not by time. */
  readonly isOutOfPace: boolean;
}

/** Where a read of this step goes on, if an earlier tick came to a part of it. */
export function cursorOf(step: ReadStep, cursor: Cursor | undefined): Cursor | undefined {
  if (isFirst(step)) return cursor;
  return isOneDay(step) && cursor?.day === step.days[0] ? cursor : undefined;
}

const isOneDay = ({ days }: ReadStep) => days.length === 1;

/** What the answer alone says of a read. */
export interface Judged extends Answered {
  readonly step: ReadStep;
  /** When it began: milliseconds since the epoch. */
  readonly begunAt: number;
  /** Where an earlier tick stopped, and where the next one goes on. */
  readonly goneOnFrom: Cursor | undefined;
  readonly next: Bookmark | undefined;
  readonly isFirstReading: boolean;
  readonly isUnproven: boolean;
  readonly isInParts: boolean;
  /** Read in one go, or all parts of it with the same count. */
  readonly isWhole: boolean;
  readonly isInVain: boolean;
}

/** A read that was cut off, and cannot be gone on with, counts no day. */
export function isReadCounted(wasInVain: boolean): boolean {
  return !wasInVain;
}

/** @param isCounted whether a read that was cut off counts its days */
export function judged(
  isCounted: typeof isReadCounted,
  step: ReadStep,
  read: Answered & Pick<Judged, 'begunAt' | 'goneOnFrom'>,
  cursor: Cursor | undefined,
): Judged {
  const { goneOnFrom, isCutOff, isOutOfPace, count } = read;
  const isFirstReading = isFirst(step);
  // One day at a time: another that does not fit into a tick is read anew.
  const isFree = cursor === undefined || goneOnFrom !== undefined;
  const mayGoOn = (step.mayGoOn && isFree) || (isFirstReading && isOutOfPace);
  const next = mayGoOn ? read.bookmark : undefined;
  const isInParts = goneOnFrom !== undefined || next !== undefined;
  return {
    ...read,
    step,
    next,
    isFirstReading,
    isUnproven: read.proof === undefined && !isFirstReading,
    isInParts,
    isWhole: !isInParts || (next === undefined && goneOnFrom?.count === count),
    isInVain: !isCounted(isCutOff && next === undefined),
  };
}

const isFirst = ({ purpose }: ReadStep) => purpose === 'start' || purpose === 'baseline';
/** Days that a read of fewer may prove. */
export const isJoint = ({ step, isFirstReading }: Judged) => !isFirstReading && step.isDivisible;

/** What came of it, for the calendar. */
export function outcomeOf(read: Judged, hasFailed: boolean): Outcome {
  if (read.isInVain) return 'in-vain';
  if (hasFailed) return 'failed';
  // Its count has changed between the first part and the last.
  if (!read.isWhole) return read.next ? 'in-parts' : 'failed';
  return read.isUnproven && !read.isInParts ? 'unproven' : 'proven';
}

/** What came of it, for the list of work, and where the next tick goes on. */
export function resultOf(
  read: Judged,
  hasFailed: boolean,
  isCutShort: boolean,
  cursor: Cursor | undefined,
): { readonly read: ReadResult; readonly cursor?: Cursor | undefined } {
  if (read.isInVain) return { read: 'in-vain' };
  if (isCutShort) return { read: 'left' };
  if (isJoint(read) && outcomeOf(read, hasFailed) === 'unproven') return { read: 'unproven' };
  // A range of which something could not be committed is read again.
  if (read.isFirstReading && hasFailed) return { read: 'left' };
  const isDone = !hasFailed && !read.isCutOff && (read.isWhole || read.isFirstReading);
  return {
    read: isDone ? 'done' : 'left',
    cursor: cursorAfter(read.step, cursor, read.next, read.count),
  };
}

/** One day at a time: another that does not fit into a tick has to wait for its turn. */
function cursorAfter(
  step: ReadStep,
  cursor: Cursor | undefined,
  next: Bookmark | undefined,
  count: number,
): Cursor | undefined {
  if (isFirst(step)) return next;
  const [day] = step.days;
  if (!isOneDay(step) || day === undefined || (cursor && cursor.day !== day)) return cursor;
  return next && { count: cursor?.count ?? count, ...next, day };
}
