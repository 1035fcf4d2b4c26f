import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { nextDue, type Waited } from './audit.ts';
import { nextSliceDays, slice } from './baseline.ts';
import type { Calendar, Span } from './calendar.ts';
import { type DayRange, daysIn, isWithin, type RecentWindow } from './days.ts';
import { type Step as Located, type locate, locateWithin } from './locate.ts';

/** Requests that a tick's search for a difference may make, and its reading of what does not fit into one tick. */
const searchRequests = 100;
/** A slice is halved when the host cannot answer for it, below one day too: so often a single day is tried. */
const leastSliceDays = 1 / 8;

/** Days to read, and the filter that asks for them, which may be open at its ends. */
export interface Days {
  readonly days: readonly string[];
  readonly range: DayRange;
}

/**
 * Why days are read. `search`: their count differs, or they are gone on with. `audit`: nothing suggests that they
 * have changed. `start`, `baseline`: they belong to the first reading, which begins with the start day.
 */
export type Purpose = 'search' | 'audit' | 'start' | 'baseline';

export interface ReadStep extends Days {
  readonly kind: 'read';
  readonly purpose: Purpose;
  /** It can be divided: what is not proven, or not answered, is asked for again in smaller parts. */
  readonly isDivisible: boolean;
  /** When it does not fit into this tick, the next one goes on where it stopped. */
  readonly mayGoOn: boolean;
}

/** What is to be done next. */
export type Step =
  | { readonly kind: 'count'; readonly range: DayRange }
  | { readonly kind: 'oldest' }
  | ReadStep
  /** So far back has the reading come: to be kept. */
  | { readonly kind: 'reached'; readonly position: Position };

/** What has come of a step. What does not belong to its kind is absent. */
export interface Answer {
  /** As it stands now. */
  readonly calendar: Calendar;
  /** Time is up: nothing more is to be begun, and a question may have no answer. */
  readonly isTimeUp: boolean;
  readonly requests?: number;
  readonly count?: number;
  readonly oldest?: Temporal.PlainDate | undefined;
  readonly read?: ReadResult | undefined;
  /** Rows that the read showed. */
  readonly found?: number;
  readonly cursor?: GoneOnWith | undefined;
}

/**
 * `done`: all of it is committed and counted. `left`: it was cut off and can be gone on with, or something could not
 * be committed. `in-vain`: cut off, and no day is counted. `unproven`, `unanswered`: nothing was kept, divide it.
 */
export type ReadResult = 'done' | 'left' | 'in-vain' | 'unproven' | 'unanswered';

/** What a reading goes on with that does not fit into one tick. */
export interface GoneOnWith {
  /** The calendar's day that the range stands for. */
  readonly day?: string | undefined;
  readonly range: DayRange;
}

export interface Work {
  readonly calendar: Calendar;
  /** What the partner counts altogether. */
  readonly total: number;
  /** The total differs from what is expected, or an earlier search has come to no end. */
  readonly differs: boolean;
  /** To which days an earlier search had narrowed a difference when its time was up. */
  readonly searching?: Searching | undefined;
  readonly cursor?: GoneOnWith | undefined;
  /** First day of the recent window. */
  readonly recentFrom: string;
  /** Requests that audits and second looks may make. */
  readonly auditRequests: number;
  /** How long each day has waited for its audit or its second look. */
  waited(calendar: Calendar): Waited;
  readonly rules: {
    readonly locate: typeof locate;
    isEarlierHalfFirst(earlierReadAt: number, laterReadAt: number): boolean;
  };
}

/** Calendar days (`YYYY-MM-DD`), both included, among which the search for a difference ran out of time. */
export const searchRange = z.readonly(z.object({ from: z.iso.date(), to: z.iso.date() }));

export type Searching = z.output<typeof searchRange>;

export interface WorkDone {
  /** Every difference was found, read and committed. */
  readonly isAllLocated: boolean;
  readonly searching?: Searching | undefined;
  /** Requests that audits made beyond what they may: a read is not stopped half-way. */
  readonly overspent: number;
}

/** Requests that are left. It is looked at before a read, not within one. */
interface Purse {
  requests: number;
}

/**
 * The days that are due, the most urgent first: those whose counts differ; then the one that did not fit into an
 * earlier tick, or else those that wait for a second look or an audit. A generator that is asked for the next step
 * and is told what came of it.
 */
