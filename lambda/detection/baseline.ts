import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { Cursor } from '../ports/state.ts';
import { type DayRange, isWithin, plainDay, type RecentWindow } from './days.ts';
import type { ReadStep, Step, StepAnswer } from './worklist.ts';

/**
 * Assessments that a range of the baseline should have. In a larger range, pages by name overlap
 * more (more people share a name), and the last, partly filled page wastes less. Measured in `npm
 * run bench`.
 */
const rangeSize = 1_200;
const growth = 4;
/**
 * A range is halved when the host cannot answer for it, below one day too: a single day is tried
 * that often.
 */
const leastRangeDays = 1 / 8;
/** A century: a range of a history that is almost empty. */
const mostDays = 36_525;

/** How far back a reading of all days has come. */
export const position = z.object({
  /** Days before this one are still to be read; absent: the start day is not read yet. */
  before: z.optional(plainDay),
  /** Days that the next range should have; less than one while a single day cannot be read. */
  sliceDays: z.optional(z.number().check(z.positive())),
});

export type Position = Readonly<z.output<typeof position>>;

export interface Backwards {
  readonly position: Position;
  /** Where the read of a range resumes that did not fit into an earlier tick or task. */
  readonly cursor?: Cursor | undefined;
  /** The day to begin with, as long as that has not been read. */
  readonly startDay: Temporal.PlainDate;
  /** Days that the calendar has in any case. */
  readonly window: RecentWindow;
}

export interface WentBack {
  readonly position: Position;
  /** The reading has come to its end. */
  readonly isCompleted: boolean;
}

/** Reads all days: one range without an end from the start day on, then back, range by range. */
export function* backwards(reading: Backwards): Generator<Step, WentBack, StepAnswer> {
  let { position, cursor: goneOnFrom } = reading;
  let first: Temporal.PlainDate | undefined;
  // The first range has all of the time. A later one that is cut off is read again, in one go.
  let mayGoOn = true;
  for (;;) {
    const { before } = position;
    if (before !== undefined) first ??= yield* firstDay(before);
    if (before !== undefined && first === undefined) return { position, isCompleted: false };
    const range = goneOnFrom?.range ?? nextRange(reading, position, first);
    const answer = yield { ...rangeStep(reading, position, range), mayGoOn, goneOnFrom };
    position = positionAfter(reading, position, range, answer);
    const isDone = answer.read === 'done';
    if (!isDone || isOpen(range)) return { position, isCompleted: isDone };
    const { isTimeUp } = yield { kind: 'reached', position };
    if (isTimeUp) return { position, isCompleted: false };
    goneOnFrom = undefined;
    mayGoOn = false;
  }
}

/** @returns undefined if there was no time to ask for it */
function* firstDay(
  before: Temporal.PlainDate,
): Generator<Step, Temporal.PlainDate | undefined, StepAnswer> {
  const { oldest = before, isTimeUp } = yield { kind: 'oldest' };
  return isTimeUp ? undefined : oldest;
}

function nextRange(
  { startDay }: Backwards,
  { before, sliceDays = 1 }: Position,
  first: Temporal.PlainDate = startDay,
): DayRange {
  if (before === undefined) return { from: startDay };
  return earlierRange(before, Math.ceil(sliceDays), first);
}

/** The last range has all earlier dates. */
const isOpen = ({ from }: DayRange): boolean => from === undefined;

/**
 * A single day that the host cannot answer for gets an entry all the same, so that the search finds
 * it.
 */
function rangeStep(
  { window }: Backwards,
  { before, sliceDays = 1 }: Position,
  range: DayRange,
): Omit<ReadStep, 'mayGoOn'> {
  const isStart = before === undefined;
  const isDivisible = !isStart && sliceDays > leastRangeDays;
  const edge = range.from ?? range.to;
  const single = !isStart && !isDivisible && edge ? [edge.toString()] : [];
  const days = new Set([...window.days.filter((day) => isWithin(day, range)), ...single]);
  const purpose = isStart ? 'start' : 'baseline';
  return { kind: 'read', purpose, days: [...days], range, isDivisible };
}

function positionAfter(
  { startDay, cursor }: Backwards,
  position: Position,
  range: DayRange,
  { read, found = 0 }: StepAnswer,
): Position {
  const { before, sliceDays = 1 } = position;
  if (before === undefined) return read === 'done' ? { before: startDay, sliceDays } : position;
  if (read === 'unanswered')
    return { before, sliceDays: sliceDays > 1 ? Math.ceil(sliceDays / 2) : sliceDays / 2 };
  if (read !== 'done' || range.from === undefined) return position;
  // If the range took several ticks, only the last tick's rows are known.
  const isInParts = range === cursor?.range;
  return { before: range.from, sliceDays: isInParts ? sliceDays : nextRangeDays(sliceDays, found) };
}

/** @param found rows that a range of `days` days held */
export function nextRangeDays(days: number, found: number): number {
  const fitting = found === 0 ? days * growth : Math.floor((days * rangeSize) / found);
  return Math.max(1, Math.min(fitting, days * growth, mostDays));
}

/**
 * @param oldest the day of the oldest assessment; the last range is open, so earlier dates are in
 * it
 */
export function earlierRange(
  before: Temporal.PlainDate,
  days: number,
  oldest: Temporal.PlainDate,
): DayRange {
  const from = before.subtract({ days });
  const to = before.subtract({ days: 1 });
  return from.since(oldest, { largestUnit: 'days' }).days > 0 ? { from, to } : { to };
}

/** A certification dated on the start day or later is news while the baseline runs. */
export function isNewcomer(day: string, startDay: Temporal.PlainDate): boolean {
  return day >= startDay.toString();
}
