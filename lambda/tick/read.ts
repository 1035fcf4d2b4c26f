import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import { type Fate, fatesOf, type Measured, type Telling } from '../decisions/baseline.ts';
import { Calendar, type DayEntry, following } from '../decisions/calendar.ts';
import {
  type Change,
  type Compared,
  type Found,
  type Sighting,
  sightingsOf,
} from '../decisions/compare.ts';
import {
  attributeRest,
  dayEntries,
  entriesAfter,
  type FreshEntries,
  marked,
  movesElsewhere,
  separated,
} from '../decisions/day-entries.ts';
import { isWithin } from '../decisions/days.ts';
import {
  type Answered,
  cursorAfter,
  type Judged,
  judged,
  resultOf,
} from '../decisions/days-read.ts';
import { fingerprintOf } from '../decisions/fingerprint.ts';
import type { PulseRead } from '../decisions/partner-reads.ts';
import { judged as believed } from '../decisions/stored-times.ts';
import { type Returned, rowsOf, withSeen } from '../decisions/twins.ts';
import type {
  Position,
  ReadResult,
  ReadStep,
  StepAnswer,
  WorkProgress,
} from '../decisions/worklist.ts';
import { reachOf } from '../errors.ts';
import type { DayCertification } from '../ports/ledger.ts';
import { announce, record } from './announce.ts';
import { giveBack, type Looked, look } from './looks.ts';
import { compareWithLedger, twinsSeen } from './page.ts';
import type { LeasedParts, Step, TickParts } from './parts.ts';
import { ask, readingDeadline, type Time } from './time.ts';

/** Limit for concurrent look-ups in the index by day: a read can have a hundred days. */
const daysTogether = 16;

/** How the reads of one tick differ from those of others. */
export interface Reading {
  /** They look for missing certifications; those of a baseline do not. */
  readonly looks: boolean;
  readonly telling: Pick<Telling, 'isAnew' | 'isAnnounced' | 'settlingBefore'>;
  /**
   * Saves how far back the baseline has come.
   * @returns `false` if the lease was lost
   */
  keep?(position: Position): Promise<boolean>;
}

/**
 * The ledger's calendar as it is now, with all days of the recent window. A read that lies ahead
 * counts as one of now, and is written so: otherwise its day would wait until the clock is there.
 */
export async function readCalendar(at: LeasedParts): Promise<Calendar> {
  const { ledger, clock, settings, window, lease } = at;
  const { years } = await ledger.state();
  const stored = await ledger.calendar(years);
  const days = believed(stored, clock.now().epochMilliseconds, settings);
  const ahead = [...days].filter(([day, entry]) => entry !== stored.get(day));
  if (ahead.length > 0) await ledger.saveDays(new Map(ahead), lease);
  return new Calendar(days, window.days);
}

/** The result of a read, and the progress after it. */
export type DaysRead = WorkProgress &
  Measured &
  Required<Pick<StepAnswer, 'read' | 'requests' | 'found'>>;

/** The host did not answer for these days, and answered a pulse. */
interface Unanswered {
  readonly error: unknown;
  readonly pulse: PulseRead | 'out-of-time';
}

/** A read from its first request to its last one. Times are milliseconds since the epoch. */
export type ReadUnderWay = Promise<{
  readonly read: Answered | Unanswered;
  readonly begunAt: number;
  readonly endedAt: number;
}>;

/** Begins a read, beside others. The one who awaits it gets its failure. */
export function beginRead(parts: TickParts, time: Time, step: ReadStep): ReadUnderWay {
  const underWay = readAndTimed(parts, time, step);
  underWay.catch(() => undefined);
  return underWay;
}

async function readAndTimed(parts: TickParts, time: Time, step: ReadStep): ReadUnderWay {
  const begunAt = parts.clock.now().epochMilliseconds;
  const read = await proveDays(parts, time, step);
  return { read, begunAt, endedAt: parts.clock.now().epochMilliseconds };
}

/** One request had no answer; the other showed that the host answers at all. */
const unansweredRequests = 2;

