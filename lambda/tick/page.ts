import type { Compared } from '../detection/compare.ts';
import { isRehashing, markOf } from '../detection/fingerprint.ts';
import type { Assessment } from '../events/assessment.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import type { LeasedState } from '../ports/state.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

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
) {
  const { salt } = state;
  const agreed = new Set(state.dirtySince ? [] : state.agreed);
  const isOneDay = new Set(pulse.assessments.map(({ certified_on }) => certified_on)).size === 1;
  let { assessments, count } = pulse;
  for (let isTail = false; ; isTail = true) {
    const rows = assessments.filter((row) => !agreed.has(markOf(row, salt)));
    const compared = await compareWithLedger(parts, rows, state);
    const unknown = compared.changes.filter(({ kind }) => kind !== 'updated').length;
    for (const row of compared.same) agreed.add(markOf(row, salt));
    const page = {
      /** Ids of its readable rows. */
      seen: new Set(assessments.map(({ id }) => id)),
      /** Rows that equal the ledger's. */
      agreed: assessments.filter((row) => agreed.has(markOf(row, salt))),
      changes: compared.changes,
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

export async function compareWithLedger(
  { ledger, rules, clock, settings }: TickParts,
  rows: readonly Assessment[],
  { salt, rules: hashedBy }: Pick<LeasedState, 'salt' | 'rules'>,
): Promise<Compared> {
  const known = await ledger.known(rows.map(({ id }) => id));
  const nowMs = clock.now().epochMilliseconds;
  const compared = rules.compare(rows, known, salt, nowMs, settings.withdrawAfterMs);
  if (isRehashing(hashedBy, nowMs)) await ledger.rehash(compared.outdated);
  return compared;
}
