import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import type { Position } from '../detection/baseline.ts';
import { Calendar, type DayEntry, following } from '../detection/calendar.ts';
import type { Change, Compared, Found, Sighting } from '../detection/compare.ts';
import { dayEntries, entriesAfter, type FreshEntries } from '../detection/day-entries.ts';
import type { RecentWindow } from '../detection/days.ts';
import {
  type Answered,
  cursorAfter,
  type Judged,
  judged,
  resultOf,
} from '../detection/days-read.ts';
import { fingerprintOf } from '../detection/fingerprint.ts';
import type { Answer, Progress, ReadResult, ReadStep } from '../detection/worklist.ts';
import { reachOf } from '../errors.ts';
import type { DayCertification } from '../ports/ledger.ts';
import type { RangeRead } from '../ports/partner-reader.ts';
import type { Announcement } from './announcement.ts';
import type { Looked, Looks } from './looks.ts';
import { compareWithLedger } from './page.ts';
import type { StepContext, TickParts } from './parts.ts';

/** Days that are looked up in the index by day at the same time: a read can have a hundred. */
const daysTogether = 16;

export interface ReadingContext extends StepContext {
  readonly salt: string;
  readonly announcement: Announcement;
  /** For what has gone; the first reading has none. */
  readonly looks?: Looks;
  /** Whether subscribers are told of it, or it is recorded silently. */
  isNews(sighting: Sighting): boolean;
  /** So far back has the first reading come. */
  keep?(position: Position): Promise<unknown>;
}

/** As the ledger has it now, the days of the recent window included. */
export async function readCalendar(
  ledger: Pick<TickParts['ledger'], 'state' | 'calendar'>,
  window: RecentWindow,
): Promise<Calendar> {
  const { years } = await ledger.state();
  return new Calendar(await ledger.calendar(years), window.days);
}

/** What has come of a read, and how far the reading has come by it. */
export type DaysRead = Progress & Required<Pick<Answer, 'read' | 'requests' | 'found'>>;

/**
 * The only way in which a tick reads days: asked for with proof, compared with the ledger, looked through for what is
 * missing, committed and announced, and written into the calendar, in this order.
 */
export async function readDays(
  context: ReadingContext,
  step: ReadStep,
  before: Progress,
): Promise<DaysRead> {
  const { parts } = context;
  const begunAt = parts.clock.now().epochMilliseconds;
  const read = await prove(context, step, before.calendar);
  const { calendar, cursor } = before;
  const nothing = { calendar, cursor, found: 0 };
  if (read === 'unanswered') {
    const requests = unansweredRequests;
    // A range that is divided is read from its beginning.
    if (step.purpose === 'baseline') return { ...nothing, read, cursor: undefined, requests };
    const asItWas = new Map(step.days.map((day) => [day, calendar.entry(day)]));
    const apart = parts.rules.separated(asItWas, step.days);
    return { ...nothing, read, requests, calendar: await save(context, calendar, apart, []) };
  }
  const settled = await settle(
    context,
    before,
    judged(parts.rules.isReadCounted, step, read, begunAt),
  );
  const { assessments, requests } = read;
  return { ...nothing, requests, found: assessments.length, ...settled };
}

/** One request was not answered; another one showed that the host answers at all. */
const unansweredRequests = 2;

interface Proving extends Pick<StepContext, 'limit'> {
  readonly parts: Pick<TickParts, 'partner' | 'journal' | 'clock'>;
}

/** Days that the host cannot answer for are days of which nothing was seen, as long as it answers at all. */
export async function prove(
  { parts, limit }: Proving,
  { purpose, days, range, isDivisible, goneOnFrom }: ReadStep,
  calendar: Calendar,
): Promise<Answered | 'unanswered'> {
  try {
    const until = limit.readingDeadline;
    const read = await parts.partner.prove(range, until, goneOnFrom);
    // With time left it was the pace, which is too dear to read anything twice.
    const isOutOfPace = read.isCutOff && Temporal.Instant.compare(parts.clock.now(), until) < 0;
    return { ...read, isOutOfPace };
  } catch (error) {
    if (reachOf(error) !== 'request' || purpose === 'start') throw error;
    const pulse = await limit.ask((deadline) => parts.partner.pulse(deadline));
    parts.journal.warn('days not to be read', { from: days[0], to: days.at(-1), error });
    const isCutOff = pulse === 'out-of-time';
    if (isDivisible && !isCutOff) return 'unanswered';
    const count = days.reduce((sum, day) => sum + calendar.entry(day).count, 0);
    const nothing = { assessments: [], quarantined: [], isOutOfPace: false };
    return { ...nothing, count, isCutOff, requests: unansweredRequests };
  }
}

type Settled = Partial<Progress> & Pick<DaysRead, 'read'>;