/** If the host answers neither for these days nor a pulse, the pulse's failure is thrown. */
async function proveDays(
  { partner, clock }: TickParts,
  time: Time,
  { purpose, range, goneOnFrom }: ReadStep,
): Promise<Answered | Unanswered> {
  try {
    const until = readingDeadline(time, clock.now());
    const read = await partner.prove(range, until, goneOnFrom);
    // Cut off with time left: the pace is used up, and too scarce to read anything twice.
    const isOutOfPace = read.isCutOff && Temporal.Instant.compare(clock.now(), until) < 0;
    return { ...read, isOutOfPace };
  } catch (error) {
    if (reachOf(error) !== 'request' || purpose === 'start') throw error;
    return { error, pulse: await ask(time, (deadline) => partner.pulse(deadline)) };
  }
}

/** A read that could not be divided and had no answer, as one that showed nothing. */
function nothingShown(days: readonly string[], calendar: Calendar, isCutOff: boolean): Answered {
  const count = days.reduce((sum, day) => sum + calendar.entry(day).count, 0);
  const nothing = { assessments: [], quarantined: [], isRead: false, isOutOfPace: false };
  return { ...nothing, count, isCutOff, requests: unansweredRequests };
}

/**
 * The only way in which a tick reads days. The order is: read with proof, compare with the ledger,
 * look for missing certifications, commit and announce, write the calendar.
 *
 * @param underWay its read, which may run beside others; the rest is for one read at a time
 */
export async function* perform(
  at: LeasedParts,
  reading: Reading,
  step: ReadStep,
  before: WorkProgress,
  underWay: ReadUnderWay,
): Step<DaysRead> {
  const { clock } = at;
  const { read, begunAt, endedAt } = await underWay;
  const commitsFrom = clock.now().epochMilliseconds;
  const readMs = endedAt - begunAt;
  const { days, isDivisible } = step;
  yield { is: 'read', days: reading.looks ? days.length : 0 };
  let answered: Answered;
  if ('error' in read) {
    const { error, pulse } = read;
    const details = { from: days[0], to: days.at(-1), error };
    yield { is: 'warned', what: 'days not readable', details };
    const isCutOff = pulse === 'out-of-time';
    if (!isCutOff) yield { is: 'shown', ...pulse };
    if (isDivisible && !isCutOff)
      return { ...(await divided(at, step, before)), readMs, commitMs: 0 };
    answered = nothingShown(days, before.calendar, isCutOff);
  } else answered = read;
  yield { is: 'shown', ...answered };
  const { requests, assessments } = answered;
  const ended = yield* settle(at, reading, before, judged(step, answered, begunAt));
  const commitMs = clock.now().epochMilliseconds - commitsFrom;
  return { ...ended, requests, found: assessments.length, readMs, commitMs };
}

/** Days without an answer are read again, fewer at a time. */
async function divided(at: LeasedParts, { purpose, days }: ReadStep, before: WorkProgress) {
  const { calendar, cursor } = before;
  const nothing = { read: 'unanswered', requests: unansweredRequests, found: 0 } as const;
  // A divided range is read from its beginning.
  if (purpose === 'baseline') return { ...nothing, calendar, cursor: undefined };
  const apart = separated(new Map(days.map((day) => [day, calendar.entry(day)])), days);
  return { ...nothing, cursor, calendar: await save(at, calendar, apart, []) };
}

async function* settle(
  at: LeasedParts,
  reading: Reading,
  { calendar: known, cursor }: WorkProgress,
  read: Judged,
): Step<WorkProgress & Pick<DaysRead, 'read'>> {
  const { step, begunAt } = read;
  const assessments = rowsOf(read, (yield).twins);
  const shown = dayEntries(step.days, { ...read, assessments }, begunAt, at.state.salt);
  const fresh = read.isUnproven ? attributeRest(shown, step.days, read) : shown;
  const { sightings, unseen, older } = yield* differences(at, reading, [...fresh.keys()], read);
  const looked = yield* lookedAt(at, reading, read, known, fresh, unseen);
  const committed = yield* commit(at, reading, read, sightings, looked, known);
  // After a cut, some of it is uncommitted. A baseline range that takes several ticks has no day
  // that was read whole, so audits prove its days. One that is read again has none, either.
  const { isCutShort } = (yield { is: 'boundary' }).time;
  const result = resultOf(read, committed.hasFailed);
  const isLeftUnread = result === 'unproven' && !step.isDivisible;
  const isUncounted = read.isFirstReading
    ? isCutShort || read.isInVain || !(isLeftUnread || (result === 'done' && !read.isInParts))
    : isCutShort && !read.isInVain;
  const kept = isUncounted
    ? new Map()
    : entriesOf(at, reading, read, result, { ...committed, fresh, older }, known);
  const calendar = await save(at, known, kept, committed.changes);
  return isCutShort && result !== 'in-vain'
    ? { calendar, cursor, read: 'left' }
    : { calendar, cursor: cursorAfter(read, result, cursor), read: result };
}

