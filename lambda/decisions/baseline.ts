import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { Calendar } from './calendar.ts';
import type { Sighting } from './compare.ts';
import {
  bookmark,
  type Cursor,
  type DayRange,
  isWithin,
  plainDay,
  type RecentWindow,
} from './days.ts';
import { isSearchedAgain } from './locate.ts';
import {
  type Position,
  type Purpose,
  position,
  type ReadStep,
  type Step,
  type StepAnswer,
} from './worklist.ts';

/**
 * Assessments that a range of the baseline should have. In a larger range, pages by name overlap
 * more (more people share a name), and the last, partly filled page wastes less. Measured in `npm
 * run bench`.
 */
const rangeSize = 1_200;
const growth = 4;
/**
 * A range is halved when the host cannot answer for it, or when its answers contradict each other;
 * below one day, too: a single day is tried three times.
 */
const leastRangeDays = 1 / 4;
/** Requests to read ranges again, besides as many as good reads have made. */
const mostRereads = 100;
/** After this time, a start day that cannot be read is left like another day. */
const startWaitsMs = 3_600_000;
/** A century: a range of a history that is almost empty. */
const mostDays = 36_525;

export interface Backwards {
  readonly position: Position;
  /** Where the read of a range resumes that did not fit into an earlier tick. */
  readonly cursor?: Cursor | undefined;
  /** The day to begin with, as long as that has not been read. */
  readonly startDay: Temporal.PlainDate;
  /** A start day that shows nothing is not believed yet: the partner counts nothing at all. */
  readonly isNothingThere?: boolean;
  /** The start day has been waited for long enough. */
  readonly mayLeaveStart?: boolean;
  /** Days that the calendar has in any case. */
  readonly window: RecentWindow;
}

export interface WentBack {
  readonly position: Position;
  /** The reading has come to its end. */
  readonly isCompleted: boolean;
  /** The start day was not read, or not believed. */
  readonly waitsFor?: 'unread' | 'empty';
}

/** Reads all days: one range without an end from the start day on, then back, range by range. */
export function* backwards(reading: Backwards): Generator<Step, WentBack, StepAnswer> {
  let { position, cursor: goneOnFrom } = reading;
  let first: Temporal.PlainDate | undefined;
  // The first range has all of the time, and is read alone. A later one that is cut off is read
  // again, in one go.
  let mayGoOn = true;
  let atOnce = 1;
  for (;;) {
    const { before } = position;
    if (before !== undefined) {
      first ??= yield* firstDay(before);
      if (first === undefined) return { position, isCompleted: false };
    }
    const ranges = goneOnFrom ? [goneOnFrom.range] : nextRanges(position, reading, first, atOnce);
    const steps = ranges.map((range) => {
      return { ...rangeStep(reading, position, range), mayGoOn, goneOnFrom };
    });
    const went = yield* readTogether(reading, position, steps);
    if (went.isEnd) return went;
    ({ position, atOnce } = went);
    goneOnFrom = undefined;
    mayGoOn = false;
  }
}

/** How far the reading has come, and whether it can go on. */
type Went = WentBack & { readonly isEnd: boolean };

/** Ranges that are read side by side are committed one after another. */
function* readTogether(
  reading: Backwards,
  before: Position,
  steps: readonly ReadStep[],
): Generator<Step, Went & { readonly atOnce: number }, StepAnswer> {
  const { sliceDays } = before;
  let [position, atOnce] = [before, 1];
  if (steps.length > 1) yield { kind: 'together', steps };
  for (const step of steps) {
    const answer = yield step;
    atOnce = answer.read === 'done' ? (answer.atOnce ?? 1) : 1;
    const went = afterRange(reading, { ...position, sliceDays }, step, answer);
    if (went.isEnd) return { ...went, atOnce };
    ({ position } = went);
    const { isTimeUp } = yield { kind: 'reached', position };
    if (isTimeUp) return { position, isCompleted: false, isEnd: true, atOnce };
    // A range that is read again may have another end.
    if (answer.read !== 'done') break;
  }
  return { position, isCompleted: false, isEnd: false, atOnce };
}

