import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import { type Calendar, type DayEntry, following } from '../detection/calendar.ts';
import {
  type Certification,
  compare,
  countDeltas,
  type Sighting,
  type Withdrawal,
  withdrawal,
} from '../detection/compare.ts';
import type { DayRange } from '../detection/days.ts';
import { fingerprintOf } from '../detection/fingerprint.ts';
import { digestOf } from '../detection/pulse.ts';
import type { Assessment } from '../events/assessment.ts';
import type { TickParts } from '../parts.ts';
import type { Bookmark, DayBookmark, QuarantinedRecord, RangeRead } from '../ports.ts';
import type { Announcement } from './announcement.ts';
import type { TimeLimit } from './time-limit.ts';

/** Of a day's certifications, the share whose withdrawal at once is doubtful. */
const doubtfulShare = 0.5;
/** Fewer than this make no share to speak of. */
const doubtfulFrom = 10;

/** Days of a stretch that are compared with the ledger at the same time: a stretch can have a hundred. */
const daysTogether = 16;

/** What a tick may still ask of the partner. It is looked at before a read, not within one. */
export interface Budget {
  requests: number;
}

/** Days to read, and the filter that asks for them, which may be open at its ends. */
export interface Stretch {
  readonly days: readonly string[];
  readonly range: DayRange;
}

export interface ExaminationContext {
  readonly parts: TickParts;
  readonly announcement: Announcement;
  readonly limit: TimeLimit;
  readonly salt: string;
  /** `false` while the total has collapsed: then nothing is called gone. */
  readonly infersRemovals: boolean;
  /** One that the partner has just shown: if it cannot be fetched by its id, nothing can. */
  readonly canary: number | undefined;
}

/** Reads stretches of days with proof, and commits and announces what differs from the ledger. */
export class Examination {
  readonly #context: ExaminationContext;
  /** As it stands after the days examined so far. */
  calendar: Calendar;
  readonly quarantined: QuarantinedRecord[] = [];
  /** Of the day that does not fit into one tick, an earlier one or this. */
  bookmark: DayBookmark | undefined;
  /** More was missing than the budget could ask for: the calendar still expects it. */
  isUnfinished = false;
  singleRecords: 'untried' | 'work' | 'broken' = 'untried';

  constructor(context: ExaminationContext, calendar: Calendar, bookmark?: DayBookmark) {
    this.#context = context;
    this.calendar = calendar;
    this.bookmark = bookmark;
  }

  /**
   * Examines a stretch. One that could not be proven is halved, so that a single malformed record
   * leaves only its own day unproven.
   *
   * @returns whether all of it was done: budget and time sufficed, and every change was committed
   */
  async examine(stretch: Stretch, budget: Budget): Promise<boolean> {
    const { parts, limit } = this.#context;
    if (budget.requests <= 0 || limit.reached) return false;
    const { days } = stretch;
    const bookmark = this.#bookmarkOf(days);
    const range = bookmark?.range ?? stretch.range;
    const read = await parts.partner.prove(range, limit.readingDeadline, bookmark);
    budget.requests -= read.requests;
    if (read.proof === undefined && days.length > 1 && !read.isCutOff && !limit.reached) {
      const [first, second] = this.#inTurn(halves(stretch));
      const isFirstDone = await this.examine(first, budget);
      return (await this.examine(second, budget)) && isFirstDone;
    }
    this.quarantined.push(...read.quarantined);
    const isSettled = await this.#settle(days, read, budget);
    if (isSettled) this.#mark(days, read.bookmark);
    return isSettled && !read.isCutOff;
  }

