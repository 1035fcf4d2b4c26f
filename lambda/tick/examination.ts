import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import { type Calendar, type DayEntry, following } from '../detection/calendar.ts';
import { type Change, compare, countDeltas, type Found, idOf } from '../detection/compare.ts';
import type { DayRange } from '../detection/days.ts';
import type { FreshEntries } from '../detection/expected-counts.ts';
import { fingerprintOf } from '../detection/fingerprint.ts';
import { digestOf } from '../detection/pulse.ts';
import type { Assessment } from '../events/assessment.ts';
import type { Bookmark, QuarantinedRecord, RangeRead } from '../ports/partner-reader.ts';
import type { DayBookmark } from '../ports/state.ts';
import type { Announcement } from './announcement.ts';
import { isLocalFailure } from './local-failure.ts';
import type { Looks } from './looks.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

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
  readonly limit: TimeLimit;
  readonly salt: string;
  readonly announcement: Announcement;
  readonly looks: Looks;
}

/** Reads stretches of days with proof, and commits and announces what differs from the ledger. */
export class Examination {
  readonly #context: ExaminationContext;
  /** As it stands after the days examined so far. */
  calendar: Calendar;
  readonly quarantined: QuarantinedRecord[] = [];
  /** Of the day that does not fit into one tick, an earlier one or this. */
  bookmark: DayBookmark | undefined;
  /** Days read, as part of a longer stretch as well. */
  examined = 0;
  /** The last read was cut off, and nothing of it can be gone on with. */
  wasInVain = false;
  /** Nothing has suggested that these days have changed. */
  isAudit = false;

  constructor(context: ExaminationContext, calendar: Calendar, bookmark?: DayBookmark) {
    this.#context = context;
    this.calendar = calendar;
    this.bookmark = bookmark;
  }

  /**
   * Examines a stretch. One that could not be proven is halved, so that a single record or day that
   * cannot be read leaves only its own day unproven. The first half is examined whatever the budget,
   * or a stretch could use it up time after time before anything of it is done.
   *
   * @returns whether all of it was done: budget and time sufficed, and every change was committed
   */
  async examine(stretch: Stretch, budget: Budget): Promise<boolean> {
    this.wasInVain = false;
    return budget.requests > 0 && this.#examine(stretch, budget);
  }

