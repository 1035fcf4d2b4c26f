import type { State } from '../ports/state.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { OperationParts } from './parts.ts';
import { isBehind } from './standing.ts';
import { ifPaused } from './steering.ts';

export function ledger(state: State | undefined, parts: OperationParts): Finding {
  if (state === undefined)
    return warning(
      'The ledger answers; no tick has ever begun its work.',
      'If the schedule is enabled, wait for a minute and look again.',
    );
  const said = `The ledger answers; the last completed tick ended at ${state.heartbeat ?? '(none yet)'}.`;
  if (!isBehind(state, parts)) return ok(said);
  return warning(said, 'Ticks do not come to their end. What follows may say why; status does.');
}

export function pause(state: State | undefined): Finding {
  const { paused } = ifPaused(state);
  if (paused === undefined) return ok('The integration is not paused.');
  const { since, by = 'somebody', reason = 'no reason given' } = paused;
  return warning(
    `${by} has paused the integration${since === undefined ? '' : ` at ${since}`}: ${reason}.`,
    'Resume it when that is over: until then ticks do nothing, and nothing is announced.',
  );
}

export async function topics(parts: OperationParts): Promise<Finding> {
  const findings = await parts.topics();
  const missing = findings.filter(({ problem }) => problem !== undefined);
  if (missing.length > 0)
    return failed(
      missing.map(({ topic, problem }) => `${topic}: ${problem}`).join('; '),
      'Deploy again: a topic, its policy or the role of the operate function was changed by hand.',
    );
  const waiting = findings.filter(({ pending }) => pending > 0);
  if (waiting.length > 0)
    return warning(
      waiting
        .map(({ topic, pending }) => `${topic}: ${pending} subscriptions are not confirmed`)
        .join('; '),
      'Have each subscriber follow the link in the message that AWS sent; a link is good for two days. After that, subscribe again.',
    );
  const nobody = findings.filter(({ confirmed }) => confirmed === 0);
  if (nobody.length > 0)
    return warning(
      `Nobody is subscribed to: ${nobody.map(({ topic }) => topic).join(', ')}.`,
      'Add subscriptions in notifier.config.ts, and deploy: docs/subscribing.md.',
    );
  return ok(findings.map(({ topic, confirmed }) => `${topic}: ${confirmed} subscribed`).join('; '));
}
