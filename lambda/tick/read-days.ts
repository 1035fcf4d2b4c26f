import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import {
  type Fate,
  fatesOf,
  type Measured,
  type Position,
  type Telling,
} from '../decisions/baseline.ts';
import { Calendar, type DayEntry, following } from '../decisions/calendar.ts';
import type { Change, Compared, Found, Sighting } from '../decisions/compare.ts';
import {
  attributeRest,
  dayEntries,
  entriesAfter,
  type FreshEntries,
  marked,
  movesElsewhere,
  separated,
} from '../decisions/day-entries.ts';
import { isWithin, type RecentWindow } from '../decisions/days.ts';
import {
  type Answered,
  cursorAfter,
  type Judged,
  judged,
  resultOf,
} from '../decisions/days-read.ts';
import { fingerprintOf } from '../decisions/fingerprint.ts';
import { judged as believed } from '../decisions/stored-times.ts';
import { type Returned, rowsOf } from '../decisions/twins.ts';
import type { ReadResult, ReadStep, StepAnswer, WorkProgress } from '../decisions/worklist.ts';
import { reachOf } from '../errors.ts';
import type { DayCertification } from '../ports/ledger.ts';
import type { Lease, LeasedState } from '../ports/state.ts';
import type { Announcement } from './announcement.ts';
import type { Looked, Looks } from './looks.ts';
import { compareWithLedger } from './page.ts';
import type { LeasedContext, StepContext, TickParts } from './parts.ts';
import type { SeenTwins } from './twins.ts';

/** Limit for concurrent look-ups in the index by day: a read can have a hundred days. */
const daysTogether = 16;

