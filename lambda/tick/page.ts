import { type Compared, compare, type Sighting } from '../decisions/compare.ts';
import { cutOffDay, isRehashing, markOf } from '../decisions/fingerprint.ts';
import type { PulseRead } from '../decisions/partner-reads.ts';
import { type Returned, type Shown, twinsAfter, twinsIn, withSeen } from '../decisions/twins.ts';
import { reachOf } from '../errors.ts';
import type { Assessment } from '../events/assessment.ts';
import type { Looking } from './done.ts';
import type { LeasedParts, Step, TickParts } from './parts.ts';
import { ask, deadlineOf } from './time.ts';

/** The newest page. */
export async function* askPulse({ partner }: TickParts): Step<PulseRead> {
  const pulse = await partner.pulse(deadlineOf((yield).time));
  yield { is: 'shown', ...pulse };
  return pulse;
}

/** A page that was compared with the ledger. */
export interface ComparedPage {
  /** Ids of its readable rows. */
  readonly seen: ReadonlySet<number>;
  /** Rows that equal the ledger's. */
  readonly agreed: readonly Assessment[];
  readonly changes: readonly Sighting[];
  /** It shows rows of a lagging replica, so changes that it hides may appear later. */
  readonly isOlder: boolean;
  /** Its changes explain the total. If not, a certification has come or gone elsewhere. */
  readonly isAll: boolean;
}

/**
 * Finds new and changed rows on the newest page. A page of only one day may not show all of that
 * day, so the other end of the day is asked for as well. Only rows that may differ from the ledger
 * are looked up; after a crash, all rows.
 */
export async function* readPage(at: LeasedParts, pulse: PulseRead): Step<ComparedPage> {
  const { partner, state } = at;
  const { salt } = state;
  const agreed = new Set(state.dirtySince ? [] : state.agreed);
  const isOneDay = new Set(pulse.assessments.map(({ certified_on }) => certified_on)).size === 1;
  let { assessments, count } = pulse;
  for (let isTail = false; ; isTail = true) {
    const rows = assessments.filter((row) => !agreed.has(markOf(row, salt)));
    // In all rows: those that agree would leave one version.
    const unsure = yield* twinsSeen(at, { assessments });
    const compared = yield* compareWithLedger(at, rows, unsure, isAloneOn(pulse));
    const changes = compared.changes.filter(isSeenWhole(pulse));
    const unknown = changes.filter(({ kind }) => kind !== 'updated').length;
    for (const row of compared.same) agreed.add(markOf(row, salt));
    const page = {
      seen: new Set(assessments.map(({ id }) => id)),
      agreed: assessments.filter((row) => agreed.has(markOf(row, salt))),
      changes,
      isOlder: compared.older.length > 0,
      isAll: count === state.expected + state.unexplained + unknown,
    };
    if (page.isAll || !isOneDay || isTail) return page;
    const tail = await ask((yield).time, (deadline) => partner.tail(pulse, deadline));
    if (tail === 'out-of-time') return page;
    yield { is: 'shown', ...tail };
    assessments = [...assessments, ...tail.assessments];
    ({ count } = tail);
  }
}

/**
 * A day that a page shows in part may have another row of the same id, so an edit is none until a
 * read has shown the day whole.
 */
export function isSeenWhole(pulse: PulseRead): (sighting: Sighting) => boolean {
  const cutOff = cutOffDay(pulse);
  return ({ kind, assessment }) => kind !== 'updated' || assessment.certified_on !== cutOff;
}

/**
 * On the oldest day, edits are none anyway. Other days are seen whole, but not those that a page does
 * not reach.
 */
export function isAloneOn(pulse: PulseRead): (returned: Returned) => boolean {
  const cutOff = cutOffDay(pulse) ?? '';
  return ({ days }) => days.at(-1) === cutOff || days.every((day) => day > cutOff);
}