interface CommittedChanges {
  readonly changes: readonly Change[];
  readonly hasFailed: boolean;
  /** By proven day, with those whose withdrawal was not committed. */
  readonly missing: Looked['missing'];
}

async function* commit(
  at: LeasedParts,
  { telling }: Reading,
  { step, isFirstReading, isRead, proof }: Judged,
  sightings: readonly Sighting[],
  looked: Looked,
  calendar: Calendar,
): Step<CommittedChanges> {
  const { failures } = yield;
  const found: Found = {
    in: isFirstReading ? 'baseline' : step.purpose === 'audit' ? 'audit' : 'search',
    ...(proof && { proof }),
  };
  const fates = fatesOf(sightings, { ...telling, purpose: step.purpose, isRead, calendar });
  const withFate = (fate: Fate) => sightings.filter((sighting) => fates.get(sighting) === fate);
  const silent = withFate('history');
  yield* record(at, silent);
  const changes: readonly Change[] = [
    ...silent,
    ...(yield* announce(at, [...withFate('news'), ...looked.sightings], found)),
    ...(yield* announce(at, withFate('doubtful'), { ...found, reason: 'baseline' })),
    ...(yield* announce(at, looked.withdrawals, found)),
  ];
  const gone = new Set(changes.filter(({ kind }) => kind === 'withdrawn').map(({ id }) => id));
  const uncommitted = looked.withdrawals.filter((change) => !gone.has(change.id));
  const staying = yield* giveBack(at, uncommitted);
  const missing = new Map(looked.missing);
  for (const { before } of staying) missing.set(before.day, (missing.get(before.day) ?? 0) + 1);
  return { changes, hasFailed: (yield).failures > failures, missing };
}

function entriesOf(
  { settings }: LeasedParts,
  { telling }: Reading,
  read: Judged,
  result: ReadResult,
  {
    fresh,
    missing: lacking,
    changes,
    older,
  }: CommittedChanges & Pick<Differences, 'older'> & { readonly fresh: FreshEntries },
  calendar: Calendar,
): FreshEntries {
  const counted = new Map(
    [...fresh].map(([day, entry]): [string, DayEntry] => {
      const missing = lacking.get(day);
      return [day, missing === undefined ? entry : { ...entry, missing }];
    }),
  );
  const isJoint = read.step.isDivisible && !read.isFirstReading;
  const of = { entries: counted, isJoint };
  const after = entriesAfter(result, of, changes, calendar, read.begunAt);
  const isApart = isJoint && result !== 'done';
  const apart = isApart ? separated(after, read.step.days) : after;
  const { isAnew } = telling;
  const { withdrawAfterMs } = settings;
  const kept = marked(apart, result, read, changes, { isAnew, withdrawAfterMs }, calendar);
  const dueAgain = older.flatMap(({ day, until: dueAt }): [string, DayEntry][] => {
    const entry = kept.get(day);
    return entry ? [[day, { ...entry, dueAt }]] : [];
  });
  return new Map([...kept, ...dueAgain]);
}

interface Differences {
  readonly sightings: readonly Sighting[];
  /** By day: ids that the index has there and the read showed on none of its days. */
  readonly unseen: ReadonlyMap<string, readonly number[]>;
  readonly older: Compared['older'];
}

/**
 * Only rows that differ from the index are looked up whole. A baseline skips the index, so it looks
 * up all rows.
 */
