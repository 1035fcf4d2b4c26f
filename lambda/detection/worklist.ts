import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { earlierRange, nextRangeDays } from './baseline.ts';
import type { Calendar, CalendarRange } from './calendar.ts';
import { type DayRange, daysIn, isWithin, type RecentWindow } from './days.ts';
import { nextDue, type Waited, waitedAsked } from './due.ts';
import { type Step as Located, type locate, locateWithin } from './locate.ts';

/** Requests that a tick's search for a difference may make, and its reading of what does not fit into one tick. */
const searchRequests = 100;
/** With so many requests a minute, a tick comes to all of its work. */
const muchPace = 300;
/** A range is halved when the host cannot answer for it, below one day too: so often a single day is tried. */
const leastRangeDays = 1 / 8;

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
  /** What is not proven, or not answered, is asked for again in smaller parts. */
  readonly isDivisible: boolean;
  /** When it does not fit into this tick, the next one goes on where it stopped. */
  readonly mayGoOn: boolean;
}

/** What is to be done next. */
export type Step =
  | { readonly kind: 'count'; readonly range: DayRange }
  | { readonly kind: 'oldest' }
  /** A search has located a difference among these days: they are due from now on. */
  | { readonly kind: 'located'; readonly days: readonly string[] }
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
 * be committed. `in-vain`: cut off, and no day is counted. `unproven`, `unanswered`: the days are still due, fewer together.
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
  /** Requests that second looks may make, and as many those of audits. */
  readonly auditRequests: number;
  /** Which kind of work comes first: 0, what was asked for; where a tick may not come to all, another number each time. */
  readonly turn: number;
  /** How long each day has waited for its second look, or to be read again soon. */
  waited(calendar: Calendar): Waited;
  /** How long each day of the history has waited for its audit. */
  waitedForAudit(calendar: Calendar): Waited;
  readonly rules: { readonly locate: typeof locate };
}

/** Calendar days (`YYYY-MM-DD`), both included, among which the search for a difference ran out of time. */
export const searchRange = z.readonly(z.object({ from: z.iso.date(), to: z.iso.date() }));

export type Searching = z.output<typeof searchRange>;

export interface WorkDone {
  /** Every difference was found, read and committed. */
  readonly isAllLocated: boolean;
  /** The search had its turn. */
  readonly hasSearched: boolean;
  readonly searching?: Searching | undefined;
  /** Requests that audits of the history have made; beyond what they may, if a read took more. */
  readonly audited: number;
}

/** Whether a tick comes to all kinds of its work: the last one did, and the pace allows it. */
export function hasRoomForAll(
  { dirtySince, cursor }: { readonly dirtySince?: unknown; readonly cursor?: unknown },
  perMinute: number,
): boolean {
  return perMinute >= muchPace && dirtySince === undefined && cursor === undefined;
}

/** Requests that are left. It is looked at before a read, not within one. */
interface Purse {
  requests: number;
}

/**
 * The days that are due: those that were asked for, with the search for a difference; the day that did not fit into an
 * earlier tick; second looks and what is read again soon; audits of the history. By its turn, another kind comes first.
 * A generator that is asked for the next step and is told what came of it.
 */
export function* dueWork(work: Work): Generator<Step, WorkDone, Answer> {
  const soon = { requests: work.auditRequests };
  const audits = { requests: work.auditRequests };
  const search = (now: Reached) => located(work, now);
  const kinds = [
    search,
    resumed,
    (now: Reached) => readDue((calendar) => work.waited(calendar), 'audit', now, soon),
    (now: Reached) => readDue((calendar) => work.waitedForAudit(calendar), 'audit', now, audits),
  ];
  const first = work.turn % kinds.length;
  const { calendar, cursor } = work;
  let now: Reached = { calendar, cursor, isTimeUp: false, isAll: true };
  let found: Followed | undefined;
  for (const kind of [...kinds.slice(first), ...kinds.slice(0, first)]) {
    if (now.isTimeUp) break;
    now = yield* kind(now);
    if (kind === search) found = now;
  }
  return {
    isAllLocated: found?.isAll ?? !work.differs,
    hasSearched: found !== undefined,
    // What had no turn goes on as it was.
    searching: found ? found.searching : work.searching,
    audited: work.auditRequests - audits.requests,
  };
}

/** The day that did not fit into an earlier tick. */
function* resumed(now: Reached): Generator<Step, Reached, Answer> {
  const { day, range } = now.cursor ?? {};
  if (day === undefined || range === undefined) return now;
  return { ...now, ...(yield readStep({ days: [day], range }, 'search')) };
}

