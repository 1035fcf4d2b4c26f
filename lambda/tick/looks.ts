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
import { reachOf } from '../errors.ts';
import type { Assessment } from '../events/assessment.ts';
import type { Done, Looking } from './done.ts';
import type { LeasedParts, Step } from './parts.ts';
import { ask, readingDeadline } from './time.ts';

/** Limit for requests by id in one tick, besides the requests of its reads. */
const lookups = 100;
/**
 * After this many failures a tick asks for no more ids: the endpoint or the network is at fault.
 */
const failuresBorne = 3;

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

/** Whether this tick may ask for no more ids. */
const isSpent = ({ asked, failures, isOutOfTime }: Looking): boolean =>
  asked >= lookups || failures >= failuresBorne || isOutOfTime;

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
 * Days due for a look: none while too many are missing, or while no more ids can be asked for.
 */
export function dueLooks(
  looking: Looking,
  calendar: Calendar,
  withdrawAfterMs: number,
  nowMs: number,
): readonly DueLook[] {
  const { missing } = looking;
  const totals = totalsOf(looking, calendar);
  if (isSpent(looking) || !mayGo(missing, totals, nowMs)) return [];
  if (allowance(missing, totals, nowMs) === 0) return [];
  return looksDue(missing, calendar.entries, withdrawAfterMs);
}

/** @returns the memory for the state; `undefined`: nothing is missing */
export function missingAfter(
  looking: Looking,
  calendar: Calendar,
  withdrawAfterMs: number,
  nowMs: number,
): Missing | undefined {
  const totals = totalsOf(looking, calendar);
  return concludedMissing(looking.missing, calendar, totals, withdrawAfterMs, nowMs);
}

/**
 * Takes back withdrawals that were not committed as far as this tick knows. The ledger tells which
 * were committed although the answer was lost: these count towards the limit of the day.
 *
 * @returns the withdrawals whose certifications stay
 */
export async function* giveBack(
  { ledger, clock }: LeasedParts,
  done: Done,
  withdrawals: readonly Withdrawal[],
): Step<[Done, readonly Withdrawal[]]> {
  if (withdrawals.length === 0) return [done, []];
  const known = await ledger.known(withdrawals.map(({ id }) => id));
  const staying = withdrawals.filter(({ id }) => known.get(id)?.presence === 'present');
  if (staying.length === 0) return [done, staying];
  const nowMs = clock.now().epochMilliseconds;
  const ids = new Set(staying.map(({ id }) => id));
  const { charged, withdrawn } = done.looking;
  const gone = new Set([...charged.gone].filter((id) => !ids.has(id)));
  const missing = [...ids].reduce(
    (now, id) => asked(now, id, 'uncommitted', nowMs),
    withdrawing(charged.before, gone, nowMs),
  );
  return [yield { is: 'looking', missing, withdrawn: withdrawn - ids.size }, staying];
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
  done: Done,
  { beganAt, seen, unseen }: ReadSeen,
  earlier: Calendar,
  after: Calendar,
): Step<[Done, Looked]> {
  const { clock } = at;
  const remembered = done.looking.missing;
  const ids = new Set([...unseen.values()].flat());
  const isSeen = ({ id, day }: Note) => seen.has(id) || (unseen.has(day) && !ids.has(id));
  const left = sighted(remembered, isSeen);
  yield { is: 'looking', missing: left };
  const lacking = await lackingOf(at, unseen);
  const more = [...lacking].map(([day, { length }]) => length - (earlier.entry(day).missing ?? 0));
  const missing = more.reduce((sum, number) => sum + number, earlier.missing);
  const counts = { total: after.total, missing, unread: after.unread };
  const totals = totalsOf(done.looking, counts);
  const nowMs = clock.now().epochMilliseconds;
  if (!mayGo(left, totals, nowMs)) {
    const forgetting = yield { is: 'looking', missing: forgotten(left, nowMs) };
    const [now] = yield* save(at, forgetting, remembered);
    return [now, { missing: numbersOf(lacking), sightings: [], withdrawals: [] }];
  }
  const { tooManySince: _, ...few } = left;
  const certifications = [...lacking.values()].flat().filter((one) => typeof one === 'object');
  const withNotes = noted(few, certifications, nowMs);
  const noting = yield { is: 'looking', missing: withNotes };
  const most = allowance(withNotes, totals, nowMs);
  const [asking, found] = yield* askByIds(at, noting, certifications, beganAt, most);
  const { sightings, withdrawals } = found;
  const gone = new Set(withdrawals.map((change) => change.before.id));
  const { missing: before, withdrawn } = asking.looking;
  const charging = yield {
    is: 'looking',
    charged: { before, gone },
    missing: withdrawing(before, gone, clock.now().epochMilliseconds),
    withdrawn: withdrawn + gone.size,
  };
  const [now, isSaved] = yield* save(at, charging, remembered);
  const moved = sightings.filter(({ changed }) => changed.includes('certified_on'));
  const leaving = new Set([...(isSaved ? gone : []), ...moved.map(({ id }) => id)]);
  const staying = [...lacking].map(
    ([day, ofDay]) => [day, ofDay.filter((one) => !leaving.has(idOf(one)))] as const,
  );
  const looked = { missing: numbersOf(staying), sightings };
  return [now, { ...looked, withdrawals: isSaved ? withdrawals : [] }];
}