async function* differences(
  at: LeasedParts,
  { telling }: Reading,
  days: readonly string[],
  read: Judged,
): Step<Differences> {
  const { ledger, settings, state } = at;
  const { step, isRead, isFirstReading, isInParts } = read;
  const { assessments, others = [], quarantined, proof, begunAt } = read;
  const { twins: before } = yield;
  const isProven = (day: string) => proof !== undefined && isWithin(day, step.range);
  const isWhole = (day: string, isSure: boolean) =>
    isSure ? isProven(day) : isRead && isWithin(day, step.range);
  const unsure = yield* twinsSeen(at, { assessments, others }, isWhole);
  const { twinsEnded } = yield;
  const indexed = new Map<string, ReadonlyMap<number, DayCertification>>();
  const lookUp = async (day: string) => indexed.set(day, await ledger.knownOfDay(day));
  if (!isFirstReading) await pMap(days, lookUp, { concurrency: daysTogether });
  const different = assessments.filter((row) => {
    const known = indexed.get(row.certified_on)?.get(row.id);
    return (
      known?.presence !== 'present' || known.fingerprint !== fingerprintOf(row, state.salt).whole
    );
  });
  // Ids of all days of the read: a certification that moved among them is a sighting, not missing.
  const seen = new Set([...assessments, ...quarantined].flatMap(({ id = [] }) => id));
  const unseen = [...indexed].map(([day, ofDay]) => {
    const present = [...ofDay].filter(([, { presence }]) => presence === 'present');
    return [day, present.map(([id]) => id).filter((id) => !seen.has(id))] as const;
  });
  const rows = [...different, ...others.filter(({ id }) => unsure.has(id))];
  // A silent record takes one of its rows, without a request.
  const isAsked = ({ assessment }: Sighting) =>
    !isFirstReading || telling.isAnew || telling.isAnnounced(assessment.certified_on);
  // A true edit that is undone is told once the days are seen whole.
  const isAlone = ({ id, days }: Returned) => twinsEnded.has(id) || days.every(isProven);
  const compared = yield* compareWithLedger(at, rows, unsure, isAlone, isAsked);
  const isSilent = isFirstReading && (isInParts || !telling.isAnew);
  const { sightings, unlike } = sightingsOf(compared.changes, isSilent);
  const { twins } = yield { is: 'twins', twins: withSeen((yield).twins, unlike) };
  // An edit amid this read, or a record that is there twice: another read tells.
  const known = new Set(before.map(({ id }) => id));
  const fresh = twins.filter(({ id, isSure }) => !isSure && !known.has(id));
  const until = begunAt + settings.withdrawAfterMs;
  const again = [...fresh, ...compared.returned].flatMap(({ days }) =>
    days.map((day) => ({ day, until })),
  );
  return { sightings, older: [...compared.older, ...again], unseen: new Map(unseen) };
}

/**
 * Missing certifications by day. After a baseline, the first look notes those that the baseline
 * lacked.
 */
async function* lookedAt(
  at: LeasedParts,
  { looks }: Reading,
  { assessments, begunAt }: Judged,
  calendar: Calendar,
  fresh: FreshEntries,
  unseen: Differences['unseen'],
): Step<Looked> {
  if (!looks) {
    const missing = new Map([...fresh.keys()].map((day) => [day, 0]));
    return { missing, sightings: [], withdrawals: [] };
  }
  // Without a proof, a day's count says nothing about how many are there.
  const proven = new Map([...fresh].filter(([, { proof }]) => proof !== undefined));
  const lacking = [...unseen].filter(([day]) => proven.has(day));
  const seen = new Set(assessments.map(({ id }) => id));
  const read = { beganAt: begunAt, seen, unseen: new Map(lacking) };
  const looked = yield* look(at, read, calendar, calendar.with(proven));
  // An unproven read may overlook certifications, but those that it shows are there.
  const fewer = [...unseen]
    .map(([day, { length }]) => [day, length] as const)
    .filter(([day, length]) => (calendar.entry(day).missing ?? 0) > length);
  return { ...looked, missing: new Map([...fewer, ...looked.missing]) };
}

/**
 * A new day is touched before its entry is written: after a crash, the calendar could otherwise have
 * its month and not its year.
 */
async function save(
  { ledger, lease }: LeasedParts,
  calendar: Calendar,
  entries: ReadonlyMap<string, DayEntry>,
  changes: readonly Change[],
): Promise<Calendar> {
  const followed = [...entries].map(
    ([day, entry]) => [day, following(calendar.entry(day), entry)] as const,
  );
  const elsewhere = movesElsewhere(changes, entries, calendar);
  const changed = new Map([...followed, ...elsewhere]);
  await ledger.touch([...changed.keys()].filter((day) => calendar.entry(day).readAt === 0));
  await ledger.saveDays(changed, lease);
  return calendar.with(changed);
}
