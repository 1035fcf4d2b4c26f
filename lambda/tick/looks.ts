import { isDeepStrictEqual } from 'node:util';
import { Temporal } from 'temporal-polyfill';
import type { Calendar } from '../detection/calendar.ts';
import {
  type Certification,
  type Sighting,
  type Withdrawal,
  withdrawal,
} from '../detection/compare.ts';
import { mostKnown } from '../detection/locate.ts';
import {
  asked,
  concluded,
  looksDue,
  type Missing,
  type Note,
  type Totals,
} from '../detection/missing.ts';
import { reachOf } from '../errors.ts';
import type { Assessment } from '../events/assessment.ts';
import type { Lease } from '../ports/state.ts';
import type { StepContext } from './parts.ts';

/** Missing ones that a tick asks for by their ids, besides what its reads cost. */
const lookups = 100;
/** So many that fail, and a tick asks for no more: the endpoint is at fault, or the network. */
const failuresBorne = 3;

export interface LooksContext extends StepContext {
  readonly lease: Lease;
  readonly salt: string;
  /** By the partner's total when the tick began, so many more have gone: reads find them one day after the other. */
  readonly toBeFound: number;
  /** Of records that somebody has seen malformed, wherever: they are not gone, even if their ids are unknown. */
  isMalformed(id: number): boolean;
}

/** A read of days, some of which are proven. */
export interface Read {
  /** When it began: milliseconds since the epoch. */
  readonly beganAt: number;
  /** Ids that it showed readably: what is unreadable somewhere is neither gone nor where it was. */
  readonly seen: ReadonlySet<number>;
  /** By proven day: what the index has there and the read lacked. The index may lag. */
  readonly unseen: ReadonlyMap<string, readonly number[]>;
}

export interface Looked {
  /** By proven day: how many are missing now, those that are withdrawn not included. */
  readonly missing: ReadonlyMap<string, number>;
  /** There by their ids, and changed or moved. */
  readonly sightings: readonly Sighting[];
  readonly withdrawals: readonly Withdrawal[];
}

/** What a tick has looked for. */
interface Looking {
  readonly missing: Missing;
  /** Asked for by their ids, and how many of these calls failed. */
  readonly asked: number;
  readonly failures: number;
  readonly isOutOfTime: boolean;
  readonly withdrawn: number;
  /** What the last look found gone, and what was remembered before it was counted. */
  readonly charged: { readonly before: Missing; readonly gone: ReadonlySet<number> };
}

