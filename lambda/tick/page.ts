import type { PulseRead } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

/**
 * What the newest page shows as new or changed. A page of one day only may not show all of it: then
 * the other end of that day is asked for as well.
 */
export async function readPage(
  { partner, ledger, rules, clock, settings }: TickParts,
  limit: TimeLimit,
  pulse: PulseRead,
  state: State,
) {
  const isOneDay = new Set(pulse.assessments.map(({ certified_on }) => certified_on)).size === 1;
  let { assessments, count } = pulse;
  for (let isTail = false; ; isTail = true) {
    const known = await ledger.known(assessments.map(({ id }) => id));
    const nowMs = clock.now().epochMilliseconds;
    const { salt } = state;
    const compared = rules.compare(assessments, known, salt, nowMs, settings.withdrawAfterMs);
    const unknown = compared.changes.filter(({ kind }) => kind !== 'updated').length;
    const page = {
      /** Ids that it shows readably. */
      seen: new Set(assessments.map(({ id }) => id)),
      changes: compared.changes,
      /** It shows rows of a replica that lags: what it hides comes to light later. */
      isOlder: compared.older.length > 0,
      /** Its changes explain the total. If not, something has come or gone elsewhere. */
      isAll: count === state.expected + state.unexplained + unknown,
    };
    if (page.isAll || !isOneDay || isTail) return page;
    const tail = await limit.ask((deadline) => partner.tail(pulse, deadline));
    if (tail === 'out-of-time') return page;
    assessments = [...assessments, ...tail.assessments];
    ({ count } = tail);
  }
}