function afterRange(
  reading: Backwards,
  before: Position,
  { range, isDivisible }: Pick<ReadStep, 'range' | 'isDivisible'>,
  answer: StepAnswer,
): Went {
  const waitsFor = before.before === undefined ? waitOf(reading, answer) : undefined;
  if (waitsFor !== undefined)
    return { position: before, isCompleted: false, waitsFor, isEnd: true };
  const isUnread = answer.read === 'unproven';
  const isPast = answer.read === 'done' || (isUnread && !isDivisible);
  const position = positionAfter(reading, before, range, answer, isPast);
  // The last range has all earlier dates.
  const isCompleted = isPast && range.from === undefined;
  return { position, isCompleted, isEnd: isCompleted || !(isPast || isUnread) };
}

/** A start day that was left is as good as read. */
function waitOf(
  { isNothingThere, mayLeaveStart }: Backwards,
  { read, found = 0 }: StepAnswer,
): WentBack['waitsFor'] {
  if (read === 'unproven') return mayLeaveStart ? undefined : 'unread';
  return read === 'done' && found === 0 && isNothingThere ? 'empty' : undefined;
}

/** @returns undefined if there was no time to ask for it */
function* firstDay(
  before: Temporal.PlainDate,
): Generator<Step, Temporal.PlainDate | undefined, StepAnswer> {
  const { oldest = before, isTimeUp } = yield { kind: 'oldest' };
  return isTimeUp ? undefined : oldest;
}

/** The next ranges, as many as are read at once, all of the same days. */
function nextRanges(
  { before, sliceDays = 1 }: Position,
  { startDay }: Backwards,
  first: Temporal.PlainDate = startDay,
  atOnce: number,
): readonly DayRange[] {
  if (before === undefined) return [{ from: startDay }];
  const ranges: DayRange[] = [];
  let next: Temporal.PlainDate | undefined = before;
  while (next !== undefined && ranges.length < atOnce) {
    const range = earlierRange(next, Math.ceil(sliceDays), first);
    ranges.push(range);
    next = range.from;
  }
  return ranges;
}

/** A range that a tick has read, by which it judges how many of its kind it may read at once. */
export interface Measured {
  readonly requests: number;
  /** Milliseconds of its reading, and of its commits afterwards. */
  readonly readMs: number;
  readonly commitMs: number;
}

/**
 * How many ranges may be read at once: as many as the setting, the time and the minute's pace allow,
 * one at least. Reading them takes as long as one of them; their commits follow one another.
 *
 * @param set the setting
 * @param leftMs milliseconds until everything should be committed
 * @param requestsLeft requests that the pace has left in this minute
 */
export function rangesAtOnce(
  set: number,
  { requests, readMs, commitMs }: Measured,
  leftMs: number,
  requestsLeft: number,
): number {
  const byTime = Math.floor((leftMs - readMs) / Math.max(1, commitMs));
  const byPace = Math.floor(requestsLeft / Math.max(1, requests));
  return Math.max(1, Math.min(set, byTime, byPace));
}

/**
 * A range that is read for the last time gets an entry all the same, so that the search finds it.
 */
function rangeStep(
  { window }: Backwards,
  { before, sliceDays = 1, rereads = mostRereads }: Position,
  range: DayRange,
): Omit<ReadStep, 'mayGoOn'> {
  const isStart = before === undefined;
  const isDivisible = !isStart && sliceDays > leastRangeDays && rereads > 0;
  const edge = range.to ?? range.from;
  const single = !isStart && !isDivisible && edge ? [edge.toString()] : [];
  const days = new Set([...single, ...window.days.filter((day) => isWithin(day, range))]);
  const purpose = isStart ? 'start' : 'baseline';
  return { kind: 'read', purpose, days: [...days], range, isDivisible };
}

