import { type Compared, compare, type Sighting } from '../decisions/compare.ts';
import { cutOffDay, isRehashing, markOf } from '../decisions/fingerprint.ts';
import type { Returned } from '../decisions/twins.ts';
import { reachOf } from '../errors.ts';
import type { Assessment } from '../events/assessment.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import type { LeasedState } from '../ports/state.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';
import type { SeenTwins } from './twins.ts';

/**
 * Finds new and changed rows on the newest page. A page of only one day may not show all of that
 * day, so the other end of the day is asked for as well. Only rows that may differ from the ledger
 * are looked up; after a crash, all rows.
 */
export async function readPage(
  parts: TickParts,
  limit: TimeLimit,
  pulse: PulseRead,
  state: LeasedState,
  seen: SeenTwins,
) {
  const { salt } = state;
  const agreed = new Set(state.dirtySince ? [] : state.agreed);
  const isOneDay = new Set(pulse.assessments.map(({ certified_on }) => certified_on)).size === 1;
  const comparing = { parts, limit, state, twins: seen };
  let { assessments, count } = pulse;
  for (let isTail = false; ; isTail = true) {
    const rows = assessments.filter((row) => !agreed.has(markOf(row, salt)));
    // In all rows: those that agree would leave one version.
    const twins = seen.of({ assessments });
    const compared = await compareWithLedger(comparing, rows, twins, isAloneOn(pulse));
    const changes = compared.changes.filter(isSeenWhole(pulse));
    const unknown = changes.filter(({ kind }) => kind !== 'updated').length;
    for (const row of compared.same) agreed.add(markOf(row, salt));
    const page = {
      /** Ids of its readable rows. */
      seen: new Set(assessments.map(({ id }) => id)),
      /** Rows that equal the ledger's. */
      agreed: assessments.filter((row) => agreed.has(markOf(row, salt))),
      changes,
      /** It shows rows of a lagging replica, so changes that it hides may appear later. */
      isOlder: compared.older.length > 0,
      /** Its changes explain the total. If not, a certification has come or gone elsewhere. */
      isAll: count === state.expected + state.unexplained + unknown,
    };
    if (page.isAll || !isOneDay || isTail) return page;
    const tail = await limit.ask((deadline) => parts.partner.tail(pulse, deadline));
    if (tail === 'out-of-time') return page;
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

/** The most ids that a comparison asks for, because its rows disagree. */
const askedAtMost = 10;

export interface Comparing {
  readonly parts: TickParts;
  readonly limit: TimeLimit;
  readonly state: Pick<LeasedState, 'salt' | 'rules'>;
  readonly twins: SeenTwins;
}

/**
 * @param unsure ids whose rows say nothing about content
 * @param isAlone whether an id can have no other row on these days
 * @param isAsked whether an unknown one of them is asked for by its id, whose answer then counts
 */
export async function compareWithLedger(
  { parts, limit, state: { salt, rules: hashedBy }, twins }: Comparing,
  rows: readonly Assessment[],
  unsure: ReadonlySet<number>,
  isAlone: (returned: Returned) => boolean,
  isAsked: (sighting: Sighting) => boolean = () => true,
): Promise<Compared> {
  const { ledger, clock, settings, partner, journal } = parts;
  const known = await ledger.known(rows.map(({ id }) => id));
  const nowMs = clock.now().epochMilliseconds;
  const comparison = (some: readonly Assessment[], twins?: ReadonlySet<number>) =>
    compare(some, known, salt, nowMs, settings.withdrawAfterMs, twins, isAlone);
  const compared = comparison(rows, unsure);
  twins.add(compared.returned);
  if (isRehashing(hashedBy, nowMs)) await ledger.rehash(compared.outdated);
  const asked = compared.changes.filter((one) => unsure.has(one.id) && isAsked(one));
  const shown: Assessment[] = [];
  for (const { id } of asked.slice(0, askedAtMost)) {
    try {
      const found = await limit.ask((deadline) => partner.get(id, deadline));
      if (found === 'out-of-time') break;
      if (typeof found === 'object') shown.push(found);
    } catch (error) {
      if (reachOf(error) !== 'request') throw error;
      journal.warn('record not readable by its id', { certification: id, error });
      break;
    }
  }
  const ids = new Set(shown.map(({ id }) => id));
  const changes = compared.changes.filter(({ id }) => !ids.has(id));
  return { ...compared, changes: [...changes, ...comparison(shown).changes] };
}
