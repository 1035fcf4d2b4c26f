import type { Temporal } from 'temporal-polyfill';
import { nextSliceDays, slice } from '../detection/baseline.ts';
import type { DayEntry } from '../detection/calendar.ts';
import {
  type Change,
  compare,
  countDeltas,
  type Found,
  type Sighting,
} from '../detection/compare.ts';
import { type DayRange, daysIn, type RecentWindow } from '../detection/days.ts';
import { digestOf } from '../detection/pulse.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { Bookmark, QuarantinedRecord } from '../ports/partner-reader.ts';
import type { Baseline } from '../ports/state.ts';
import { isLocalFailure } from './local-failure.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

export interface SlicesContext {
  readonly partner: TickParts['partner'];
  readonly clock: TickParts['clock'];
  readonly ledger: Pick<Ledger, 'known' | 'addToDays' | 'saveDays'>;
  readonly limit: TimeLimit;
  readonly window: RecentWindow;
  /** Key of the fingerprints' hashes. */
  readonly salt: string;
  /**
   * Puts what differs from the ledger into it.
   * @param days that the calendar must know of before
   * @param found how the sightings were: by which proof
   */
  commit(
    days: Iterable<string>,
    sightings: readonly Sighting[],
    found: Found,
  ): Promise<SliceCommit>;
}

export interface SliceCommit {
  /** Recorded and not announced. */
  readonly recorded: number;
  /** What is in the ledger now and was not before. */
  readonly committed: readonly Change[];
  /** Seen, and left to ticks that come later: their days are expected to differ until then. */
  readonly left?: readonly Sighting[];
  /** Whether the slice need not be read again. */
  readonly isAll: boolean;
}

/** A slice is halved when it fails, below one day too: so often a single day is tried. */
const leastDays = 1 / 8;

/** How far back a reading has come; the names are those of `Baseline`. */
export type SlicesPosition = Pick<Baseline, 'before' | 'sliceDays' | 'bookmark'>;

/**
 * Reads days back in time, slice by slice, each with proof, into the ledger and its calendar: over
 * as many runs as it takes, each going on where the one before has stopped.
 */
export class Slices {
  readonly #context: SlicesContext;
  #before: Temporal.PlainDate | undefined;
  #days: number;
  #bookmark: Bookmark | undefined;
  #isFirst = true;
  recorded = 0;
  readonly quarantined: QuarantinedRecord[] = [];

  constructor(context: SlicesContext, { before, sliceDays = 1, bookmark }: SlicesPosition) {
    this.#context = context;
    this.#before = before;
    this.#days = sliceDays;
    this.#bookmark = bookmark;
  }

