import type { Sighting } from '../detection/compare.ts';
import { isOneDay } from '../detection/fingerprint.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';
import type { TickParts } from './parts.ts';
import { sightingsAmong } from './sightings.ts';
import type { TimeLimit } from './time-limit.ts';

export interface PageRead {
  /** Ids that it shows readably. */
  readonly seen: ReadonlySet<number>;
  readonly changes: readonly Sighting[];
  /** Whether they explain the total. If not, something has come or gone elsewhere. */
  readonly isAll: boolean;
  /** It shows rows of a replica that lags: what it hides comes to light later. */
  readonly isOlder: boolean;
}

/**
 * What the newest page shows as new or changed. A page of one day only may not show all of it: then
 * the other end of that day is asked for as well.
 */
export async function readPage(
  parts: Pick<TickParts, 'partner' | 'ledger' | 'rules' | 'clock'>,
  limit: TimeLimit,
  pulse: PulseRead,
  state: State,
): Promise<PageRead> {
  const { partner, ledger } = parts;
  const judged = async (count: number, pages: readonly PulseRead[]): Promise<PageRead> => {
    const assessments = pages.flatMap((page) => page.assessments);
    const known = await ledger.known(assessments.map(({ id }) => id));
    const { changes, older } = sightingsAmong(parts, assessments, known, state.salt);
    const unknown = changes.filter(({ kind }) => kind !== 'updated').length;
    return {
      seen: new Set(assessments.map(({ id }) => id)),
      changes,
      isOlder: older.length > 0,
      isAll: count === state.expected + state.unexplained + unknown,
    };
  };
  const page = await judged(pulse.count, [pulse]);
  if (page.isAll || !isOneDay(pulse)) return page;
  const tail = await limit.ask((deadline) => partner.tail(pulse, deadline));
  return tail === 'out-of-time' ? page : judged(tail.count, [pulse, tail]);
}
