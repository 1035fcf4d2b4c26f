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
import type { DueLook } from '../decisions/due.ts';
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
  vouchedUntil,
  withdrawing,
} from '../decisions/missing.ts';
import type { Assessment } from '../events/assessment.ts';
import { type Looking, leaseLost } from './done.ts';
import { getById, isSpent } from './page.ts';
import type { LeasedParts, Step } from './parts.ts';
import { readingDeadline } from './time.ts';

/** A read of days, some of them proven. */
export interface ReadSeen {
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

function totalsOf(
  { withdrawn, missingBefore, toBeFound }: Looking,
  { total, missing, unread }: Pick<Calendar, 'total' | 'missing' | 'unread'>,
): Totals {
  const found = Math.max(0, missing + withdrawn - missingBefore);
  // Rows that the baseline could not see are in the counts, and not in the ledger.
  return {
    known: total + missing - unread.rows,
    missing: missing + Math.max(0, toBeFound - found),
  };
}

/**
 * Days due for a look: none while too many are missing, or while no more ids can be asked for. A look
 * beyond the time that the last tick vouches for would ask for no ids, so its day would be due again
 * at once.
 */
export function dueLooks(
  { settings, state, clock }: LeasedParts,
  looking: Looking,
  calendar: Calendar,
): readonly DueLook[] {
  const nowMs = clock.now().epochMilliseconds;
  const { missing } = looking;
  const totals = totalsOf(looking, calendar);
  if (isSpent(looking) || !mayGo(missing, totals, nowMs)) return [];
  if (allowance(missing, totals, nowMs) === 0) return [];
  const vouched = vouchedUntil(state.heartbeat, settings.every);
  const due = looksDue(missing, calendar.entries, settings.withdrawAfterMs);
  return due.filter((look) => look.at <= vouched);
}

/** @returns the memory for the state; `undefined`: nothing is missing */
export function missingAfter(
  { settings, clock }: LeasedParts,
  looking: Looking,
  calendar: Calendar,
): Missing | undefined {
  const totals = totalsOf(looking, calendar);
  const nowMs = clock.now().epochMilliseconds;
  return concludedMissing(looking.missing, calendar, totals, settings.withdrawAfterMs, nowMs);
}

/**
 * Takes back withdrawals that were not committed as far as this tick knows. The ledger tells which
 * were committed although the answer was lost: these count towards the limit of the day.
 *
 * @returns the withdrawals whose certifications stay
 */
export async function* giveBack(
  { ledger, clock }: LeasedParts,
  withdrawals: readonly Withdrawal[],
): Step<readonly Withdrawal[]> {
  if (withdrawals.length === 0) return [];
  const known = await ledger.known(withdrawals.map(({ id }) => id));
  const staying = withdrawals.filter(({ id }) => known.get(id)?.presence === 'present');
  if (staying.length === 0) return [];
  const nowMs = clock.now().epochMilliseconds;
  const ids = new Set(staying.map(({ id }) => id));
  const { charged, withdrawn } = (yield).looking;
  const gone = new Set([...charged.gone].filter((id) => !ids.has(id)));
  const missing = [...ids].reduce(
    (now, id) => asked(now, id, 'uncommitted', nowMs),
    withdrawing(charged.before, gone, nowMs),
  );
  yield { is: 'looking', missing, withdrawn: withdrawn - ids.size };
  return staying;
}

/**
 * Withdraws a certification after two looks. A proven read that lacks it notes it as missing. When
 * a proven read that began `withdrawAfter` later lacks it too, its id is asked for, and 404
 * withdraws it. Where too many are missing, nothing is noted: the calendar counts them, and ops are
 * told.
 *
 * @param after the earlier calendar with this read's counts
 */
export async function* look(
  at: LeasedParts,
  { beganAt, seen, unseen }: ReadSeen,
  earlier: Calendar,
  after: Calendar,
): Step<Looked> {
  const { clock } = at;
  const { looking } = yield;
  const { missing: remembered } = looking;
  const ids = new Set([...unseen.values()].flat());
  const isSeen = ({ id, day }: Note) => seen.has(id) || (unseen.has(day) && !ids.has(id));
  const left = sighted(remembered, isSeen);
  const lacking = await lackingOf(at, unseen);
  const more = [...lacking].map(([day, { length }]) => length - (earlier.entry(day).missing ?? 0));
  const missing = more.reduce((sum, number) => sum + number, earlier.missing);
  const totals = totalsOf(looking, { total: after.total, missing, unread: after.unread });
  const nowMs = clock.now().epochMilliseconds;
  if (!mayGo(left, totals, nowMs)) {
    yield { is: 'looking', missing: forgotten(left, nowMs) };
    yield* save(at, remembered);
    return { missing: numbersOf(lacking), sightings: [], withdrawals: [] };
  }
  const { tooManySince: _, ...few } = left;
  const certifications = [...lacking.values()].flat().filter((one) => typeof one === 'object');
  const withNotes = noted(few, certifications, nowMs);
  yield { is: 'looking', missing: withNotes };
  const most = allowance(withNotes, totals, nowMs);
  const { sightings, withdrawals } = yield* askByIds(at, certifications, beganAt, most);
  const gone = new Set(withdrawals.map((change) => change.before.id));
  const { missing: before, withdrawn } = (yield).looking;
  yield {
    is: 'looking',
    charged: { before, gone },
    missing: withdrawing(before, gone, clock.now().epochMilliseconds),
    withdrawn: withdrawn + gone.size,
  };
  const isSaved = yield* save(at, remembered);
  const moved = sightings.filter(({ changed }) => changed.includes('certified_on'));
  const leaving = new Set([...(isSaved ? gone : []), ...moved.map(({ id }) => id)]);
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
async function* askByIds(
  at: LeasedParts,
  lacking: readonly Certification[],
  beganAt: number,
  most: number,
): Step<Pick<Looked, 'sightings' | 'withdrawals'>> {
  const { clock, settings, state } = at;
  // The last tick vouches for our clock only so far.
  const seenAt = Math.min(beganAt, vouchedUntil(state.heartbeat, settings.every));
  const sightings: Sighting[] = [];
  const withdrawals: Withdrawal[] = [];
  const byId = new Map(lacking.map((certification) => [certification.id, certification]));
  const { time, looking } = yield;
  const until = readingDeadline(time, clock.now());
  const due = looking.missing.notes
    .filter((note) => isAskedFor(note, seenAt, settings.withdrawAfterMs))
    .toSorted((a, b) => (a.askedAt ?? a.since) - (b.askedAt ?? b.since))
    .flatMap(({ id }) => byId.get(id) ?? []);
  const waiting = new Set(due.map(({ id }) => id));
  for (const certification of due) {
    if (Temporal.Instant.compare(clock.now(), until) >= 0)
      yield { is: 'looking', isOutOfTime: true };
    if (isSpent((yield).looking) || withdrawals.length >= most) break;
    const found = yield* getById(at, certification.id);
    if (found === 'out-of-time') break;
    waiting.delete(certification.id);
    if (found === undefined) withdrawals.push(withdrawal(certification));
    else sightings.push(...(yield* shownById(at, certification, found)));
  }
  // The tick was kept from it by failures, the pace or time.
  const { missing } = (yield).looking;
  if (withdrawals.length < most)
    yield {
      is: 'looking',
      missing: unasked(missing, waiting, clock.now().epochMilliseconds),
    };
  return { sightings, withdrawals };
}

/** A record that its id shows changed or moved is a sighting. An unchanged one stays missing. */
async function* shownById(
  { clock, settings, state }: LeasedParts,
  certification: Certification,
  found: Assessment | 'unreadable' | 'failed',
): Step<readonly Sighting[]> {
  const { id } = certification;
  const nowMs = clock.now().epochMilliseconds;
  const rows = typeof found === 'string' ? [] : [found];
  const known = new Map([[id, certification]]);
  const { changes } = compare(rows, known, state.salt, nowMs, settings.withdrawAfterMs);
  const { missing } = (yield).looking;
  const after =
    changes.length > 0
      ? sighted(missing, (note) => note.id === id)
      : asked(missing, id, found === 'failed' ? 'none' : 'shown', nowMs);
  yield { is: 'looking', missing: after };
  return changes;
}

/**
 * By day: certifications of the ledger that the read lacked. The index lags, and a certification
 * may have left the day, so its item is read. Ids beyond `mostKnown` are only counted.
 */
async function lackingOf(
  { ledger }: LeasedParts,
  unseen: ReadSeen['unseen'],
): Promise<ReadonlyMap<string, readonly (Certification | number)[]>> {
  const ids = [...unseen.values()].flat();
  const lookedUp = new Set(ids.slice(0, mostKnown));
  const known = await ledger.known([...lookedUp]);
  const isHere = (day: string, one: Certification | undefined) =>
    one?.presence === 'present' && one.day === day ? [one] : [];
  return new Map(
    [...unseen].map(([day, ofDay]) => [
      day,
      ofDay.flatMap((id): (Certification | number)[] =>
        lookedUp.has(id) ? isHere(day, known.get(id)) : [id],
      ),
    ]),
  );
}

/**
 * The memory is written under the lease, before anything relies on it.
 * @returns `false` if the lease was lost: nothing may be withdrawn
 */
async function* save(at: LeasedParts, before: Missing): Step<boolean> {
  const { missing: now } = (yield).looking;
  if (isDeepStrictEqual(before, now)) return true;
  const { clock, ledger, settings, lease } = at;
  const soonest = clock.now().epochMilliseconds + settings.withdrawAfterMs;
  const missing = { ...now, lookAt: Math.min(now.lookAt ?? soonest, soonest) };
  if (await ledger.saveState({ missing }, lease)) return true;
  yield leaseLost(lease);
  return false;
}

const idOf = (one: Certification | number) => (typeof one === 'number' ? one : one.id);

const numbersOf = (
  byDay: Iterable<readonly [day: string, ofDay: readonly unknown[]]>,
): ReadonlyMap<string, number> => new Map([...byDay].map(([day, { length }]) => [day, length]));