  async #examine(stretch: Stretch, budget: Budget): Promise<boolean> {
    const { limit } = this.#context;
    if (limit.noteIfReached()) return false;
    const { days } = stretch;
    const bookmark = this.#bookmarkOf(days);
    const begunAt = this.#context.parts.clock.now().epochMilliseconds;
    const read = await this.#read(bookmark?.range ?? stretch.range, days, bookmark);
    this.examined += days.length;
    budget.requests -= read.requests;
    if (read.proof === undefined && days.length > 1 && !read.isCutOff && !limit.noteIfReached()) {
      const [first, second] = this.#inTurn(halves(stretch));
      const isFirstDone = await this.#examine(first, budget);
      return (await this.examine(second, budget)) && isFirstDone;
    }
    this.quarantined.push(...read.quarantined);
    return this.#settle(days, { ...read, begunAt }, bookmark);
  }

  /** Days that the host cannot answer for are days of which nothing was seen, as long as it answers at all. */
  async #read(
    range: DayRange,
    days: readonly string[],
    bookmark: Bookmark | undefined,
  ): Promise<RangeRead> {
    const { parts, limit } = this.#context;
    try {
      return await parts.partner.prove(range, limit.readingDeadline, bookmark);
    } catch (error) {
      if (!isLocalFailure(error)) throw error;
      const pulse = await limit.ask((deadline) => parts.partner.pulse(deadline));
      parts.journal.warn('days not to be read', { from: days[0], to: days.at(-1), error });
      const expected = days.reduce((sum, day) => sum + this.calendar.entry(day).count, 0);
      return {
        assessments: [],
        quarantined: [],
        count: expected,
        isCutOff: pulse === 'out-of-time',
        requests: 2,
      };
    }
  }

  #inTurn([earlier, later]: [Stretch, Stretch]): [Stretch, Stretch] {
    const { rules } = this.#context.parts;
    const readAt = ({ days }: Stretch) =>
      days.reduce(
        (least, day) => Math.min(least, this.calendar.entry(day).readAt),
        Number.POSITIVE_INFINITY,
      );
    return rules.isEarlierHalfFirst(readAt(earlier), readAt(later))
      ? [earlier, later]
      : [later, earlier];
  }

  #bookmarkOf([day, another]: readonly string[]): DayBookmark | undefined {
    return another === undefined && this.bookmark?.day === day ? this.bookmark : undefined;
  }

  /** One day at a time: another that does not fit has to wait for its turn. */
  #mark([day]: readonly string[], { bookmark: next, count }: RangeRead): void {
    if (day === undefined || !this.#isInHand(day)) return;
    this.bookmark = next && { count, ...this.bookmark, ...next, day };
  }

  #isInHand(day: string | undefined): boolean {
    return this.bookmark === undefined || this.bookmark.day === day;
  }

  async #settle(
    days: readonly string[],
    read: RangeRead & { readonly begunAt: number },
    bookmark: DayBookmark | undefined,
  ): Promise<boolean> {
    const { parts, announcement, limit, salt, looks } = this.#context;
    const { rules } = parts;
    const byDay = Map.groupBy(read.assessments, ({ certified_on }) => certified_on);
    const malformed = Map.groupBy(read.quarantined, ({ day = '' }) => day);
    const readAt = parts.clock.now().epochMilliseconds;
    const proof = read.proof && { kind: read.proof, at: read.begunAt };
    const proven = (day: string) => (malformed.has(day) ? undefined : proof);
    // Of the whole stretch: one that moved within it is a sighting, and not missing.
    const seen = new Set([...read.assessments, ...read.quarantined].flatMap(({ id = [] }) => id));
    const entries: FreshEntries = new Map();

    const differences = await pMap(
      new Set([...days, ...byDay.keys(), ...(proof ? malformed.keys() : [])]),
      async (day) => {
        const rows = byDay.get(day) ?? [];
        return { day, rows, ...(await this.#compareDay(day, rows, seen)) };
      },
      { concurrency: daysTogether },
    );
    for (const { day, rows } of differences) {
      const digest = digestOf(rows, salt);
      const ofDay = proven(day);
      const count = rows.length + (malformed.get(day)?.length ?? 0);
      entries.set(day, { count, readAt, ...(ofDay && { proof: { ...ofDay, count }, digest }) });
    }
    if (!proof) rules.attributeRest(entries, days, read);

    const unseen = new Map(
      differences.flatMap(({ day, unseen }) => (proven(day) ? [[day, unseen] as const] : [])),
    );
    const counted = this.calendar.with(entries);
    const looked = await looks.look(
      { beganAt: read.begunAt, seen: new Set(read.assessments.map(({ id }) => id)), unseen },
      this.calendar,
      counted,
    );
    // An unproven read may overlook some, and shows that the others are there.
    for (const { day, unseen } of differences) {
      const [entry, { missing = 0 }] = [entries.get(day), this.calendar.entry(day)];
      if (entry && missing > unseen.length) entries.set(day, { ...entry, missing: unseen.length });
    }
    for (const [day, missing] of looked.missing) {
      const entry = entries.get(day);
      if (entry) entries.set(day, { ...entry, missing });
    }
    const found: Found = {
      in: this.isAudit ? 'audit' : 'search',
      ...(read.proof && { proof: read.proof }),
    };
    const failures = announcement.failures;
    const sightings = differences.flatMap((difference) => difference.sightings);
    const done = [
      ...(await announcement.announce([...sightings, ...looked.sightings], { found })),
      ...(await announcement.announce(looked.withdrawals, { found })),
    ];
    const committed = new Set(done.filter(({ kind }) => kind === 'withdrawn').map(idOf));
    const staying = looked.withdrawals.filter((change) => !committed.has(idOf(change)));
    looks.giveBack(new Set(staying.map(idOf)));
    for (const { before } of staying) {
      const entry = entries.get(before.day);
      if (entry) entries.set(before.day, { ...entry, missing: (entry.missing ?? 0) + 1 });
    }
    // Cut off, and not to be gone on with: the count of no day is known from it.
    this.wasInVain = read.isCutOff && (read.bookmark === undefined || days.length > 1);
    if (!rules.isReadCounted(this.wasInVain) || limit.noteIfReached()) return false;

    const isDone = announcement.failures === failures && this.#isCounted(days, read, bookmark);
    if (!isDone) this.#expectAsBefore(entries, done, readAt);
    for (const [day, entry] of entries)
      entries.set(day, following(this.calendar.entry(day), entry));
    await this.#save(entries, rules.movesElsewhere(done, entries, this.calendar));
    this.#mark(days, read);
    return isDone && !read.isCutOff;
  }

  /**
   * Whether the host's count of a day may be expected from now on. While a day is being read in
   * parts, something new may have come where the reading had been already: then not before a whole
   * round in which the count stayed the same.
   */
  #isCounted([day]: readonly string[], read: RangeRead, bookmark: DayBookmark | undefined) {
    if (!this.#isInHand(day) && read.isCutOff) return false;
    return read.bookmark === undefined && (bookmark === undefined || bookmark.count === read.count);
  }

  /** What the calendar had, and what was committed or is missing now: whatever else differs goes on to differ. */
  #expectAsBefore(entries: FreshEntries, done: readonly Change[], readAt: number): void {
    const deltas = countDeltas(done);
    for (const [day, { missing }] of entries) {
      const before = this.calendar.entry(day);
      const lacking = missing === undefined ? 0 : missing - (before.missing ?? 0);
      const count = before.count + (deltas.get(day) ?? 0) - lacking;
      entries.set(day, { count, readAt, ...(missing !== undefined && { missing }) });
    }
  }

  /** Only rows that the index does not know as they are are looked up whole. */
  async #compareDay(day: string, rows: readonly Assessment[], seen: ReadonlySet<number>) {
    const { parts, salt } = this.#context;
    const indexed = await parts.ledger.knownOfDay(day);
    const different = rows.filter((row) => {
      const known = indexed.get(row.id);
      return known?.presence !== 'present' || known.fingerprint !== fingerprintOf(row, salt).whole;
    });
    const known = await parts.ledger.known(different.map(({ id }) => id));
    return {
      sightings: compare(different, known, salt),
      unseen: [...indexed.values()].flatMap(({ id, presence }) =>
        presence === 'present' && !seen.has(id) ? id : [],
      ),
    };
  }

  async #save(
    entries: ReadonlyMap<string, DayEntry>,
    elsewhere: ReadonlyMap<string, DayEntry>,
  ): Promise<void> {
    const { parts, announcement } = this.#context;
    const known = new Set(this.calendar.days);
    const changed = new Map([...entries, ...elsewhere]);
    await announcement.touch([...changed.keys()].filter((day) => !known.has(day)));
    await parts.ledger.saveDays(changed);
    this.calendar = this.calendar.with(changed);
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