  get position(): SlicesPosition {
    return {
      ...(this.#before && { before: this.#before, sliceDays: this.#days }),
      ...(this.#bookmark && { bookmark: this.#bookmark }),
    };
  }

  /** One slice without an end, after which the reading goes back from its first day. */
  async readOnwards(from: Temporal.PlainDate): Promise<boolean> {
    const { isDone } = await this.#read({ from });
    if (isDone) this.#before = from;
    return isDone;
  }

  /**
   * Back to a day, until time runs out.
   * @param isOldest what is dated before that day belongs to it as well
   * @param keep called after each slice but the last
   * @returns whether it got there
   */
  async readBack(
    first: Temporal.PlainDate | undefined,
    isOldest: boolean,
    keep: () => Promise<void>,
  ): Promise<boolean> {
    while (!this.#context.limit.noteIfReached()) {
      const range = this.#bookmark?.range ?? this.#next(first, isOldest);
      const { isDone, found } = await this.#readIfPossible(range);
      if (!isDone) return false;
      if (range.from === undefined) return true;
      this.#before = range.from;
      this.#days = nextSliceDays(this.#days, found);
      if (!isOldest && first?.equals(range.from)) return true;
      await keep();
    }
    return false;
  }

  #next(first: Temporal.PlainDate | undefined, isOldest: boolean): DayRange {
    const before = this.#before;
    if (before === undefined) return {};
    const oldest = first ?? before;
    const range = slice(before, Math.ceil(this.#days), oldest);
    return isOldest ? range : { from: oldest, ...range };
  }

  /**
   * A day that the host cannot answer for is left to the audits, as long as it answers at all; more
   * days are tried in smaller slices first, and a single one in several runs: what the audits find is
   * announced as new.
   */
  async #readIfPossible(range: DayRange): Promise<SliceOutcome> {
    try {
      return await this.#read(range);
    } catch (error) {
      if (!isLocalFailure(error)) throw error;
      const { limit, partner, commit } = this.#context;
      await limit.ask((deadline) => partner.pulse(deadline));
      this.#bookmark = undefined;
      if (this.#days > leastDays) {
        this.#days = this.#days > 1 ? Math.ceil(this.#days / 2) : this.#days / 2;
        return { ...nothing, isDone: false };
      }
      const day = range.from ?? range.to;
      await commit(day ? [day.toString()] : [], [], { in: 'baseline' });
      return { ...nothing, isDone: true };
    }
  }

  /** The first read has the whole run; one that begins later and is cut off is read again, in one go. */
  async #read(range: DayRange): Promise<SliceOutcome> {
    const outcome = await readSlice(this.#context, range, this.#bookmark, this.#isFirst);
    this.recorded += outcome.recorded;
    this.quarantined.push(...outcome.quarantined);
    if (outcome.isDone || outcome.bookmark) this.#bookmark = outcome.bookmark;
    this.#isFirst = false;
    return outcome;
  }
}

interface SliceOutcome {
  readonly isDone: boolean;
  /** Where it goes on, when it had the whole run and that was not enough. */
  readonly bookmark?: Bookmark;
  readonly found: number;
  readonly recorded: number;
  readonly quarantined: readonly QuarantinedRecord[];
}

const nothing = { found: 0, recorded: 0, quarantined: [] };

/** @param bookmark where an earlier run's read of this slice stopped */
async function readSlice(
  { partner, clock, ledger, limit, window, salt, commit }: SlicesContext,
  range: DayRange,
  bookmark: Bookmark | undefined,
  isFirst: boolean,
): Promise<SliceOutcome> {
  const begunAt = clock.now().epochMilliseconds;
  const until = limit.readingDeadline;
  const read = await partner.prove(range, until, bookmark);
  const { assessments, quarantined } = read;
  // With time left it was the pace, which is too dear to read anything twice.
  const isKept = isFirst || clock.now().epochMilliseconds < until.epochMilliseconds;
  const next = isKept ? read.bookmark : undefined;
  if (read.isCutOff && next === undefined) return { ...nothing, isDone: false };
  // Of a slice that takes several runs no day's count is known: the audits prove its days.
  const isInParts = bookmark !== undefined || next !== undefined;

  const readAt = clock.now().epochMilliseconds;
  const proof = read.proof && { kind: read.proof, at: begunAt };
  const byDay = Map.groupBy(assessments, ({ certified_on }) => certified_on);
  const malformed = Map.groupBy(quarantined, ({ day = '' }) => day);
  const entries = new Map<string, DayEntry>();
  const days = [...byDay.keys(), ...daysIn(window).filter(isWithin(range))];
  for (const day of new Set([...days, ...(proof ? malformed.keys() : [])])) {
    const rows = byDay.get(day) ?? [];
    const count = rows.length + (malformed.get(day)?.length ?? 0);
    const digest = digestOf(rows, salt);
    const ofDay = malformed.has(day) ? undefined : proof;
    // The first look after the baseline notes the certifications that are missing here.
    entries.set(day, {
      count,
      missing: 0,
      readAt,
      ...(ofDay && { proof: { ...ofDay, count }, digest }),
    });
  }

  const known = await ledger.known(assessments.map(({ id }) => id));
  const sightings = compare(assessments, known, salt);
  const found: Found = { in: 'baseline', ...(read.proof && { proof: read.proof }) };
  const { recorded, committed, left = [], isAll } = await commit(entries.keys(), sightings, found);
  expectWithout(entries, left);
  if (isInParts) await ledger.addToDays(countDeltas(committed));
  if (!isAll || limit.noteIfReached()) return { ...nothing, isDone: false, recorded };
  if (!isInParts) await ledger.saveDays(entries);
  return {
    isDone: next === undefined,
    ...(next && { bookmark: next }),
    found: assessments.length,
    recorded,
    quarantined,
  };
}

/** The ledger does not have them, so the calendar does not, either. */
function expectWithout(entries: Map<string, DayEntry>, left: readonly Sighting[]): void {
  for (const { assessment } of left) {
    const day = assessment.certified_on;
    const entry = entries.get(day);
    if (entry) entries.set(day, { count: entry.count - 1, readAt: entry.readAt });
  }
}

const isWithin =
  ({ from, to }: DayRange) =>
  (day: string) =>
    (from === undefined || day >= from.toString()) && (to === undefined || day <= to.toString());