/** Compared, committed and written down. */
async function settle(context: ReadingContext, before: Progress, read: Judged): Promise<Settled> {
  const { parts, limit, salt } = context;
  const { step, isUnproven, begunAt } = read;
  const fresh = dayEntries(step.days, read, begunAt, salt);
  if (isUnproven) parts.rules.attributeRest(fresh, step.days, read);
  const seen = await differences(context, [...fresh.keys()], read, read.isFirstReading);
  const looked = await lookedAt(context, read, before, fresh, seen.unseen);
  const committed = await commit(context, read, seen.sightings, looked);
  // Cut short, not all of it was committed. Where the first reading takes several ticks for a range, no day of it is
  // read whole: audits prove them.
  const isCutShort = limit.noteIfReached();
  const result = resultOf(read, committed.hasFailed);
  const isUncounted = read.isFirstReading
    ? isCutShort || read.isInParts || read.isInVain
    : isCutShort && !read.isInVain;
  const kept = isUncounted
    ? new Map()
    : entriesOf(parts, read, result, { fresh, ...committed, older: seen.older }, before.calendar);
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
  /** By proven day, those that were to be withdrawn, and are not, included. */
  readonly missing: Looked['missing'];
}

async function commit(
  context: ReadingContext,
  { step, isFirstReading, proof }: Judged,
  sightings: readonly Sighting[],
  looked: Looked,
): Promise<CommittedChanges> {
  const { announcement, looks } = context;
  const found: Found = {
    in: isFirstReading ? 'baseline' : step.purpose === 'audit' ? 'audit' : 'search',
    ...(proof && { proof }),
  };
  const { failures } = announcement.now;
  const silent = sightings.filter((sighting) => !context.isNews(sighting));
  const news = sightings.filter((sighting) => context.isNews(sighting));
  await announcement.record(silent);
  const done: readonly Change[] = [
    ...silent,
    ...(await announcement.announce([...news, ...looked.sightings], found)),
    ...(await announcement.announce(looked.withdrawals, found)),
  ];
  const gone = new Set(done.filter(({ kind }) => kind === 'withdrawn').map(({ id }) => id));
  const uncommitted = looked.withdrawals.filter((change) => !gone.has(change.id));
  const missing = new Map(looked.missing);
  for (const { before } of (await looks?.giveBack(uncommitted)) ?? [])
    missing.set(before.day, (missing.get(before.day) ?? 0) + 1);
  return { done, hasFailed: announcement.now.failures > failures, missing };
}

/** What the calendar has of the days then. */
function entriesOf(
  { rules }: Pick<TickParts, 'rules'>,
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
  const kept = isApart ? rules.separated(after, read.step.days) : after;
  const dueAgain = older.flatMap(({ day, until: dueAt }): [string, DayEntry][] => {
    const entry = kept.get(day);
    return entry ? [[day, { ...entry, dueAt }]] : [];
  });
  return new Map([...kept, ...dueAgain]);
}

interface Differences {
  readonly sightings: readonly Sighting[];
  /** By day: what the index has there and the read did not show on any of its days. */
  readonly unseen: ReadonlyMap<string, readonly number[]>;
  readonly older: Compared['older'];
}

/** Only rows that the index does not know as they are are looked up whole; a first reading knows none. */
async function differences(
  { parts, salt }: ReadingContext,
  days: readonly string[],
  { assessments, quarantined }: RangeRead,
  isFirstReading: boolean,
): Promise<Differences> {
  const { ledger } = parts;
  const indexed = new Map<string, ReadonlyMap<number, DayCertification>>();
  const lookUp = async (day: string) => indexed.set(day, await ledger.knownOfDay(day));
  if (!isFirstReading) await pMap(days, lookUp, { concurrency: daysTogether });
  const different = assessments.filter((row) => {
    const known = indexed.get(row.certified_on)?.get(row.id);
    return known?.presence !== 'present' || known.fingerprint !== fingerprintOf(row, salt).whole;
  });
  // Of all days that were read: one that moved among them is a sighting, and not missing.
  const seen = new Set([...assessments, ...quarantined].flatMap(({ id = [] }) => id));
  const unseen = [...indexed].map(([day, ofDay]) => {
    const present = [...ofDay].filter(([, { presence }]) => presence === 'present');
    return [day, present.map(([id]) => id).filter((id) => !seen.has(id))] as const;
  });
  const { changes, older } = await compareWithLedger(parts, different, salt);
  return { sightings: changes, older, unseen: new Map(unseen) };
}

/** What is missing, by day. The first look after a first reading notes what that one lacked. */
async function lookedAt(
  { looks }: ReadingContext,
  { assessments, begunAt }: Judged,
  { calendar }: Progress,
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
  // An unproven read may overlook some, and shows that the others are there.
  const fewer = [...unseen]
    .map(([day, { length }]) => [day, length] as const)
    .filter(([day, length]) => (calendar.entry(day).missing ?? 0) > length);
  return { ...looked, missing: new Map([...fewer, ...looked.missing]) };
}

/** A new day is in the calendar before it is written whole: its month may be, and its year not. */
async function save(
  { parts }: ReadingContext,
  calendar: Calendar,
  entries: ReadonlyMap<string, DayEntry>,
  done: readonly Change[],
): Promise<Calendar> {
  const followed = [...entries].map(
    ([day, entry]) => [day, following(calendar.entry(day), entry)] as const,
  );
  const elsewhere = parts.rules.movesElsewhere(done, entries, calendar);
  const changed = new Map([...followed, ...elsewhere]);
  await parts.ledger.touch([...changed.keys()].filter((day) => calendar.entry(day).readAt === 0));
  await parts.ledger.saveDays(changed);
  return calendar.with(changed);
}
