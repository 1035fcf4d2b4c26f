import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { Cursor, State } from '../ports/state.ts';
import type { Position } from './baseline.ts';
import type { Calendar } from './calendar.ts';
import type { DayRange } from './days.ts';
import { type Kind, nextDue } from './due.ts';
import { type locate, locateWithin, type Search } from './locate.ts';

/** Requests that a tick's search for a difference may make, and its reading of what does not fit into one tick. */
const searchRequests = 100;
/** With so many requests a minute, a tick comes to all of its work. */
const muchPace = 300;

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
  /** Where an earlier tick has stopped in it. */
  readonly goneOnFrom?: Cursor | undefined;
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

/** How far the reading has come. */
export interface Progress {
  /** As it stands now. */
  readonly calendar: Calendar;
  /** Where a day or a range goes on that did not fit into one tick. */
  readonly cursor?: Cursor | undefined;
}

/** What has come of a step. What does not belong to its kind is absent. */
export interface Answer extends Progress {
  /** Time is up: nothing more is to be begun, and a question may have no answer. */
  readonly isTimeUp: boolean;
  readonly requests?: number;
  readonly count?: number;
  readonly oldest?: Temporal.PlainDate | undefined;
  readonly read?: ReadResult | undefined;
  /** Rows that the read showed. */
  readonly found?: number;
}

/**
 * What has come of a read. `done`: all of it is committed and counted. `left`: it was cut off and can be gone on with.
 * `failed`: something could not be committed. `in-vain`: cut off, and no day is counted. `unproven`: what was not seen
 * may be there. `unanswered`: nothing was seen.
 */
export type ReadResult = 'done' | 'left' | 'failed' | 'in-vain' | 'unproven' | 'unanswered';

/** The days are still to be read, and not in smaller parts. */
const isLeft = (read: ReadResult | undefined) =>
  read === 'left' || read === 'failed' || read === 'in-vain';

export interface Work {
  readonly calendar: Calendar;
  /** What the partner counts altogether. */
  readonly total: number;
  /** The total differs from what is expected, or an earlier search has come to no end. */
  readonly differs: boolean;
  /** To which days an earlier search had narrowed a difference when its time was up. */
  readonly searching?: Searching | undefined;
  readonly cursor?: Cursor | undefined;
  /** First day of the recent window. */
  readonly recentFrom: string;
  /** Requests that second looks may make, and as many those of audits. */
  readonly auditRequests: number;
  /** Which kind of work comes first: 0, what was asked for; where a tick may not come to all, another number each time. */
  readonly turn: number;
  /** How long each day has waited to be read for this. */
  waited(kind: Kind, calendar: Calendar): readonly number[];
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
  { dirtySince, cursor }: Pick<State, 'dirtySince' | 'cursor'>,
  perMinute: number,
): boolean {
  return perMinute >= muchPace && dirtySince === undefined && cursor === undefined;
}

/** How far the work has come: each answer changes it. */
interface Now {
  calendar: Calendar;
  cursor: Cursor | undefined;
  isTimeUp: boolean;
}

/** Requests that are left. It is looked at before a read, not within one. */
interface Purse {
  requests: number;
}

interface Searched {
  /** All that differed was found, read, committed and counted. */
  readonly isAll: boolean;
  /** It was broken off here. */
  readonly searching?: Searching | undefined;
}

type Working<End> = Generator<Step, End, Answer>;

/**
 * The days that are due: those that were asked for, with the search for a difference; the day that did not fit into an
 * earlier tick; second looks and what is read again soon; audits of the history. By its turn, another kind comes first.
 * A generator that is asked for the next step and is told what came of it.
 */
export function* dueWork(work: Work): Working<WorkDone> {
  const { calendar, cursor, auditRequests } = work;
  const now: Now = { calendar, cursor, isTimeUp: false };
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
  // What had no turn goes on as it was.
  const { isAll, searching } = searched ?? { isAll: !work.differs, searching: work.searching };
  return {
    isAllLocated: isAll,
    hasSearched: searched !== undefined,
    searching,
    audited: auditRequests - audits.requests,
  };
}

/**
 * What was asked for; and if nothing is left of it, what differs is searched for. An earlier search goes on where it was;
 * when that has found something, there may be more elsewhere.
 */
function* search(work: Work, now: Now): Working<Searched> {
  const purse = { requests: Math.max(searchRequests, work.auditRequests) };
  const { searching, differs, total, rules } = work;
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
  return yield* follow(rules.locate(now.calendar, total, recent), work, now, purse);
}

/** Reads what a search locates. */
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

/** The day that did not fit into an earlier tick. It has its share of the time, and leaves the others theirs. */
function* resume(now: Now): Working<void> {
  const { day, range } = now.cursor ?? {};
  if (day !== undefined && range !== undefined)
    yield* ask(now, readStep({ days: [day], range }, 'search', now.cursor));
}

/** Reads days as long as any are due and there are requests for them. @returns whether none is left */
function* readDue(kind: Kind, work: Work, now: Now, purse: Purse): Working<boolean> {
  let isAll = true;
  for (;;) {
    const { calendar, cursor } = now;
    const range = nextDue(calendar, work.waited(kind, calendar));
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

function* ask(now: Now, step: Step): Working<Answer> {
  const answer = yield step;
  const { calendar, cursor, isTimeUp } = answer;
  Object.assign(now, { calendar, cursor, isTimeUp });
  return answer;
}

/** A single day may go on where an earlier tick stopped; one at a time: another has to wait for its turn. */
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
