import type { ResultOf } from './contract.ts';
import type { OperationSettings } from './parts.ts';

/**
 * Assessments that one request of an audit proves at least: neighbouring days share a request as long
 * as they fit into a page of a hundred, so two in a row have more than that together.
 */
const rowsARequest = 50;

/**
 * How long it takes at worst until a change is found (docs/detection.md): by the total and the page,
 * a tick, and for what is gone a second look after `withdrawAfter`; by the audits, their period and the time of one pass over the days in question. What asks for
 * more requests than ticks may make waits for so many periods more, all days alike.
 *
 * @param certifications known, of the recent window and in all
 */
export function detectionTimes(
  { every, audit, withdrawAfterMs }: Pick<OperationSettings, 'every' | 'audit' | 'withdrawAfterMs'>,
  certifications: { readonly recent: number; readonly all: number },
): ResultOf<'status'>['detection'] {
  const perTick = Math.max(1, audit.requests);
  const inMinutes = ({ of, ms }: { of: number; ms: number }) => {
    const requests = Math.ceil(of / rowsARequest) + 1;
    const minutes = ms / 60_000;
    const pass = Math.ceil(requests / perTick) * every;
    return { minutes, pass, ticks: (requests * every) / perTick / minutes };
  };
  const window = inMinutes({ of: certifications.recent, ms: audit.recentMs });
  const whole = inMinutes({ of: certifications.all, ms: audit.historyMs });
  const periods = Math.max(1, window.ticks + whole.ticks);
  const recent = Math.ceil((window.minutes + window.pass) * periods);
  const history = Math.ceil((whole.minutes + whole.pass) * periods);
  return [
    { change: 'new', minutes: every, by: 'total' },
    { change: 'withdrawn', minutes: withdrawAfterMs / 60_000 + 2 * every, by: 'total' },
    { change: 'restored', minutes: every, by: 'total' },
    { change: 'edited-newest', minutes: every, by: 'page' },
    { change: 'edited-recent', minutes: recent, by: 'audit' },
    { change: 'edited-history', minutes: history, by: 'audit' },
    { change: 'replaced', minutes: history, by: 'audit' },
  ];
}
