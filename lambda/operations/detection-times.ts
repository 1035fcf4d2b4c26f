import { auditPlan } from '../detection/due.ts';
import type { TickSettings } from '../settings.ts';
import type { ResultOf } from './contract.ts';

/**
 * Assessments that one request of an audit proves at least: neighbouring days share a request as long
 * as they fit into a page of a hundred, so two in a row have more than that together.
 */
const rowsARequest = 50;

/**
 * How long it takes at worst until a change is found (docs/detection.md): by the total and the page, a tick, and for
 * what is gone a second look after `withdrawAfter`; by the audits, their period and what they wait to be spent together.
 * What asks for more requests than ticks may make waits as long as a pass takes.
 *
 * @param certifications known, of the recent window and in all
 */
export function detectionTimes(
  { every, audit, withdrawAfterMs }: Pick<TickSettings, 'every' | 'audit' | 'withdrawAfterMs'>,
  certifications: { readonly recent: number; readonly all: number },
): ResultOf<'status'>['detection'] {
  const perTick = Math.max(1, audit.requests);
  const requestsFor = (rows: number) => Math.ceil(rows / rowsARequest) + 1;
  const ofWindow = Math.ceil(requestsFor(certifications.recent) / perTick) * every;
  const recent = Math.ceil(Math.max(audit.recentMs / 60_000, ofWindow) + ofWindow);
  const ofAll = requestsFor(certifications.all);
  const { historyMs, perMinute } = auditPlan(ofAll, '', { ...audit, requests: perTick });
  const pass = Math.max(historyMs / 60_000, ofAll / perMinute);
  const history = Math.ceil(pass + perTick / perMinute) + every;
  const withdrawn = withdrawAfterMs / 60_000 + 2 * every;
  return { news: every, withdrawn, editedRecent: recent, editedHistory: history };
}