  /** What an earlier tick did not get to comes first: otherwise each would spend itself on the same half. */
  #inTurn([earlier, later]: [Stretch, Stretch]): [Stretch, Stretch] {
    const readAt = ({ days }: Stretch) =>
      days.reduce(
        (least, day) => Math.min(least, this.calendar.entry(day).readAt),
        Number.POSITIVE_INFINITY,
      );
    return readAt(earlier) < readAt(later) ? [earlier, later] : [later, earlier];
  }

  #bookmarkOf([day, another]: readonly string[]): DayBookmark | undefined {
    return another === undefined && this.bookmark?.day === day ? this.bookmark : undefined;
  }

  /** One day at a time: another that does not fit has to wait for its turn. */
  #mark([day]: readonly string[], next: Bookmark | undefined): void {
    if (day === undefined || (this.bookmark !== undefined && this.bookmark.day !== day)) return;
    this.bookmark = next && { ...next, day };
  }

  async #settle(days: readonly string[], read: RangeRead, budget: Budget): Promise<boolean> {
    const { parts, announcement, limit, salt } = this.#context;
    const byDay = Map.groupBy(read.assessments, ({ certified_on }) => certified_on);
    const readAt = parts.clock.now().epochMilliseconds;
    const proof = read.proof && { kind: read.proof, at: readAt };
    // Of the whole stretch: one that moved within it is a sighting, and not missing.
    const seen = new Set(read.assessments.map(({ id }) => id));
    const entries = new Map<string, DayEntry>();
    const sightings: Sighting[] = [];
    const missing: Certification[] = [];
    let doubtful = false;

    const differences = await pMap(
      new Set([...days, ...byDay.keys()]),
      async (day) => {
        const rows = byDay.get(day) ?? [];
        return { day, rows, ...(await this.#compareDay(day, rows, proof && seen)) };
      },
      { concurrency: daysTogether },
    );
    for (const { day, rows, ...difference } of differences) {
      const digest = digestOf(rows, salt);
      const entry = { count: rows.length, readAt, ...(proof && { proof, digest }) };
      entries.set(day, following(this.calendar.entry(day), entry));
      sightings.push(...difference.sightings);
      missing.push(...difference.missing);
      doubtful ||=
        difference.known >= doubtfulFrom &&
        difference.missing.length > difference.known * doubtfulShare;
    }
    if (!proof) attributeRest(entries, days, read);

    const confirmed = await this.#confirm(missing, budget);
    const changes = [...sightings, ...confirmed.sightings];
    const failures = announcement.failures;
    await announcement.announce(changes);
    await announcement.announce(confirmed.withdrawals, { doubtful });
    // Cut off, and not to be gone on with: the count of no day is known from it.
    const isInVain = read.isCutOff && (read.bookmark === undefined || days.length > 1);
    if (isInVain || announcement.failures > failures || limit.reached) return false;

    forgetProofs(entries, confirmed.standing);
    expectStill(entries, confirmed.unasked);
    this.isUnfinished ||= confirmed.unasked.length > 0;
    await this.#save(entries, movesElsewhere(changes, entries));
    return confirmed.unasked.length === 0;
  }

  /** Only rows that the index does not know as they are, and what is missing, are looked up whole. */
  async #compareDay(
    day: string,
    rows: readonly Assessment[],
    proven: ReadonlySet<number> | undefined,
  ) {
    const { parts, salt } = this.#context;
    const indexed = await parts.ledger.knownOfDay(day);
    const different = rows.filter((row) => {
      const known = indexed.get(row.id);
      return known?.presence !== 'present' || known.fingerprint !== fingerprintOf(row, salt).whole;
    });
    const present = [...indexed.values()].filter(({ presence }) => presence === 'present');
    const unseen = proven ? present.filter(({ id }) => !proven.has(id)) : [];
    const known = await parts.ledger.known([...different, ...unseen].map(({ id }) => id));
    return {
      known: present.length,
      sightings: compare(different, known, salt),
      // The index lags: the certification itself may have left this day already.
      missing: unseen.flatMap(({ id }) => {
        const certification = known.get(id);
        const isHere = certification?.presence === 'present' && certification.day === day;
        return isHere ? [certification] : [];
      }),
    };
  }

  /**
   * Asks for each missing one by its id: one that is there has moved or changed; one that is not has
   * been withdrawn, provided that a record which is there for certain can be fetched at all. What
   * still stands on its day, although the day's read did not have it, is looked at again.
   */
  async #confirm(missing: readonly Certification[], budget: Budget) {
    const { parts, salt, limit, infersRemovals } = this.#context;
    const sightings: Sighting[] = [];
    const withdrawals: Withdrawal[] = [];
    const standing: Certification[] = [];
    const unasked: Certification[] = [];
    // What is found out is to be committed too.
    const until = limit.readingDeadline;
    for (const certification of missing) {
      // Not to be believed: it stands, and the audits come back to its day.
      if (!infersRemovals || this.singleRecords === 'broken') {
        standing.push(certification);
        continue;
      }
      if (budget.requests <= 0 || Temporal.Instant.compare(parts.clock.now(), until) >= 0) {
        unasked.push(certification);
        continue;
      }
      budget.requests -= 1;
      const found = await limit.ask((deadline) => parts.partner.get(certification.id, deadline));
      if (found === undefined && (await this.singleRecordsWork(budget)))
        withdrawals.push(withdrawal(certification));
      else if (found === 'late' || (found === undefined && this.singleRecords === 'untried'))
        unasked.push(certification);
      else if (found === undefined || found === 'unreadable') standing.push(certification);
      else {
        const moved = compare([found], new Map([[found.id, certification]]), salt);
        sightings.push(...moved);
        if (found.certified_on === certification.day) standing.push(certification);
      }
    }
    return { sightings, withdrawals, standing, unasked };
  }

  /** The canary: tried once a tick, when a record is about to be called gone. */
  async singleRecordsWork(budget: Budget): Promise<boolean> {
    const { parts, canary, limit } = this.#context;
    if (this.singleRecords === 'untried') {
      budget.requests -= 1;
      const found =
        canary === undefined
          ? undefined
          : await limit.ask((deadline) => parts.partner.get(canary, deadline));
      if (found === 'late') return false;
      this.singleRecords = found === undefined ? 'broken' : 'work';
      if (this.singleRecords === 'broken')
        parts.journal.warn('single-record endpoint broken', {
          whatToDo:
            'A record that the list shows is answered with 404 by its id. Nothing is withdrawn meanwhile; ask the operator.',
        });
    }
    return this.singleRecords === 'work';
  }

  async #save(
    entries: ReadonlyMap<string, DayEntry>,
    elsewhere: ReadonlyMap<string, number>,
  ): Promise<void> {
    const { parts, announcement } = this.#context;
    const { ledger } = parts;
    const known = new Set(this.calendar.days);
    await announcement.touch([...entries.keys()].filter((day) => !known.has(day)));
    await ledger.saveDays(entries);
    if (elsewhere.size > 0) await ledger.addToDays(elsewhere);
    const moved = [...elsewhere].map(([day, delta]) => {
      const entry = this.calendar.entry(day);
      return [day, { ...entry, count: entry.count + delta }] as const;
    });
    this.calendar = this.calendar.with([...entries, ...moved]);
  }
}