export function* dueWork(work: Work): Generator<Step, WorkDone, Answer> {
  let { calendar, cursor } = work;
  let isAllLocated = true;
  let searching: Searching | undefined;
  if (work.differs) {
    const purse = { requests: searchRequests };
    const searches = [
      ...(work.searching ? [locateSpan(work.searching)] : []),
      (now: Calendar) => work.rules.locate(now, work.total, now.positionOf(work.recentFrom)),
    ];
    for (const search of searches) {
      const found = yield* followed(work, search(calendar), { calendar, cursor, purse });
      ({ calendar, cursor, searching } = found);
      isAllLocated &&= found.isAll;
      if (searching) break;
    }
  }
  if (cursor?.day !== undefined) {
    const { day, range } = cursor;
    const purse = { requests: searchRequests };
    yield* divided(work, { days: [day], range }, 'search', { calendar, cursor }, purse);
    return { isAllLocated, searching, overspent: 0 };
  }
  const purse = { requests: work.auditRequests };
  while (purse.requests > 0) {
    const span = nextDue(calendar, work.waited(calendar));
    if (span === undefined) break;
    const answer = yield* divided(
      work,
      daysOf(calendar, span),
      'audit',
      { calendar, cursor },
      purse,
    );
    ({ calendar, cursor } = answer);
    if (answer.isTimeUp || answer.read === 'in-vain') break;
  }
  return { isAllLocated, searching, overspent: Math.max(0, -purse.requests) };
}

interface Followed {
  readonly calendar: Calendar;
  readonly cursor: GoneOnWith | undefined;
  readonly isAll: boolean;
  /** It was broken off here. */
  readonly searching?: Searching | undefined;
}

/** Reads what a search locates. */
function* followed(
  work: Work,
  located: Generator<Located, void, number>,
  start: Pick<Followed, 'calendar' | 'cursor'> & { readonly purse: Purse },
): Generator<Step, Followed, Answer> {
  const { calendar: before, purse } = start;
  let { calendar, cursor } = start;
  let isAll = true;
  let count = 0;
  for (;;) {
    const next = located.next(count);
    if (next.done) return { calendar, cursor, isAll };
    const { kind, span, within } = next.value;
    const brokenOff = (): Followed => ({
      calendar,
      cursor,
      isAll: false,
      searching: within && searchingOf(before, within),
    });
    if (purse.requests <= 0) return brokenOff();
    if (kind === 'count') {
      purse.requests -= 1;
      const answer = yield { kind, range: before.rangeOf(span) };
      if (answer.isTimeUp) return brokenOff();
      count = answer.count ?? 0;
    } else {
      const answer = yield* divided(
        work,
        daysOf(before, span),
        'search',
        { calendar, cursor },
        purse,
      );
      ({ calendar, cursor } = answer);
      if (answer.isTimeUp || answer.read === 'in-vain') return brokenOff();
      isAll &&= answer.read === 'done';
      count = 0;
      for (const day of before.daysOf(span)) count += calendar.entry(day).count;
    }
  }
}

type Facts = Pick<Followed, 'calendar' | 'cursor'>;
type Read = Facts & Pick<Answer, 'isTimeUp' | 'read'>;

/**
 * Days that could not be proven together are halved, so that a single record or day that cannot be read leaves only
 * its own day unproven. The first half is read whatever the purse, or such days could use it up time after time
 * before anything of them is done.
 */
function* divided(
  work: Work,
  { days, range }: Days,
  purpose: Purpose,
  { cursor: before }: Facts,
  purse: Purse,
): Generator<Step, Read, Answer> {
  const [day, another] = days;
  const isOneDay = another === undefined;
  const goneOnWith = isOneDay && before?.day === day ? before : undefined;
  const answer = yield {
    kind: 'read',
    purpose,
    days,
    range: goneOnWith?.range ?? range,
    isDivisible: !isOneDay,
    mayGoOn: isOneDay,
  };
  purse.requests -= answer.requests ?? 0;
  const { calendar, cursor, isTimeUp, read } = answer;
  if (isTimeUp || (read !== 'unproven' && read !== 'unanswered'))
    return { calendar, cursor, isTimeUp, read };
  const [first, second] = inTurn(work, calendar, halves({ days, range }));
  const one = yield* divided(work, first, purpose, { calendar, cursor }, purse);
  if (one.isTimeUp || purse.requests <= 0) return { ...one, read: 'left' };
  const other = yield* divided(work, second, purpose, one, purse);
  return other.read === 'done' && one.read !== 'done' ? { ...other, read: 'left' } : other;
}

function halves({ days, range }: Days): readonly [Days, Days] {
  const middle = Math.ceil(days.length / 2);
  const from = Temporal.PlainDate.from(days[middle] ?? '');
  return [
    { days: days.slice(0, middle), range: { ...range, to: from.subtract({ days: 1 }) } },
    { days: days.slice(middle), range: { ...range, from } },
  ];
}

/** What an earlier tick did not get to comes first. */
function inTurn(
  { rules }: Work,
  calendar: Calendar,
  [earlier, later]: readonly [Days, Days],
): readonly [Days, Days] {
  const readAt = ({ days }: Days) => Math.min(...days.map((day) => calendar.entry(day).readAt));
  return rules.isEarlierHalfFirst(readAt(earlier), readAt(later))
    ? [earlier, later]
    : [later, earlier];
}