/**
 * Two looks for what is gone. A proven read that lacks a certification notes it; one that began
 * `withdrawAfter` later and lacks it, too, has it asked for by its id, and withdrawn if the answer is 404.
 * Where too many are missing, nothing is noted: the calendar counts them, and people are told.
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

  /** Whether this tick may ask for more by their ids. */
  get #isSpent(): boolean {
    const { asked, failures, isOutOfTime } = this.#now;
    return asked >= lookups || failures >= failuresBorne || isOutOfTime;
  }

  /** The days that are to be read for what they lack: none while too many are missing, or no more can be asked for. */
  due(calendar: Calendar): readonly { readonly day: string; readonly at: number }[] {
    const { rules, settings } = this.#context.parts;
    const { missing } = this.#now;
    const totals = this.#totals(calendar);
    if (this.#isSpent || !rules.mayGo(missing, totals, this.#nowMs)) return [];
    if (rules.allowance(missing, totals, this.#nowMs) === 0) return [];
    return looksDue(missing, calendar.entries, settings.withdrawAfterMs);
  }

  /** What the state keeps, now that days were read; `undefined`: nothing is missing. */
  conclude(calendar: Calendar): Missing | undefined {
    const { withdrawAfterMs } = this.#context.parts.settings;
    const totals = this.#totals(calendar);
    return concluded(this.#now.missing, calendar, totals, withdrawAfterMs, this.#nowMs);
  }

  #totals({ total, missing }: Pick<Calendar, 'total' | 'missing'>): Totals {
    const found = Math.max(0, missing + this.#now.withdrawn - this.#missingBefore);
    const toBeFound = Math.max(0, this.#context.toBeFound - found);
    return { known: total + missing, missing: missing + toBeFound };
  }

  /**
   * These were to be withdrawn, and were not as far as this tick knows. One whose answer alone was lost counts for the
   * day: the ledger tells.
   * @returns those that stay
   */
  async giveBack(withdrawals: readonly Withdrawal[]): Promise<readonly Withdrawal[]> {
    const { ledger, rules } = this.#context.parts;
    const known = await ledger.known(withdrawals.map(({ id }) => id));
    const staying = withdrawals.filter(({ id }) => known.get(id)?.presence === 'present');
    if (staying.length === 0) return staying;
    const ids = new Set(staying.map(({ id }) => id));
    const { charged, withdrawn } = this.#now;
    const gone = new Set([...charged.gone].filter((id) => !ids.has(id)));
    const missing = rules.withdrawing(charged.before, gone, this.#nowMs);
    this.#set({
      missing: [...ids].reduce((now, id) => asked(now, id, false, this.#nowMs), missing),
      withdrawn: withdrawn - ids.size,
    });
    return staying;
  }

  /** @param after the earlier calendar, with what this read counted in its place */
  async look({ beganAt, seen, unseen }: Read, earlier: Calendar, after: Calendar): Promise<Looked> {
    const { rules } = this.#context.parts;
    const remembered = this.#now.missing;
    const ids = new Set([...unseen.values()].flat());
    const isSeen = ({ id, day }: Note) => seen.has(id) || (unseen.has(day) && !ids.has(id));
    const left = rules.sighted(remembered, isSeen);
    this.#set({ missing: left });
    const lacking = await this.#lacking(unseen);
    const more = [...lacking].map(
      ([day, { length }]) => length - (earlier.entry(day).missing ?? 0),
    );
    const missing = more.reduce((sum, number) => sum + number, earlier.missing);
    const totals = this.#totals({ total: after.total, missing });
    if (!rules.mayGo(left, totals, this.#nowMs)) {
      this.#set({ missing: rules.forgotten(left, this.#nowMs) });
      await this.#save(remembered);
      return { missing: numbersOf(lacking), sightings: [], withdrawals: [] };
    }
    const { tooManySince: _, ...few } = left;
    const certifications = [...lacking.values()].flat().filter((one) => typeof one === 'object');
    const noted = rules.noted(few, certifications, this.#nowMs);
    this.#set({ missing: noted });
    const most = rules.allowance(noted, totals, this.#nowMs);
    const { sightings, withdrawals } = await this.#askByIds(certifications, beganAt, most);
    const gone = new Set(withdrawals.map((change) => change.before.id));
    const { missing: before, withdrawn } = this.#now;
    this.#set({
      charged: { before, gone },
      missing: rules.withdrawing(before, gone, this.#nowMs),
      withdrawn: withdrawn + gone.size,
    });
    const isKept = await this.#save(remembered);
    const moved = sightings.filter(({ changed }) => changed.includes('certified_on'));
    const leaving = new Set([
      ...(isKept ? gone : []),
      ...moved.map(({ assessment: { id } }) => id),
    ]);
    const staying = [...lacking].map(
      ([day, ofDay]) => [day, ofDay.filter((one) => !leaving.has(idOf(one)))] as const,
    );
    return { missing: numbersOf(staying), sightings, withdrawals: isKept ? withdrawals : [] };
  }

  /**
   * The second look at those that are due for it, those that have waited longest first, as long as there is time: what
   * is found out is to be committed, too. Those that their ids had shown may be gone now, and are counted only then.
   */
  async #askByIds(
    lacking: readonly Certification[],
    beganAt: number,
    most: number,
  ): Promise<Pick<Looked, 'sightings' | 'withdrawals'>> {
    const { parts, limit } = this.#context;
    const { withdrawAfterMs } = parts.settings;
    const sightings: Sighting[] = [];
    const withdrawals: Withdrawal[] = [];
    const byId = new Map(lacking.map((certification) => [certification.id, certification]));
    const until = limit.readingDeadline;
    const due = this.#now.missing.notes
      .filter((note) => parts.rules.isAskedFor(note, beganAt, withdrawAfterMs))
      .toSorted((a, b) => (a.askedAt ?? a.since) - (b.askedAt ?? b.since))
      .flatMap(({ id }) => byId.get(id) ?? []);
    for (const certification of due) {
      if (Temporal.Instant.compare(parts.clock.now(), until) >= 0) this.#set({ isOutOfTime: true });
      if (this.#isSpent || withdrawals.length >= most) break;
      const found = await this.#get(certification.id);
      if (found === 'out-of-time') break;
      if (found === undefined) withdrawals.push(withdrawal(certification));
      else sightings.push(...this.#sightingOf(certification, found));
    }
    return { sightings, withdrawals };
  }

  /** There by its id: changed or moved that is a sighting, and otherwise it stays missing. */
  #sightingOf(
    certification: Certification,
    found: Assessment | 'unreadable' | 'failed',
  ): readonly Sighting[] {
    const { id } = certification;
    const { parts, salt } = this.#context;
    const { missing } = this.#now;
    const known = new Map([[id, certification]]);
    const { changes } = parts.rules.compare(
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
          ? parts.rules.sighted(missing, isSeen)
          : asked(missing, id, found !== 'failed', this.#nowMs),
    });
    return changes;
  }

  /**
   * By day: what the ledger has there and the read lacked. The index lags, so the certification itself is
   * asked, which may have left the day already; of a thousand at most: so many more are only counted.
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

  /** Under the lease, before anything that rests on it. @returns `false` when it was lost: nothing may be withdrawn. */
  async #save(before: Missing): Promise<boolean> {
    if (isDeepStrictEqual(before, this.#now.missing)) return true;
    const { parts, lease } = this.#context;
    const soonest = this.#nowMs + parts.settings.withdrawAfterMs;
    const { lookAt = soonest } = this.#now.missing;
    const missing = { ...this.#now.missing, lookAt: Math.min(lookAt, soonest) };
    const isKept = await parts.ledger.saveState({ missing }, lease);
    if (!isKept) parts.journal.warn('lease lost', { owner: lease.owner });
    return isKept;
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
      parts.journal.warn('record not to be had by its id', { certification: id, error });
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
