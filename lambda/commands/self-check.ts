import { isLasting } from '../decisions/conditions.ts';
import { isBackingOff } from '../decisions/pace.ts';
import { selfCheckAfter, type Tried } from '../decisions/self-check.ts';
import type { State } from '../decisions/state.ts';
import { checkNames, type Finding, type Findings } from './finding.ts';
import { knownState } from './lease.ts';
import type { OperationParts } from './parts.ts';

/** Whether scheduled work must not ask the partner now. */
export async function isLeftAlone(parts: OperationParts): Promise<boolean> {
  const state = await knownState(parts);
  return state !== undefined && (state.paused || isBackingOff(state, parts.clock.now()));
}

/**
 * Notes failures, for the next tick to tell ops. Failures that ticks tell by themselves are not
 * noted, nor are those that may be over by now.
 *
 * @param withTopics whether this integration tells of the topics, which all integrations share
 */
export async function noteSelfCheck(
  { ledger, clock, journal }: OperationParts,
  found: Findings,
  withTopics: boolean,
): Promise<void> {
  const failures = [...found].filter(([, { outcome }]) => outcome === 'failed');
  for (const [check, { found, whatToDo, code }] of failures)
    journal.warn('self-check failed', { check, found, whatToDo, code });
  const state = await ledger.recordedState();
  // Before the very first tick, no tick can tell ops.
  if (state === undefined) return;
  const names = checkNames.filter((name) => withTopics || name !== 'topics');
  const tried = names.map((name) => triedOf(name, found.get(name), state));
  const at = clock.now().epochMilliseconds;
  await ledger.saveState({ selfCheck: selfCheckAfter(state.selfCheck, tried, at) });
}

function triedOf(name: string, finding: Finding | undefined, { conditions }: State): Tried {
  if (finding === undefined || finding.outcome === 'skipped') return { name, failed: undefined };
  const { outcome, found, code, isPassing, each = { [name]: found } } = finding;
  if (outcome !== 'failed') return { name, failed: {} };
  const isTold = [...conditions].some(([open, one]) => open === code && isLasting(one));
  return { name, failed: isTold || isPassing ? undefined : each };
}
