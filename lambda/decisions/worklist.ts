import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { Calendar } from './calendar.ts';
import type { Cursor } from './days.ts';
import { type DayRange, plainDay } from './days.ts';
import { type DueLook, type Kind, nextDue } from './due.ts';
import { type AtWork, locate, locateWithin, type Search } from './locate.ts';

/** Requests that a tick's search for a difference may make. */
const searchRequests = 100;
/** At this pace, a tick gets to all of its work. */
const muchPace = 300;

/** Days to read, and the filter that asks for them, which may be open at its ends. */
export interface Days {
  readonly days: readonly string[];
  readonly range: DayRange;
}

/**
 * Why days are read. `search`: their count differs, or their read is resumed. `audit`: nothing
 * suggests that they have changed. `start`, `baseline`: they belong to the baseline, which begins
 * with the start day.
 */
export type Purpose = 'search' | 'audit' | 'start' | 'baseline';

export interface ReadStep extends Days {
  readonly kind: 'read';
  readonly purpose: Purpose;
  /** Without a proof or an answer, its days are read again, fewer at a time. */
  readonly isDivisible: boolean;
  /** If it does not fit into this tick, the next one resumes it. */
  readonly mayGoOn: boolean;
  /** Where an earlier tick has stopped in it. */
  readonly goneOnFrom?: Cursor | undefined;
}

/** How far back a reading of all days has come. */
export const position = z.object({
  /** Days before this one are still to be read; absent: the start day is not read yet. */
  before: z.optional(plainDay),
  /** Days that the next range should have; less than one while a single day cannot be read. */
  sliceDays: z.optional(z.number().check(z.positive())),
  /** Requests that further reads of ranges may make; from 0 on, a range is left as it is. */
  rereads: z.optional(z.int()),
});

export type Position = Readonly<z.output<typeof position>>;

export type Step =
  | { readonly kind: 'count'; readonly range: DayRange }
  | { readonly kind: 'oldest' }
  /** A search has located a difference among these days: they are due from now on. */
  | { readonly kind: 'located'; readonly days: readonly string[] }
  | ReadStep
  /** These reads are the next ones, and may run at the same time. */
  | { readonly kind: 'together'; readonly steps: readonly ReadStep[] }
  /** The reading has come this far back, which must be saved. */
  | { readonly kind: 'reached'; readonly position: Position };

export interface WorkProgress {
  /** With everything that was read so far. */
  readonly calendar: Calendar;
  /** Where the read of a day or a range resumes that did not fit into one tick. */
  readonly cursor?: Cursor | undefined;
}

/** The answer to a step. Fields that do not belong to its kind are absent. */
export interface StepAnswer extends WorkProgress {
  /** Time is up: nothing more may begin, and a question may have no answer. */
  readonly isTimeUp: boolean;
  readonly requests?: number;
  readonly count?: number;
  readonly oldest?: Temporal.PlainDate | undefined;
  readonly read?: ReadResult | undefined;
  /** How many reads like this one may run at once from now on; absent: one. */
  readonly atOnce?: number;
  /** Rows that the read showed. */
  readonly found?: number;
  /** The days that are due for a look from now on; absent: none. */
  readonly looks?: readonly DueLook[];
}

/**
 * The result of a read.
 *
 * - `done`: all of it is committed and counted.
 * - `left`: it was cut off and can be resumed.
 * - `failed`: a change could not be committed, or the day's count changed between ticks.
 * - `in-vain`: it was cut off, and no day is counted.
 * - `unproven`: it may have overlooked records.
 * - `unanswered`: it showed nothing.
 */
export type ReadResult = 'done' | 'left' | 'failed' | 'in-vain' | 'unproven' | 'unanswered';

/** The days must still be read, and not fewer at a time. */
const isLeft = (read: ReadResult | undefined) =>
  read === 'left' || read === 'failed' || read === 'in-vain';

export interface Work {
  readonly calendar: Calendar;
  /** The partner's count of all days. */
  readonly total: number;
  /** The total differs from the expected one, or an earlier search did not end. */
  readonly differs: boolean;
  /** The days to which an earlier search had narrowed a difference when its time was up. */
  readonly searching?: Searching | undefined;
  readonly cursor?: Cursor | undefined;
  /** First day of the recent window. */
  readonly recentFrom: string;
  /**
   * Requests for days that are due soon, second looks among them, and as many for audits of the
   * history.
   */
  readonly auditRequests: number;
  /**
   * Which kind of work comes first. 0: requests to read. Where a tick may not get to all kinds, it
   * is another number each time.
   */
  readonly turn: number;
  /** The days that are due for a look when the work begins. */
  readonly looks: readonly DueLook[];
  /** How long each day has waited for this kind of read. */
  waited(kind: Kind, calendar: Calendar, looks: readonly DueLook[]): readonly number[];
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
  /**
   * Requests that audits of the history have made. A read that took more may exceed their limit.
   */
  readonly audited: number;
}

/** Whether a tick gets to all kinds of its work: the last one did, and the pace allows it. */
export function hasRoomForAll(
  { dirtySince, cursor }: Pick<WorkProgress, 'cursor'> & AtWork,
  perMinute: number,
): boolean {
  return perMinute >= muchPace && dirtySince === undefined && cursor === undefined;
}

/** The progress of the work, which each answer changes. */
interface Now {
  calendar: Calendar;
  cursor: Cursor | undefined;
  looks: readonly DueLook[];
  isTimeUp: boolean;
}

/** Requests that are left. They are checked before a read, not within one. */
interface Purse {
  requests: number;
}