export interface ReadingContext extends LeasedContext {
  readonly state: Pick<LeasedState, 'salt' | 'rules'>;
  readonly announcement: Announcement;
  readonly twins: SeenTwins;
  /** Looks for missing certifications; a baseline has none. */
  readonly looks?: Looks;
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
export async function readCalendar(
  {
    ledger,
    clock,
    settings,
  }: Pick<TickParts, 'clock' | 'settings'> & {
    readonly ledger: Pick<TickParts['ledger'], 'state' | 'calendar' | 'saveDays'>;
  },
  window: RecentWindow,
  lease: Lease,
): Promise<Calendar> {
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

/** A read from its first request to its last one. Times are milliseconds since the epoch. */
export type ReadUnderWay = Promise<{
  readonly read: Answered | 'unanswered';
  readonly begunAt: number;
  readonly endedAt: number;
}>;

/** Begins a read, beside others. The one who awaits it gets its failure. */
export function beginRead(context: Proving, step: ReadStep, calendar: Calendar): ReadUnderWay {
  const underWay = readAndTimed(context, step, calendar);
  underWay.catch(() => undefined);
  return underWay;
}

async function readAndTimed(context: Proving, step: ReadStep, calendar: Calendar): ReadUnderWay {
  const { clock } = context.parts;
  const begunAt = clock.now().epochMilliseconds;
  const read = await proveDays(context, step, calendar);
  return { read, begunAt, endedAt: clock.now().epochMilliseconds };
}

/**
 * The only way in which a tick reads days. The order is: read with proof, compare with the ledger,
 * look for missing certifications, commit and announce, write the calendar.
 *
 * @param underWay its read, if that runs beside others; the rest is for one read at a time
 */
export async function readDays(
  context: ReadingContext,
  step: ReadStep,
  before: WorkProgress,
  underWay = beginRead(context, step, before.calendar),
): Promise<DaysRead> {
  const { clock } = context.parts;
  const { read, begunAt, endedAt } = await underWay;
  const commitsFrom = clock.now().epochMilliseconds;
  const done = await performed(context, step, before, read, begunAt);
  const commitMs = clock.now().epochMilliseconds - commitsFrom;
  return { ...done, readMs: endedAt - begunAt, commitMs };
}

async function performed(
  context: ReadingContext,
  step: ReadStep,
  before: WorkProgress,
  read: Answered | 'unanswered',
  begunAt: number,
): Promise<Omit<DaysRead, 'readMs' | 'commitMs'>> {
  const { calendar, cursor } = before;
  const nothing = { calendar, cursor, found: 0 };
  if (read === 'unanswered') {
    const requests = unansweredRequests;
    // A divided range is read from its beginning.
    if (step.purpose === 'baseline') return { ...nothing, read, cursor: undefined, requests };
    const asItWas = new Map(step.days.map((day) => [day, calendar.entry(day)]));
    const apart = separated(asItWas, step.days);
    return { ...nothing, read, requests, calendar: await save(context, calendar, apart, []) };
  }
  const settled = await settle(context, before, judged(step, read, begunAt));
  const { assessments, requests } = read;
  return { ...nothing, requests, found: assessments.length, ...settled };
}

/** One request had no answer; the other showed that the host answers at all. */
const unansweredRequests = 2;

interface Proving extends Pick<StepContext, 'limit'> {
  readonly parts: Pick<TickParts, 'partner' | 'journal' | 'clock'>;
}

/**
 * If the host answers a pulse but not for these days, the read counts as one that showed nothing.
 */
async function proveDays(
  { parts, limit }: Proving,
  { purpose, days, range, isDivisible, goneOnFrom }: ReadStep,
  calendar: Calendar,
): Promise<Answered | 'unanswered'> {
  try {
    const until = limit.readingDeadline;
    const read = await parts.partner.prove(range, until, goneOnFrom);
    // Cut off with time left: the pace is used up, and too scarce to read anything twice.
    const isOutOfPace = read.isCutOff && Temporal.Instant.compare(parts.clock.now(), until) < 0;
    return { ...read, isOutOfPace };
  } catch (error) {
    if (reachOf(error) !== 'request' || purpose === 'start') throw error;
    const pulse = await limit.ask((deadline) => parts.partner.pulse(deadline));
    parts.journal.warn('days not readable', { from: days[0], to: days.at(-1), error });
    const isCutOff = pulse === 'out-of-time';
    if (isDivisible && !isCutOff) return 'unanswered';
    const count = days.reduce((sum, day) => sum + calendar.entry(day).count, 0);
    const nothing = { assessments: [], quarantined: [], isRead: false, isOutOfPace: false };
    return { ...nothing, count, isCutOff, requests: unansweredRequests };
  }
}

type Settled = Partial<WorkProgress> & Pick<DaysRead, 'read'>;

async function settle(
  context: ReadingContext,
  before: WorkProgress,
  read: Judged,
): Promise<Settled> {
  const { limit, state } = context;
  const { step, isUnproven, begunAt } = read;
  const assessments = rowsOf(read, context.twins.now);
  const fresh = dayEntries(step.days, { ...read, assessments }, begunAt, state.salt);
  if (isUnproven) attributeRest(fresh, step.days, read);
  const seen = await differences(context, [...fresh.keys()], read);
  const looked = await lookedAt(context, read, before, fresh, seen.unseen);
  const committed = await commit(context, read, seen.sightings, looked, before.calendar);
  // After a cut, some of it is uncommitted. A baseline range that takes several ticks has no day
  // that was read whole, so audits prove its days. One that is read again has none, either.
  const isCutShort = limit.noteIfReached();
  const result = resultOf(read, committed.hasFailed);
  const isLeftUnread = result === 'unproven' && !step.isDivisible;
  const isUncounted = read.isFirstReading
    ? isCutShort || read.isInVain || !(isLeftUnread || (result === 'done' && !read.isInParts))
    : isCutShort && !read.isInVain;
  const kept = isUncounted
    ? new Map()
    : entriesOf(context, read, result, { fresh, ...committed, older: seen.older }, before.calendar);
  const isAsIs = isCutShort && result !== 'in-vain';
  return {
    calendar: await save(context, before.calendar, kept, committed.done),
    read: isAsIs ? 'left' : result,
    cursor: isAsIs ? before.cursor : cursorAfter(read, result, before.cursor),
  };
}

interface CommittedChanges {
  readonly done: readonly Change[];
  readonly hasFailed: boolean;
  /** By proven day, with those whose withdrawal was not committed. */
  readonly missing: Looked['missing'];
}

async function commit(
  context: ReadingContext,
  { step, isFirstReading, isRead, proof }: Judged,
  sightings: readonly Sighting[],
  looked: Looked,
  calendar: Calendar,
): Promise<CommittedChanges> {
  const { announcement, looks, telling } = context;
  const found: Found = {
    in: isFirstReading ? 'baseline' : step.purpose === 'audit' ? 'audit' : 'search',
    ...(proof && { proof }),
  };
  const { failures } = announcement.now;
  const fates = fatesOf(sightings, { ...telling, purpose: step.purpose, isRead, calendar });
  const withFate = (fate: Fate) => sightings.filter((sighting) => fates.get(sighting) === fate);
  const silent = withFate('history');
  await announcement.record(silent);
  const done: readonly Change[] = [
    ...silent,
    ...(await announcement.announce([...withFate('news'), ...looked.sightings], found)),
    ...(await announcement.announce(withFate('doubtful'), { ...found, reason: 'baseline' })),
    ...(await announcement.announce(looked.withdrawals, found)),
  ];
  const gone = new Set(done.filter(({ kind }) => kind === 'withdrawn').map(({ id }) => id));
  const uncommitted = looked.withdrawals.filter((change) => !gone.has(change.id));
  const missing = new Map(looked.missing);
  for (const { before } of (await looks?.giveBack(uncommitted)) ?? [])
    missing.set(before.day, (missing.get(before.day) ?? 0) + 1);
  return { done, hasFailed: announcement.now.failures > failures, missing };
}

function entriesOf(
  { parts: { settings }, telling }: ReadingContext,
  read: Judged,
  result: ReadResult,
  {
    fresh,
    missing: lacking,
    done,
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
  const after = entriesAfter(result, of, done, calendar, read.begunAt);
  const isApart = isJoint && result !== 'done';
  const apart = isApart ? separated(after, read.step.days) : after;
  const { isAnew } = telling;
  const { withdrawAfterMs } = settings;
  const kept = marked(apart, result, read, done, { isAnew, withdrawAfterMs }, calendar);
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
async function differences(
  context: ReadingContext,
  days: readonly string[],
  {
    step,
    assessments,
    others = [],
    quarantined,
    proof,
    begunAt,
    isFirstReading,
    isInParts,
  }: Judged,
): Promise<Differences> {
  const { parts, state, twins, telling } = context;
  const { ledger, settings } = parts;
  const known = new Set(twins.now.map(({ id }) => id));
  const isProven = (day: string) => proof !== undefined && isWithin(day, step.range);
  const unsure = twins.of({ assessments, others }, isProven);
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
  const isAlone = ({ id, days }: Returned) => twins.hasEnded(id) || days.every(isProven);
  const compared = await compareWithLedger(context, rows, unsure, isAlone, isAsked);
  // An edit amid this read, or a record that is there twice: another read tells.
  const fresh = twins.now.filter(({ id, isSure }) => !isSure && !known.has(id));
  const until = begunAt + settings.withdrawAfterMs;
  const again = [...fresh, ...compared.returned].flatMap(({ days }) =>
    days.map((day) => ({ day, until })),
  );
  const older = [...compared.older, ...again];
  // Another part of the range may have another row of the same id: audits find edits.
  const isOne = !(isFirstReading && isInParts);
  const sightings = compared.changes.filter(({ kind }) => isOne || kind !== 'updated');
  return { sightings, older, unseen: new Map(unseen) };
}

/**
 * Missing certifications by day. After a baseline, the first look notes those that the baseline
 * lacked.
 */
async function lookedAt(
  { looks }: ReadingContext,
  { assessments, begunAt }: Judged,
  { calendar }: WorkProgress,
  fresh: FreshEntries,
  unseen: Differences['unseen'],
): Promise<Looked> {
  if (looks === undefined) {
    const missing = new Map([...fresh.keys()].map((day) => [day, 0]));
    return { missing, sightings: [], withdrawals: [] };
  }
  const proven = [...unseen].filter(([day]) => fresh.get(day)?.proof !== undefined);
  const seen = new Set(assessments.map(({ id }) => id));
  const looked = await looks.look(
    { beganAt: begunAt, seen, unseen: new Map(proven) },
    calendar,
    calendar.with(fresh),
  );
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
  { parts, lease }: ReadingContext,
  calendar: Calendar,
  entries: ReadonlyMap<string, DayEntry>,
  done: readonly Change[],
): Promise<Calendar> {
  const followed = [...entries].map(
    ([day, entry]) => [day, following(calendar.entry(day), entry)] as const,
  );
  const elsewhere = movesElsewhere(done, entries, calendar);
  const changed = new Map([...followed, ...elsewhere]);
  await parts.ledger.touch([...changed.keys()].filter((day) => calendar.entry(day).readAt === 0));
  await parts.ledger.saveDays(changed, lease);
  return calendar.with(changed);
}