/**
 * The ids whose rows say nothing about content, in this read or an earlier one.
 *
 * @param isWhole whether the read has shown every row of a day: of one that is sure, with a proof
 */
export async function* twinsSeen(
  { state: { salt } }: LeasedParts,
  shown: Shown,
  isWhole: (day: string, isSure: boolean) => boolean = () => false,
): Step<ReadonlySet<number>> {
  const { twins: before } = yield;
  const twins = twinsAfter(before, shown, isWhole, salt);
  const left = new Set(twins.map(({ id }) => id));
  const twinsEnded = new Set(before.map(({ id }) => id).filter((id) => !left.has(id)));
  yield { is: 'twins', twins, twinsEnded };
  return new Set([...left, ...twinsIn(shown, salt)]);
}

/** The most ids that a comparison asks for, because its rows disagree. */
const askedAtMost = 10;

/**
 * @param unsure ids whose rows say nothing about content
 * @param isAlone whether an id can have no other row on these days
 * @param isAsked whether an unknown one of them is asked for by its id, whose answer then counts
 */
export async function* compareWithLedger(
  at: LeasedParts,
  rows: readonly Assessment[],
  unsure: ReadonlySet<number>,
  isAlone: (returned: Returned) => boolean,
  isAsked: (sighting: Sighting) => boolean = () => true,
): Step<Compared> {
  const { ledger, clock, settings, state } = at;
  const known = await ledger.known(rows.map(({ id }) => id));
  const nowMs = clock.now().epochMilliseconds;
  const comparison = (some: readonly Assessment[], twins?: ReadonlySet<number>) =>
    compare(some, known, state.salt, nowMs, settings.withdrawAfterMs, twins, isAlone);
  const compared = comparison(rows, unsure);
  yield { is: 'twins', twins: withSeen((yield).twins, compared.returned) };
  if (isRehashing(state.rules, nowMs)) await ledger.rehash(compared.outdated);
  const asked = compared.changes.filter((one) => unsure.has(one.id) && isAsked(one));
  const shown: Assessment[] = [];
  for (const { id } of asked.slice(0, askedAtMost)) {
    const found = yield* getById(at, id);
    if (found === 'out-of-time' || found === 'failed') break;
    if (typeof found === 'object') shown.push(found);
  }
  const ids = new Set(shown.map(({ id }) => id));
  const changes = compared.changes.filter(({ id }) => !ids.has(id));
  return { ...compared, changes: [...changes, ...comparison(shown).changes] };
}

/** Limit for requests by id in one tick, besides the requests of its reads. */
const lookups = 100;
/**
 * After this many failures a tick asks for no more ids: the endpoint or the network is at fault.
 */
const failuresBorne = 3;

/** Whether this tick may ask for no more ids. */
export const isSpent = ({ asked, failures, isOutOfTime }: Looking): boolean =>
  asked >= lookups || failures >= failuresBorne || isOutOfTime;

/**
 * The record as its id shows it; `undefined`: it is gone. A record that was seen quarantined is
 * not, even if its id answers 404. `out-of-time`: no more ids are asked for, too.
 */
export async function* getById(
  { partner, state }: LeasedParts,
  id: number,
): Step<Assessment | 'unreadable' | 'out-of-time' | 'failed' | undefined> {
  const name = String(id);
  const { quarantined, time, looking } = yield;
  if (quarantined.has(name) || state.reported.includes(name)) return 'unreadable';
  if (isSpent(looking)) return 'out-of-time';
  yield { is: 'looking', asked: looking.asked + 1 };
  try {
    const found = await ask(time, (deadline) => partner.get(id, deadline));
    if (typeof found === 'object') yield { is: 'shown', assessments: [found], quarantined: [] };
    return found;
  } catch (error) {
    if (reachOf(error) !== 'request') throw error;
    yield { is: 'looking', failures: looking.failures + 1 };
    const details = { certification: id, error };
    yield { is: 'warned', what: 'record not readable by its id', details };
    return 'failed';
  }
}