/**
 * Asks for the ids that are due for their second look, the longest waiting first. It stops early,
 * because committing its findings takes time too. A certification that its id has shown may have
 * gone since; it counts towards the limit only then.
 */
async function* askByIds(
  at: LeasedParts,
  done: Done,
  lacking: readonly Certification[],
  beganAt: number,
  most: number,
): Step<[Done, Pick<Looked, 'sightings' | 'withdrawals'>]> {
  const { clock, settings, state } = at;
  // The last tick vouches for our clock only so far.
  const seenAt = Math.min(beganAt, vouchedUntil(state.heartbeat, settings.every));
  const sightings: Sighting[] = [];
  const withdrawals: Withdrawal[] = [];
  const byId = new Map(lacking.map((certification) => [certification.id, certification]));
  const until = readingDeadline(done.time, clock.now());
  const due = done.looking.missing.notes
    .filter((note) => isAskedFor(note, seenAt, settings.withdrawAfterMs))
    .toSorted((a, b) => (a.askedAt ?? a.since) - (b.askedAt ?? b.since))
    .flatMap(({ id }) => byId.get(id) ?? []);
  const waiting = new Set(due.map(({ id }) => id));
  let now = done;
  for (const certification of due) {
    if (Temporal.Instant.compare(clock.now(), until) >= 0)
      now = yield { is: 'looking', isOutOfTime: true };
    if (isSpent(now.looking) || withdrawals.length >= most) break;
    let found: Shown;
    [now, found] = yield* getById(at, now, certification.id);
    if (found === 'out-of-time') break;
    waiting.delete(certification.id);
    if (found === undefined) withdrawals.push(withdrawal(certification));
    else {
      const { changes, missing } = sightingOf(at, now.looking, certification, found);
      now = yield { is: 'looking', missing };
      sightings.push(...changes);
    }
  }
  // The tick was kept from it by failures, the pace or time.
  if (withdrawals.length < most) {
    const { missing } = now.looking;
    now = yield {
      is: 'looking',
      missing: unasked(missing, waiting, clock.now().epochMilliseconds),
    };
  }
  return [now, { sightings, withdrawals }];
}

type Shown = Assessment | 'unreadable' | 'out-of-time' | 'failed' | undefined;

/** A record that its id shows changed or moved is a sighting. An unchanged one stays missing. */
function sightingOf(
  { clock, settings, state }: LeasedParts,
  { missing }: Looking,
  certification: Certification,
  found: Assessment | 'unreadable' | 'failed',
): { readonly changes: readonly Sighting[]; readonly missing: Missing } {
  const { id } = certification;
  const nowMs = clock.now().epochMilliseconds;
  const rows = typeof found === 'string' ? [] : [found];
  const known = new Map([[id, certification]]);
  const { changes } = compare(rows, known, state.salt, nowMs, settings.withdrawAfterMs);
  const answer = found === 'failed' ? 'none' : 'shown';
  return {
    changes,
    missing:
      changes.length > 0
        ? sighted(missing, (note) => note.id === id)
        : asked(missing, id, answer, nowMs),
  };
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
async function* save(at: LeasedParts, done: Done, before: Missing): Step<[Done, boolean]> {
  const { missing: now } = done.looking;
  if (isDeepStrictEqual(before, now)) return [done, true];
  const { clock, ledger, settings, lease } = at;
  const soonest = clock.now().epochMilliseconds + settings.withdrawAfterMs;
  const missing = { ...now, lookAt: Math.min(now.lookAt ?? soonest, soonest) };
  if (await ledger.saveState({ missing }, lease)) return [done, true];
  return [yield { is: 'warned', what: 'lease lost', details: { owner: lease.owner } }, false];
}

/** A record that was seen quarantined is not gone, even if its id answers 404. */
async function* getById(at: LeasedParts, done: Done, id: number): Step<[Done, Shown]> {
  const { partner, state } = at;
  const name = String(id);
  if (done.quarantined.has(name) || state.reported.includes(name)) return [done, 'unreadable'];
  yield { is: 'looking', asked: done.looking.asked + 1 };
  try {
    const found = await ask(done.time, (deadline) => partner.get(id, deadline));
    const assessments = typeof found === 'object' ? [found] : [];
    return [yield { is: 'shown', assessments, quarantined: [] }, found];
  } catch (error) {
    if (reachOf(error) !== 'request') throw error;
    yield { is: 'looking', failures: done.looking.failures + 1 };
    const details = { certification: id, error };
    return [yield { is: 'warned', what: 'record not readable by its id', details }, 'failed'];
  }
}

const idOf = (one: Certification | number) => (typeof one === 'number' ? one : one.id);

const numbersOf = (
  byDay: Iterable<readonly [day: string, ofDay: readonly unknown[]]>,
): ReadonlyMap<string, number> => new Map([...byDay].map(([day, { length }]) => [day, length]));