interface Searched {
  /** Every difference was found, read, committed and counted. */
  readonly isAll: boolean;
  /** The days among which it was broken off. */
  readonly searching?: Searching | undefined;
}

type Working<End> = Generator<Step, End, StepAnswer>;

/**
 * The days that are due, by kind: requests to read, with the search for a difference; the day that
 * did not fit into an earlier tick; days that are due soon, second looks among them; audits of the
 * history. The turn decides which kind comes first. This generator names the next step and gets its
 * answer.
 */
export function* dueWork(work: Work): Working<WorkDone> {
  const { calendar, cursor, looks, auditRequests } = work;
  const now: Now = { calendar, cursor, looks, isTimeUp: false };
  const audits = { requests: auditRequests };
  const kinds = ['search', 'resume', 'soon', 'audit'] as const;
  const first = work.turn % kinds.length;
  let searched: Searched | undefined;
  for (const kind of [...kinds.slice(first), ...kinds.slice(0, first)]) {
    if (now.isTimeUp) break;
    if (kind === 'search') searched = yield* search(work, now);
    else if (kind === 'resume') yield* resume(now);
    else yield* readDue(kind, work, now, kind === 'audit' ? audits : { requests: auditRequests });
  }
  // A search that had no turn stays as it was.
  const { isAll, searching } = searched ?? { isAll: !work.differs, searching: work.searching };
  return {
    isAllLocated: isAll,
    hasSearched: searched !== undefined,
    searching,
    audited: auditRequests - audits.requests,
  };
}

/**
 * Reads requested days first. If none of them is left, it searches for the difference. An earlier
 * search resumes where it was; if that finds something, there may be more elsewhere.
 */
function* search(work: Work, now: Now): Working<Searched> {
  const purse = { requests: Math.max(searchRequests, work.auditRequests) };
  const { searching, differs, total } = work;
  const isAsked = yield* readDue('asked', work, now, purse);
  if (!differs) return { isAll: isAsked };
  if (now.isTimeUp || !isAsked) return { isAll: false, searching };
  const before = now.calendar;
  if (searching !== undefined) {
    const range = {
      first: before.positionOf(searching.from),
      last: before.positionOf(searching.to),
    };
    const goneOn = yield* follow(locateWithin(before, range), work, now, purse);
    if (!goneOn.isAll || now.isTimeUp || now.calendar.total === before.total) return goneOn;
  }
  const recent = now.calendar.positionOf(work.recentFrom);
  return yield* follow(locate(now.calendar, total, recent), work, now, purse);
}

/** Reads the ranges that a search locates. */
function* follow(located: Search, work: Work, now: Now, purse: Purse): Working<Searched> {
  const before = now.calendar;
  let isAll = true;
  let count = 0;
  for (;;) {
    const next = located.next(count);
    if (next.done) return { isAll };
    const { kind, range, within } = next.value;
    const days = before.daysOf(within ?? { first: 0, last: before.days.length });
    const [from = work.recentFrom, to = from] = [days[0], days.at(-1)];
    const brokenOff = { isAll: false, searching: { from, to } };
    if (purse.requests <= 0) return brokenOff;
    if (kind === 'count') {
      purse.requests -= 1;
      ({ count = 0 } = yield* ask(now, { kind, range: before.filterOf(range) }));
    } else {
      const differing = before.daysOf(range);
      yield* ask(now, { kind: 'located', days: differing });
      const isRead = yield* readDue('asked', work, now, purse);
      isAll &&= isRead;
      count = differing.reduce((sum, day) => sum + now.calendar.entry(day).count, 0);
    }
    if (now.isTimeUp) return brokenOff;
  }
}

/**
 * Resumes the day that did not fit into an earlier tick. It takes its share of the time, and leaves
 * the others theirs.
 */
function* resume(now: Now): Working<void> {
  const { day, range } = now.cursor ?? {};
  if (day !== undefined && range !== undefined)
    yield* ask(now, readStep({ days: [day], range }, 'search', now.cursor));
}

/**
 * Reads days as long as any are due and requests are left.
 * @returns whether no due day is left
 */
function* readDue(kind: Kind, work: Work, now: Now, purse: Purse): Working<boolean> {
  let isAll = true;
  for (;;) {
    const { calendar, cursor } = now;
    const range = nextDue(calendar, work.waited(kind, calendar, now.looks));
    if (range === undefined) return isAll;
    if (purse.requests <= 0 || now.isTimeUp) return false;
    const days = { days: calendar.daysOf(range), range: calendar.filterOf(range) };
    const step = readStep(days, kind === 'asked' ? 'search' : 'audit', cursor);
    const { read, requests = 0 } = yield* ask(now, step);
    isAll &&= !isLeft(read);
    now.isTimeUp ||= read === 'in-vain';
    purse.requests -= requests;
  }
}

function* ask(now: Now, step: Step): Working<StepAnswer> {
  const answer = yield step;
  const { calendar, cursor, looks = [], isTimeUp } = answer;
  Object.assign(now, { calendar, cursor, looks, isTimeUp });
  return answer;
}

/**
 * A single day may resume where an earlier tick stopped. One day has the cursor at a time; another
 * has to wait for its turn.
 */
function readStep({ days, range }: Days, purpose: Purpose, cursor: Cursor | undefined): ReadStep {
  const isOneDay = days.length === 1;
  const goneOnFrom = isOneDay && cursor?.day === days[0] ? cursor : undefined;
  return {
    kind: 'read',
    purpose,
    days,
    goneOnFrom,
    range: goneOnFrom?.range ?? range,
    isDivisible: !isOneDay,
    mayGoOn: isOneDay && cursor === goneOnFrom,
  };
}