/**
 * What was asked for; and if nothing is left of it, what differs is searched for. An earlier search goes on where it was;
 * when that has found something, there may be more elsewhere.
 */
function* located(work: Work, start: Reached): Generator<Step, Followed, Answer> {
  const purse = { requests: Math.max(searchRequests, work.auditRequests) };
  const { searching } = work;
  const now = yield* readDue(waitedAsked, 'search', start, purse);
  if (!work.differs) return now;
  if (now.isTimeUp || !now.isAll) return { ...now, isAll: false, searching };
  if (searching === undefined) return yield* searched(work, now, purse);
  const goneOn = yield* followed(locateInRange(searching)(now.calendar), now, purse);
  const isOver = goneOn.searching === undefined && goneOn.isAll && !goneOn.isTimeUp;
  const hasFound = goneOn.calendar.total !== now.calendar.total;
  return isOver && hasFound ? yield* searched(work, goneOn, purse) : goneOn;
}

function* searched(work: Work, now: Reached, purse: Purse): Generator<Step, Followed, Answer> {
  const { calendar } = now;
  const recent = calendar.positionOf(work.recentFrom);
  return yield* followed(work.rules.locate(calendar, work.total, recent), now, purse);
}

interface Reached extends Pick<Answer, 'calendar' | 'cursor' | 'isTimeUp'> {
  /** All that was due was read, committed and counted. */
  readonly isAll: boolean;
}

interface Followed extends Reached {
  /** It was broken off here. */
  readonly searching?: Searching | undefined;
}

/** Reads what a search locates. */
function* followed(
  located: Generator<Located, void, number>,
  start: Reached,
  purse: Purse,
): Generator<Step, Followed, Answer> {
  const { calendar: before } = start;
  let now: Reached = { ...start, isAll: true };
  let count = 0;
  for (;;) {
    const next = located.next(count);
    if (next.done) return now;
    const { kind, range, within = wholeOf(before) } = next.value;
    const broken = { isAll: false, searching: searchingOf(before, within) };
    if (purse.requests <= 0) return { ...now, ...broken };
    const step =
      kind === 'count' ? counted(before, range, now, purse) : read(before, range, now, purse);
    ({ now, count } = yield* step);
    if (now.isTimeUp) return { ...now, ...broken };
  }
}

interface Asked {
  readonly now: Reached;
  /** Of the days that were asked for. */
  readonly count: number;
}

function* counted(
  before: Calendar,
  range: CalendarRange,
  now: Reached,
  purse: Purse,
): Generator<Step, Asked, Answer> {
  purse.requests -= 1;
  const {
    calendar,
    cursor,
    isTimeUp,
    count = 0,
  } = yield {
    kind: 'count',
    range: before.filterOf(range),
  };
  return { now: { ...now, calendar, cursor, isTimeUp }, count };
}

function* read(
  before: Calendar,
  range: CalendarRange,
  start: Reached,
  purse: Purse,
): Generator<Step, Asked, Answer> {
  const days = before.daysOf(range);
  const { calendar, isTimeUp } = yield { kind: 'located', days };
  const now = yield* readDue(waitedAsked, 'search', { ...start, calendar, isTimeUp }, purse);
  const count = days.reduce((sum, day) => sum + now.calendar.entry(day).count, 0);
  return { now: { ...now, isAll: start.isAll && now.isAll }, count };
}

/** Reads days as long as any are due and there are requests for them. */
function* readDue(
  waited: (calendar: Calendar) => Waited,
  purpose: Purpose,
  start: Pick<Reached, 'calendar' | 'cursor' | 'isTimeUp'>,
  purse: Purse,
): Generator<Step, Reached, Answer> {
  let { calendar, cursor, isTimeUp } = start;
  let isAll = true;
  for (;;) {
    const range = nextDue(calendar, waited(calendar));
    if (range === undefined) return { calendar, cursor, isTimeUp, isAll };
    if (purse.requests <= 0 || isTimeUp) return { calendar, cursor, isTimeUp, isAll: false };
    const days = { days: calendar.daysOf(range), range: calendar.filterOf(range) };
    const answer = yield readStep(days, purpose, cursor);
    ({ calendar, cursor } = answer);
    isTimeUp = answer.isTimeUp || answer.read === 'in-vain';
    isAll &&= answer.read !== 'left' && answer.read !== 'in-vain';
    purse.requests -= answer.requests ?? 0;
  }
}

/** A single day may go on where an earlier tick stopped. */
function readStep({ days, range }: Days, purpose: Purpose, cursor?: GoneOnWith): ReadStep {
  const [day, another] = days;
  const isOneDay = another === undefined;
  const goneOnWith = isOneDay && cursor?.day === day ? cursor : undefined;
  return {
    kind: 'read',
    purpose,
    days,
    range: goneOnWith?.range ?? range,
    isDivisible: !isOneDay,
    mayGoOn: isOneDay,
  };
}

