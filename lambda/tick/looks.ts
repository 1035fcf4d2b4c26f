import { isDeepStrictEqual } from 'node:util';
import { Temporal } from 'temporal-polyfill';
import type { Calendar } from '../decisions/calendar.ts';
import {
  type Certification,
  compare,
  type Sighting,
  type Withdrawal,
  withdrawal,
} from '../decisions/compare.ts';
import { mostKnown } from '../decisions/locate.ts';
import {
  allowance,
  asked,
  concludedMissing,
  forgotten,
  isAskedFor,
  looksDue,
  type Missing,
  mayGo,
  type Note,
  noted,
  sighted,
  type Totals,
  unasked,
  withdrawing,
} from '../decisions/missing.ts';
import { reachOf } from '../errors.ts';
import type { Assessment } from '../events/assessment.ts';
import type { LeasedContext } from './parts.ts';

/** Limit for requests by id in one tick, besides the requests of its reads. */
const lookups = 100;
/**
 * After this many failures a tick asks for no more ids: the endpoint or the network is at fault.
 */
const failuresBorne = 3;

export interface LooksContext extends LeasedContext {
  readonly salt: string;
  /**
   * How many more have gone by the partner's total when the tick began. Reads find them day by day.
   */
  readonly toBeFound: number;
  /** Until then, the last tick vouches for our clock. */
  readonly vouchedUntil: number;
  /**
   * Whether the record was seen quarantined anywhere. Such a record is not gone, even if its id
   * answers 404.
   */
  isMalformed(id: number): boolean;
}

/** A read of days, some of them proven. */
export interface Read {
  /** When it began: milliseconds since the epoch. */
  readonly beganAt: number;
  /** Ids of readable rows. A quarantined record is neither gone nor sighted. */
  readonly seen: ReadonlySet<number>;
  /** By proven day: ids that the ledger's index has and the read lacked. The index may lag. */
  readonly unseen: ReadonlyMap<string, readonly number[]>;
}

export interface Looked {
  /** By proven day: how many are missing now, without those to be withdrawn. */
  readonly missing: ReadonlyMap<string, number>;
  /** Certifications that their ids show, changed or moved. */
  readonly sightings: readonly Sighting[];
  readonly withdrawals: readonly Withdrawal[];
}

/** The progress of one tick's looks. */
interface Looking {
  readonly missing: Missing;
  /** Requests by id; `failures` of them failed. */
  readonly asked: number;
  readonly failures: number;
  readonly isOutOfTime: boolean;
  readonly withdrawn: number;
  /** The ids that the last look found gone, and the memory from before they were counted. */
  readonly charged: { readonly before: Missing; readonly gone: ReadonlySet<number> };
}

/**
 * Withdraws a certification after two looks. A proven read that lacks it notes it as missing. When
 * a proven read that began `withdrawAfter` later lacks it too, its id is asked for, and 404
 * withdraws it. Where too many are missing, nothing is noted: the calendar counts them, and ops are
 * told.
 */
export class Looks {
  readonly #context: LooksContext;
  readonly #missingBefore: number;
  #now: Looking;

  constructor(context: LooksContext, missing: Missing) {
    this.#context = context;
    this.#missingBefore = missing.total;
    const charged = { before: missing, gone: new Set<number>() };
    this.#now = { missing, asked: 0, failures: 0, isOutOfTime: false, withdrawn: 0, charged };
  }