const daysOf = (calendar: Calendar, span: Span): Days => ({
  days: calendar.daysOf(span),
  range: calendar.rangeOf(span),
});

const locateSpan =
  ({ from, to }: Searching) =>
  (calendar: Calendar) =>
    locateWithin(calendar, { first: calendar.positionOf(from), last: calendar.positionOf(to) });

function searchingOf({ days }: Calendar, { first, last }: Span): Searching | undefined {
  const [from, to] = [days[first], days[last]];
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** How far back a reading of all days has come. */
export interface Position {
  /** Days before this one are still to be read; absent: the start day is not read yet. */
  readonly before?: Temporal.PlainDate | undefined;
  /** Days that the next slice should have; less than one while a single day cannot be read. */
  readonly sliceDays?: number;
}

export interface Backwards {
  readonly position: Position;
  /** Of the slice that did not fit into an earlier run. */
  readonly range?: DayRange | undefined;
  /** The day to begin with, as long as that has not been read. */
  readonly startDay: Temporal.PlainDate;
  /** Back to which day; absent: the partner is asked for its oldest, and what is dated before it belongs to it as well. */
  readonly first?: Temporal.PlainDate | undefined;
  /** What is dated before `first` belongs to it as well. */
  readonly isOldest?: boolean;
  /** What comes before the start day is for others to read. */
  readonly isStartOnly?: boolean;
  /** Days that the calendar has in any case. */
  readonly window: RecentWindow;
}

export interface WentBack {
  readonly position: Position;
  /** It has come to its end. */
  readonly isCompleted: boolean;
}

/** All days: from the start day on in one slice without an end, then back, slice by slice. */
export function* backwards(reading: Backwards): Generator<Step, WentBack, Answer> {
  const { startDay, window, isOldest = true } = reading;
  let { before, sliceDays = 1 } = reading.position;
  let { range } = reading;
  // The first slice has the whole run; one that begins later and is cut off is read again, in one go.
  let mayGoOn = true;
  let isInParts = range !== undefined;
  const ended = (isCompleted: boolean): WentBack => ({
    position: { ...(before && { before, sliceDays }) },
    isCompleted,
  });

  if (before === undefined) {
    const all = { from: startDay };
    const { read } = yield sliceStep('start', all, window, { isDivisible: false, mayGoOn });
    if (read !== 'done') return ended(false);
    before = startDay;
    range = undefined;
    isInParts = false;
    mayGoOn = false;
    yield { kind: 'reached', position: { before, sliceDays } };
  }
  if (reading.isStartOnly) return ended(false);
  let { first } = reading;
  if (first === undefined) {
    const { oldest, isTimeUp } = yield { kind: 'oldest' };
    if (isTimeUp) return ended(false);
    first = oldest ?? before;
  }
  for (;;) {
    range ??= sliceBefore(before, Math.ceil(sliceDays), first, isOldest);
    const isDivisible = sliceDays > leastSliceDays;
    const answer = yield sliceStep('baseline', range, window, { isDivisible, mayGoOn });
    mayGoOn = false;
    if (answer.read === 'unanswered')
      sliceDays = sliceDays > 1 ? Math.ceil(sliceDays / 2) : sliceDays / 2;
    if (answer.read !== 'done') return ended(false);
    if (range.from === undefined) return ended(true);
    before = range.from;
    // Of one that was read in parts, only the last one's rows are known.
    if (!isInParts) sliceDays = nextSliceDays(sliceDays, answer.found ?? 0);
    isInParts = false;
    if (!isOldest && first.equals(before)) return ended(true);
    const { isTimeUp } = yield { kind: 'reached', position: { before, sliceDays } };
    if (isTimeUp) return ended(false);
    range = undefined;
  }
}

function sliceBefore(
  before: Temporal.PlainDate,
  days: number,
  first: Temporal.PlainDate,
  isOldest: boolean,
): DayRange {
  const range = slice(before, days, first);
  return isOldest ? range : { from: first, ...range };
}

/** A day that the host cannot answer for is known all the same: the search finds it then. */
function sliceStep(
  purpose: Purpose,
  range: DayRange,
  window: RecentWindow,
  ways: Pick<ReadStep, 'isDivisible' | 'mayGoOn'>,
): ReadStep {
  const edge = range.from ?? range.to;
  const single = purpose === 'baseline' && !ways.isDivisible && edge ? [edge.toString()] : [];
  const days = new Set([...daysIn(window).filter((day) => isWithin(day, range)), ...single]);
  return { kind: 'read', purpose, days: [...days], range, ...ways };
}
