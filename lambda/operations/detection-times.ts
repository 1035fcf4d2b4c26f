import type { ResultOf } from './contract.ts';
import type { OperationSettings } from './parts.ts';

/**
 * Assessments that one request of an audit proves at least: neighbouring days share a request as long
 * as they fit into a page of a hundred, so two in a row have more than that together.
 */
const rowsARequest = 50;

/**
 * How long it takes at worst until a change is found (docs/detection.md): by the total and the page,
 * a tick; by the audits, their period and a tick, or in the history the time of one pass over it.
 */
export function detectionTimes(
  { every, audit }: Pick<OperationSettings, 'every' | 'audit'>,
  certifications: number,
): ResultOf<'status'>['detection'] {
  const requests = Math.ceil(certifications / rowsARequest) + 1;
  const pass = Math.ceil(requests / Math.max(1, audit.requests)) * every;
  const recent = Math.ceil(audit.recentMs / 60_000) + every;
  const history = Math.ceil(audit.historyMs / 60_000) + pass;
  return [
    { change: 'new', minutes: every, by: 'total' },
    { change: 'withdrawn', minutes: every, by: 'total' },
    { change: 'restored', minutes: every, by: 'total' },
    { change: 'edited-newest', minutes: every, by: 'page' },
    { change: 'edited-recent', minutes: recent, by: 'audit' },
    { change: 'edited-history', minutes: history, by: 'audit' },
    { change: 'replaced', minutes: history, by: 'audit' },
  ];
}