  #set(changed: Partial<Looking>): void {
    this.#now = { ...this.#now, ...changed };
  }

  /** Whether this tick may ask for no more ids. */
  get #isSpent(): boolean {
    const { asked, failures, isOutOfTime } = this.#now;
    return asked >= lookups || failures >= failuresBorne || isOutOfTime;
  }

  /**
   * Days due for a look: none while too many are missing, or while no more ids can be asked for.
   */
  due(calendar: Calendar): readonly { readonly day: string; readonly at: number }[] {
    const { settings } = this.#context.parts;
    const { missing } = this.#now;
    const totals = this.#totals(calendar);
    if (this.#isSpent || !mayGo(missing, totals, this.#nowMs)) return [];
    if (allowance(missing, totals, this.#nowMs) === 0) return [];
    return looksDue(missing, calendar.entries, settings.withdrawAfterMs);
  }

  /** @returns the memory for the state; `undefined`: nothing is missing */
  conclude(calendar: Calendar): Missing | undefined {
    const { withdrawAfterMs } = this.#context.parts.settings;
    const totals = this.#totals(calendar);
    return concludedMissing(this.#now.missing, calendar, totals, withdrawAfterMs, this.#nowMs);
  }

  #totals({ total, missing, unread }: Pick<Calendar, 'total' | 'missing' | 'unread'>): Totals {
    const found = Math.max(0, missing + this.#now.withdrawn - this.#missingBefore);
    const toBeFound = Math.max(0, this.#context.toBeFound - found);
    // Rows that the baseline could not see are in the counts, and not in the ledger.
    return { known: total + missing - unread.rows, missing: missing + toBeFound };
  }

  /**
   * Takes back withdrawals that were not committed as far as this tick knows. The ledger tells
   * which were committed although the answer was lost: these count towards the limit of the day.
   *
   * @returns the withdrawals whose certifications stay
   */
  async giveBack(withdrawals: readonly Withdrawal[]): Promise<readonly Withdrawal[]> {
    const { ledger } = this.#context.parts;
    const known = await ledger.known(withdrawals.map(({ id }) => id));
    const staying = withdrawals.filter(({ id }) => known.get(id)?.presence === 'present');
    if (staying.length === 0) return staying;
    const ids = new Set(staying.map(({ id }) => id));
    const { charged, withdrawn } = this.#now;
    const gone = new Set([...charged.gone].filter((id) => !ids.has(id)));
    const missing = withdrawing(charged.before, gone, this.#nowMs);
    this.#set({
      missing: [...ids].reduce((now, id) => asked(now, id, 'uncommitted', this.#nowMs), missing),
      withdrawn: withdrawn - ids.size,
    });
    return staying;
  }

  /** @param after the earlier calendar with this read's counts */
  async look({ beganAt, seen, unseen }: Read, earlier: Calendar, after: Calendar): Promise<Looked> {
    const remembered = this.#now.missing;
    const ids = new Set([...unseen.values()].flat());
    const isSeen = ({ id, day }: Note) => seen.has(id) || (unseen.has(day) && !ids.has(id));
    const left = sighted(remembered, isSeen);
    this.#set({ missing: left });
    const lacking = await this.#lacking(unseen);
    const more = [...lacking].map(
      ([day, { length }]) => length - (earlier.entry(day).missing ?? 0),
    );
    const missing = more.reduce((sum, number) => sum + number, earlier.missing);
    const totals = this.#totals({ total: after.total, missing, unread: after.unread });
    if (!mayGo(left, totals, this.#nowMs)) {
      this.#set({ missing: forgotten(left, this.#nowMs) });
      await this.#save(remembered);
      return { missing: numbersOf(lacking), sightings: [], withdrawals: [] };
    }
    const { tooManySince: _, ...few } = left;
    const certifications = [...lacking.values()].flat().filter((one) => typeof one === 'object');
    const withNotes = noted(few, certifications, this.#nowMs);
    this.#set({ missing: withNotes });
    const most = allowance(withNotes, totals, this.#nowMs);
    const { sightings, withdrawals } = await this.#askByIds(certifications, beganAt, most);
    const gone = new Set(withdrawals.map((change) => change.before.id));
    const { missing: before, withdrawn } = this.#now;
    this.#set({
      charged: { before, gone },
      missing: withdrawing(before, gone, this.#nowMs),
      withdrawn: withdrawn + gone.size,
    });
    const isSaved = await this.#save(remembered);
    const moved = sightings.filter(({ changed }) => changed.includes('certified_on'));
    const leaving = new Set([
      ...(isSaved ? gone : []),
      ...moved.map(({ assessment: { id } }) => id),
    ]);
    const staying = [...lacking].map(
      ([day, ofDay]) => [day, ofDay.filter((one) => !leaving.has(idOf(one)))] as const,
    );
    return { missing: numbersOf(staying), sightings, withdrawals: isSaved ? withdrawals : [] };
  }

  /**
   * Asks for the ids that are due for their second look, the longest waiting first. It stops early,
   * because committing its findings takes time too. A certification that its id has shown may have
   * gone since; it counts towards the limit only then.
   */
  async #askByIds(
    lacking: readonly Certification[],
    beganAt: number,
    most: number,
  ): Promise<Pick<Looked, 'sightings' | 'withdrawals'>> {
    const { parts, limit, vouchedUntil } = this.#context;
    const { withdrawAfterMs } = parts.settings;
    const at = Math.min(beganAt, vouchedUntil);
    const sightings: Sighting[] = [];
    const withdrawals: Withdrawal[] = [];
    const byId = new Map(lacking.map((certification) => [certification.id, certification]));
    const until = limit.readingDeadline;
    const due = this.#now.missing.notes
      .filter((note) => isAskedFor(note, at, withdrawAfterMs))
      .toSorted((a, b) => (a.askedAt ?? a.since) - (b.askedAt ?? b.since))
      .flatMap(({ id }) => byId.get(id) ?? []);
    const waiting = new Set(due.map(({ id }) => id));
    for (const certification of due) {
      if (Temporal.Instant.compare(parts.clock.now(), until) >= 0) this.#set({ isOutOfTime: true });
      if (this.#isSpent || withdrawals.length >= most) break;
      const found = await this.#get(certification.id);
      if (found === 'out-of-time') break;
      waiting.delete(certification.id);
      if (found === undefined) withdrawals.push(withdrawal(certification));
      else sightings.push(...this.#sightingOf(certification, found));
    }
    // The tick was kept from it by failures, the pace or time.
    if (withdrawals.length < most)
      this.#set({ missing: unasked(this.#now.missing, waiting, this.#nowMs) });
    return { sightings, withdrawals };
  }

  /** A record that its id shows changed or moved is a sighting. An unchanged one stays missing. */
  #sightingOf(
    certification: Certification,
    found: Assessment | 'unreadable' | 'failed',
  ): readonly Sighting[] {
    const { id } = certification;
    const { parts, salt } = this.#context;
    const { missing } = this.#now;
    const known = new Map([[id, certification]]);
    const { changes } = compare(
      typeof found === 'string' ? [] : [found],
      known,
      salt,
      this.#nowMs,
      parts.settings.withdrawAfterMs,
    );
    const isSeen = (note: Note) => note.id === id;
    this.#set({
      missing:
        changes.length > 0
          ? sighted(missing, isSeen)
          : asked(missing, id, found === 'failed' ? 'none' : 'shown', this.#nowMs),
    });
    return changes;
  }

  /**
   * By day: certifications of the ledger that the read lacked. The index lags, and a certification
   * may have left the day, so its item is read. Ids beyond `mostKnown` are only counted.
   */
  async #lacking(
    unseen: Read['unseen'],
  ): Promise<ReadonlyMap<string, readonly (Certification | number)[]>> {
    const ids = [...unseen.values()].flat();
    const asked = new Set(ids.slice(0, mostKnown));
    const known = await this.#context.parts.ledger.known([...asked]);
    const isHere = (day: string, one: Certification | undefined) =>
      one?.presence === 'present' && one.day === day ? [one] : [];
    return new Map(
      [...unseen].map(([day, ids]) => [
        day,
        ids.flatMap((id): (Certification | number)[] =>
          asked.has(id) ? isHere(day, known.get(id)) : [id],
        ),
      ]),
    );
  }

  /**
   * The memory is written under the lease, before anything relies on it.
   * @returns `false` if the lease was lost: nothing may be withdrawn
   */
  async #save(before: Missing): Promise<boolean> {
    if (isDeepStrictEqual(before, this.#now.missing)) return true;
    const { parts, lease } = this.#context;
    const soonest = this.#nowMs + parts.settings.withdrawAfterMs;
    const { lookAt = soonest } = this.#now.missing;
    const missing = { ...this.#now.missing, lookAt: Math.min(lookAt, soonest) };
    const isSaved = await parts.ledger.saveState({ missing }, lease);
    if (!isSaved) parts.journal.warn('lease lost', { owner: lease.owner });
    return isSaved;
  }

  async #get(
    id: number,
  ): Promise<Assessment | 'unreadable' | 'out-of-time' | 'failed' | undefined> {
    const { parts, limit } = this.#context;
    if (this.#context.isMalformed(id)) return 'unreadable';
    this.#set({ asked: this.#now.asked + 1 });
    try {
      return await limit.ask((deadline) => parts.partner.get(id, deadline));
    } catch (error) {
      if (reachOf(error) !== 'request') throw error;
      this.#set({ failures: this.#now.failures + 1 });
      parts.journal.warn('record not readable by its id', { certification: id, error });
      return 'failed';
    }
  }

  get #nowMs(): number {
    return this.#context.parts.clock.now().epochMilliseconds;
  }
}

const idOf = (one: Certification | number) => (typeof one === 'number' ? one : one.id);

const numbersOf = (
  byDay: Iterable<readonly [day: string, ofDay: readonly unknown[]]>,
): ReadonlyMap<string, number> => new Map([...byDay].map(([day, { length }]) => [day, length]));