const wholeOf = ({ days }: Calendar): CalendarRange => ({ first: 0, last: days.length - 1 });

const locateInRange =
  ({ from, to }: Searching) =>
  (calendar: Calendar) =>
    locateWithin(calendar, { first: calendar.positionOf(from), last: calendar.positionOf(to) });

function searchingOf({ days }: Calendar, { first, last }: CalendarRange): Searching | undefined {
  const [from, to] = [days[first], days[last]];
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** How far back a reading of all days has come. */
export interface Position {
  /** Days before this one are still to be read; absent: the start day is not read yet. */
  readonly before?: Temporal.PlainDate | undefined;
  /** Days that the next range should have; less than one while a single day cannot be read. */
  readonly sliceDays?: number;
}

export interface Backwards {
  readonly position: Position;
  /** Of the range that did not fit into an earlier tick or task. */
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

/** All days: from the start day on in one range without an end, then back, range by range. */
export function* backwards(reading: Backwards): Generator<Step, WentBack, Answer> {
  const { startDay, window, range } = reading;
  const { before, sliceDays = 1 } = reading.position;
  if (before !== undefined)
    return yield* furtherBack(reading, { before, sliceDays }, { range, mayGoOn: true });
  const ways = { isDivisible: false, mayGoOn: true };
  const { read } = yield rangeStep('start', { from: startDay }, window, ways);
  if (read !== 'done') return { position: {}, isCompleted: false };
  const position = { before: startDay, sliceDays };
  yield { kind: 'reached', position };
  return yield* furtherBack(reading, position, { mayGoOn: false });
}

/** The start day is read. */
interface Begun extends Position {
  readonly before: Temporal.PlainDate;
  readonly sliceDays: number;
}

interface FirstRange {
  /** It did not fit into an earlier tick or task. */
  readonly range?: DayRange | undefined;
  /** It has all the time; one that begins later and is cut off is read again, in one go. */
  readonly mayGoOn: boolean;
}

function* furtherBack(
  reading: Backwards,
  start: Begun,
  { range: resumed, mayGoOn }: FirstRange,
): Generator<Step, WentBack, Answer> {
  const { window, isOldest = true, isStartOnly = false } = reading;
  const first = isStartOnly ? undefined : yield* firstDay(reading, start.before);
  if (first === undefined) return { position: start, isCompleted: false };
  let position = start;
  for (;;) {
    const { before, sliceDays } = position;
    const range = resumed ?? rangeBefore(before, Math.ceil(sliceDays), first, isOldest);
    const ways = { isDivisible: sliceDays > leastRangeDays, mayGoOn };
    const answer = yield rangeStep('baseline', range, window, ways);
    position = positionAfter(position, range, answer, resumed !== undefined);
    if (answer.read !== 'done') return { position, isCompleted: false };
    const isLast = !isOldest && first.equals(position.before);
    if (range.from === undefined || isLast) return { position, isCompleted: true };
    const { isTimeUp } = yield { kind: 'reached', position };
    if (isTimeUp) return { position, isCompleted: false };
    resumed = undefined;
    mayGoOn = false;
  }
}

/** Undefined: there was no time to ask for it. */
function* firstDay(
  { first }: Backwards,
  before: Temporal.PlainDate,
): Generator<Step, Temporal.PlainDate | undefined, Answer> {
  if (first !== undefined) return first;
  const { oldest = before, isTimeUp } = yield { kind: 'oldest' };
  return isTimeUp ? undefined : oldest;
}

function positionAfter(
  position: Begun,
  { from }: DayRange,
  { read, found = 0 }: Answer,
  isInParts: boolean,
): Begun {
  const { before, sliceDays } = position;
  if (read === 'unanswered')
    return { before, sliceDays: sliceDays > 1 ? Math.ceil(sliceDays / 2) : sliceDays / 2 };
  if (read !== 'done' || from === undefined) return position;
  // Of one that was read in parts, only the last one's rows are known.
  return { before: from, sliceDays: isInParts ? sliceDays : nextRangeDays(sliceDays, found) };
}

function rangeBefore(
  before: Temporal.PlainDate,
  days: number,
  first: Temporal.PlainDate,
  isOldest: boolean,
): DayRange {
  const range = earlierRange(before, days, first);
  return isOldest ? range : { from: first, ...range };
}

/** A day that the host cannot answer for is known all the same: the search finds it then. */
function rangeStep(
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