function halves({ days, range }: Stretch): [Stretch, Stretch] {
  const middle = Math.ceil(days.length / 2);
  const from = Temporal.PlainDate.from(days[middle] ?? '');
  return [
    {
      days: days.slice(0, middle),
      range: { ...range, to: from.subtract({ days: 1 }) },
    },
    { days: days.slice(middle), range: { ...range, from } },
  ];
}

/** What the partner counts and did not show readably is expected of the stretch from now on. */
function attributeRest(
  entries: Map<string, DayEntry>,
  [day]: readonly string[],
  read: RangeRead,
): void {
  const entry = day === undefined ? undefined : entries.get(day);
  if (day === undefined || entry === undefined) return;
  const rest = Math.max(0, read.count - read.assessments.length);
  entries.set(day, { ...entry, count: entry.count + rest });
}

/** Days whose proven read and the ledger do not agree yet: the audits come back to them. */
function forgetProofs(entries: Map<string, DayEntry>, standing: readonly Certification[]): void {
  for (const { day } of standing) {
    const entry = entries.get(day);
    if (entry !== undefined) entries.set(day, { count: entry.count, readAt: entry.readAt });
  }
}

/** What is missing and could not be asked for yet: its day goes on to differ, so the next tick goes on. */
function expectStill(entries: Map<string, DayEntry>, unasked: readonly Certification[]): void {
  for (const { day } of unasked) {
    const entry = entries.get(day);
    if (entry !== undefined) entries.set(day, { count: entry.count + 1, readAt: entry.readAt });
  }
}

/** How certifications that moved alter the counts of days that were not examined here. */
function movesElsewhere(
  sightings: readonly Sighting[],
  examined: ReadonlyMap<string, DayEntry>,
): Map<string, number> {
  return new Map([...countDeltas(sightings)].filter(([day]) => !examined.has(day)));
}