function positionAfter(
  { startDay, cursor }: Backwards,
  position: Position,
  range: DayRange,
  { read, found = 0, requests = 0 }: StepAnswer,
  isPast: boolean,
): Position {
  const { before, sliceDays = 1, rereads: left = mostRereads } = position;
  if (before === undefined) return isPast ? { before: startDay, sliceDays } : position;
  const rereads = left + (read === 'done' ? requests : -requests);
  if (read === 'unanswered' || (read === 'unproven' && !isPast)) {
    const half = sliceDays > 1 ? Math.ceil(sliceDays / 2) : sliceDays / 2;
    return { before, sliceDays: half, rereads };
  }
  if (!isPast || range.from === undefined) return position;
  // If the range took several ticks, only the last tick's rows are known.
  const isInParts = range === cursor?.range;
  const next = isInParts ? sliceDays : nextRangeDays(sliceDays, found);
  return { before: range.from, sliceDays: next, rereads };
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
function earlierRange(
  before: Temporal.PlainDate,
  days: number,
  oldest: Temporal.PlainDate,
): DayRange {
  const from = before.subtract({ days });
  const to = before.subtract({ days: 1 });
  return from.since(oldest, { largestUnit: 'days' }).days > 0 ? { from, to } : { to };
}

/** Why the start day does not count as read, and since when: milliseconds since the epoch. */
export const startWait = z.object({ since: z.number(), is: z.enum(['unread', 'empty']) });

export type StartWait = Readonly<z.output<typeof startWait>>;

/**
 * When it counts all the same. A first reading that finds nothing at all is believed when a second
 * one agrees, `withdrawAfter` later.
 */
function endOf({ since, is }: StartWait, withdrawAfterMs: number): number {
  return since + (is === 'empty' ? withdrawAfterMs : startWaitsMs);
}

/** The state of the baseline. */
export const baseline = z.readonly(
  z
    .extend(position, {
      status: z.enum(['none', 'running', 'completed']),
      /**
       * When it began, in milliseconds since the epoch: this tells a restarted baseline from the
       * one before.
       */
      begunAt: z.exactOptional(z.number()),
      /**
       * The day on which it began: certifications of this day or later that appear meanwhile are
       * announced.
       */
      startDay: z.optional(plainDay),
      /**
       * Where the read of a range resumes. In another version's form it is dropped, and the range
       * is read anew.
       */
      bookmark: z.optional(z.catch(z.optional(z.readonly(bookmark)), undefined)),
      /** The partner's total when it began. */
      total: z.exactOptional(z.int()),
      /** Its start day does not count as read. */
      wait: z.optional(z.readonly(startWait)),
      /** All ranges are read. A search looks for certifications that its days lack. */
      isReadOnce: z.exactOptional(z.boolean()),
      /** It is completed, and ops are still to be told. */
      isNoticeOwed: z.exactOptional(z.boolean()),
      /**
       * An earlier baseline was completed: certifications that the ledger lacks are news, on any
       * day.
       */
      isAnew: z.optional(z.boolean()),
    })
    .check(z.refine(({ status, startDay }) => status === 'none' || startDay !== undefined)),
);

export type Baseline = z.output<typeof baseline>;

/** A baseline that is running. */
export type Begun = Baseline & { readonly startDay: Temporal.PlainDate };

/** @param count the partner's total */
export function begunBaseline(
  before: Baseline,
  count: number,
  today: Temporal.PlainDate,
  nowMs: number,
): Begun {
  const { startDay = today, begunAt = nowMs, isAnew, total = count } = before;
  // Until the start day is read, a host may not have counted everything.
  const first = isAnew ? {} : { total: before.before ? total : Math.max(total, count) };
  return { ...before, status: 'running', startDay, begunAt, ...first };
}

/**
 * How the start day is read. A day that was not read is read again after 1, 2, 4 … minutes, and
 * when it may be left; one that was empty, when it may be believed, or when there is something.
 *
 * @param lookedAt when the last tick ended
 * @returns undefined if it waits
 */
export function startOf(
  { wait, bookmark, isAnew }: Baseline,
  count: number,
  lookedAt: number,
  withdrawAfterMs: number,
  nowMs: number,
): Pick<Backwards, 'isNothingThere' | 'mayLeaveStart'> | undefined {
  const isNothingThere = count === 0 && !isAnew;
  if (wait === undefined || bookmark !== undefined) return { isNothingThere };
  const isOver = nowMs >= endOf(wait, withdrawAfterMs);
  const isChanged = wait.is === 'empty' && count > 0;
  if (!isOver && !isChanged && !isSearchedAgain(wait.since, lookedAt, nowMs)) return undefined;
  if (!isOver) return { isNothingThere };
  return wait.is === 'empty' ? {} : { isNothingThere, mayLeaveStart: true };
}

/** A wait for another reason begins now. */
export function waitAfter(
  before: StartWait | undefined,
  is: StartWait['is'] | undefined,
  nowMs: number,
): StartWait | undefined {
  if (is === undefined) return undefined;
  return before?.is === is ? before : { since: nowMs, is };
}

/**
 * Whether a baseline whose ranges are all read has come to its end: the days explain the total, or
 * lack only news, since they have as many as there were at its beginning.
 *
 * @param total the partner's total after the last range
 * @param begun the total when it began; undefined: not known, or the baseline was restarted
 */
export function isSettled(
  calendar: Pick<Calendar, 'days' | 'entry' | 'total'>,
  total: number,
  { startDay, total: begun }: Pick<Begun, 'startDay' | 'total'>,
): boolean {
  if (begun === undefined || calendar.total === total) return true;
  // Newcomers have come since the proof of their day.
  const atFirst = calendar.days.map((day) => {
    const { count, proof } = calendar.entry(day);
    return isNewcomer(day, startDay) ? (proof?.count ?? 0) : count;
  });
  return atFirst.reduce((sum, count) => sum + count, 0) >= begun;
}

/** The facts by which news is told from history. */
export interface Telling {
  readonly purpose: Purpose;
  /** The read has read its range: `hasRead`. */
  readonly isRead: boolean;
  /** An earlier baseline was completed: certifications that the ledger lacks are news. */
  readonly isAnew: boolean;
  /** All ranges are read, and the total still differs: the days before this one are doubtful. */
  readonly settlingBefore?: string | undefined;
  /** The setting `announce` has certifications of this day announced, history or not. */
  isAnnounced(day: string): boolean;
  readonly calendar: Pick<Calendar, 'entry' | 'unread' | 'unreadDayOf'>;
}

/**
 * The facts by which a tick tells news from history. A restarted baseline announces everything that
 * it finds, since the ledger already has the certifications that were there before.
 */
export function tellingOf(
  { announce }: { readonly announce: 'none' | 'all' | { readonly since: string } },
  { baseline }: { readonly baseline: Baseline },
): Pick<Telling, 'isAnew' | 'isAnnounced' | 'settlingBefore'> {
  const isSettling = baseline.status === 'running' && baseline.isReadOnce;
  return {
    isAnew: baseline.isAnew === true,
    settlingBefore: isSettling ? baseline.startDay?.toString() : undefined,
    isAnnounced: (day) => announce === 'all' || (announce !== 'none' && day >= announce.since),
  };
}

/** `history` is recorded silently; `doubtful` is held, since nobody can tell which it is. */
export type Fate = 'news' | 'history' | 'doubtful';

/**
 * Tells news from history among the sightings of one read. A change of a known certification is
 * news. On a day that the baseline could not read, as many unknown ones as it lacked there are
 * history, if the day has now been read.
 */
export function fatesOf(sightings: readonly Sighting[], telling: Telling): Map<Sighting, Fate> {
  const { purpose, isRead, isAnew, settlingBefore = '', calendar } = telling;
  const isFirst = (purpose === 'start' || purpose === 'baseline') && !isAnew;
  const isSure = isFirst || calendar.unread.days.length === 0;
  const markedDay = ({ kind, assessment }: Sighting) =>
    isSure || kind !== 'created' ? undefined : calendar.unreadDayOf(assessment.certified_on);
  const byMark = Map.groupBy(sightings, markedDay);
  const isExplained = (mark: string) =>
    isRead && (byMark.get(mark)?.length ?? 0) <= (calendar.entry(mark).unread ?? 0);
  const fateOf = (sighting: Sighting): Fate => {
    const day = sighting.assessment.certified_on;
    if (sighting.kind !== 'created' || telling.isAnnounced(day)) return 'news';
    const mark = markedDay(sighting);
    if (isFirst || (mark !== undefined && isExplained(mark))) return 'history';
    return mark !== undefined || day < settlingBefore ? 'doubtful' : 'news';
  };
  return new Map(sightings.map((sighting) => [sighting, fateOf(sighting)]));
}

/** A certification dated on the start day or later is news while the baseline runs. */
export function isNewcomer(day: string, startDay: Temporal.PlainDate): boolean {
  return day >= startDay.toString();
}
