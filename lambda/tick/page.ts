import { type Compared, compare, type Sighting } from '../decisions/compare.ts';
import { cutOffDay, isRehashing, markOf } from '../decisions/fingerprint.ts';
import {
  type Returned,
  type Shown,
  twinsAfter,
  twinsIn,
  withReturned,
} from '../decisions/twins.ts';
import { reachOf } from '../errors.ts';
import type { Assessment } from '../events/assessment.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import type { Done } from './done.ts';
import type { LeasedParts, Step, TickParts } from './parts.ts';
import { ask, deadlineOf } from './time.ts';

/** The newest page. */
export async function* askPulse({ partner }: TickParts, done: Done): Step<[Done, PulseRead]> {
  const pulse = await partner.pulse(deadlineOf(done.time));
  return [yield { is: 'shown', ...pulse }, pulse];
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
export async function* readPage(
  at: LeasedParts,
  done: Done,
  pulse: PulseRead,
): Step<[Done, ComparedPage]> {
  const { partner, state } = at;
  const { salt } = state;
  const agreed = new Set(state.dirtySince ? [] : state.agreed);
  const isOneDay = new Set(pulse.assessments.map(({ certified_on }) => certified_on)).size === 1;
  let { assessments, count } = pulse;
  let now = done;
  for (let isTail = false; ; isTail = true) {
    const rows = assessments.filter((row) => !agreed.has(markOf(row, salt)));
    let compared: Compared;
    let unsure: ReadonlySet<number>;
    // In all rows: those that agree would leave one version.
    [now, unsure] = yield* twinsSeen(at, now, { assessments });
    [now, compared] = yield* compareWithLedger(at, now, rows, unsure, isAloneOn(pulse));
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
    if (page.isAll || !isOneDay || isTail) return [now, page];
    const tail = await ask(now.time, (deadline) => partner.tail(pulse, deadline));
    if (tail === 'out-of-time') return [now, page];
    now = yield { is: 'shown', ...tail };
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
 * @param isProven whether the read has shown every row of a day
 */
export async function* twinsSeen(
  { state: { salt } }: Pick<LeasedParts, 'state'>,
  { twins: before }: Done,
  shown: Shown,
  isProven: (day: string) => boolean = () => false,
): Step<[Done, ReadonlySet<number>]> {
  const twins = twinsAfter(before, shown, isProven, salt);
  const left = new Set(twins.map(({ id }) => id));
  const ended = new Set(before.map(({ id }) => id).filter((id) => !left.has(id)));
  return [
    yield { is: 'twins', twins, twinsEnded: ended },
    new Set([...left, ...twinsIn(shown, salt)]),
  ];
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
  done: Done,
  rows: readonly Assessment[],
  unsure: ReadonlySet<number>,
  isAlone: (returned: Returned) => boolean,
  isAsked: (sighting: Sighting) => boolean = () => true,
): Step<[Done, Compared]> {
  const { ledger, clock, settings, partner, state } = at;
  const known = await ledger.known(rows.map(({ id }) => id));
  const nowMs = clock.now().epochMilliseconds;
  const comparison = (some: readonly Assessment[], twins?: ReadonlySet<number>) =>
    compare(some, known, state.salt, nowMs, settings.withdrawAfterMs, twins, isAlone);
  const compared = comparison(rows, unsure);
  let now = yield { is: 'twins', twins: withReturned(done.twins, compared.returned) };
  if (isRehashing(state.rules, nowMs)) await ledger.rehash(compared.outdated);
  const asked = compared.changes.filter((one) => unsure.has(one.id) && isAsked(one));
  const shown: Assessment[] = [];
  for (const { id } of asked.slice(0, askedAtMost)) {
    try {
      const found = await ask(now.time, (deadline) => partner.get(id, deadline));
      if (found === 'out-of-time') break;
      if (typeof found !== 'object') continue;
      now = yield { is: 'shown', assessments: [found], quarantined: [] };
      shown.push(found);
    } catch (error) {
      if (reachOf(error) !== 'request') throw error;
      const details = { certification: id, error };
      now = yield { is: 'warned', what: 'record not readable by its id', details };
      break;
    }
  }
  const ids = new Set(shown.map(({ id }) => id));
  const changes = compared.changes.filter(({ id }) => !ids.has(id));
  return [now, { ...compared, changes: [...changes, ...comparison(shown).changes] }];
}
