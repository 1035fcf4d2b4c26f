import { Temporal } from 'temporal-polyfill';
import type { State } from '../ports/state.ts';
import { isBackingOff } from '../tick/back-off.ts';
import { type Reason, type ResultOf, reasons } from './contract.ts';
import type { OperationParts } from './parts.ts';

type Status = ResultOf<'status'>;
type Known = Pick<Status, 'certifications' | 'partner' | 'conditions' | 'waiting'>;

/** After so many periods without a completed tick, the integration is behind; the alarm waits as long. */
const missedTicks = 3;

/** What keeps ticks from finding what they have not found yet. */
export function hindrancesOf(state: State | undefined, parts: OperationParts) {
  const hasBegun = state?.heartbeat !== undefined || state?.baseline.status === 'running';
  return [
    ...(hasBegun ? [] : ['never-ticked' as const]),
    ...(state?.paused ? ['paused' as const] : []),
    ...(state && isBackingOff(state, parts) ? ['backing-off' as const] : []),
    ...(hasBegun && state?.baseline.status !== 'completed' ? ['baseline' as const] : []),
    ...(state?.missing?.tooManySince === undefined ? [] : ['missing' as const]),
  ];
}

/** Everything that keeps an integration from being up to date: "up to date" is said only without any. */
export function reasonsAgainst(
  known: Known,
  state: State | undefined,
  parts: OperationParts,
): Reason[] {
  const { waiting, partner, conditions } = known;
  const isCompleted = state?.baseline.status === 'completed';
  const hindrances = hindrancesOf(state, parts);
  const isLeftAlone = hindrances.some((name) => name === 'paused' || name === 'backing-off');
  const found = new Map<Reason, boolean>([
    ...hindrances.map((name) => [name, true] as const),
    ['behind', isBehind(state, parts)],
    ['partner-silent', !isLeftAlone && partner !== undefined && 'problem' in partner],
    ['unfinished', isCompleted && state?.pulseDigest === undefined],
    ['differs', isCompleted && differs(known, state, parts)],
    ['held', waiting.held > 0],
    ['undeliverable', waiting.undeliverable > 0],
    // After these counts: what is held can be in the index for something else that it owes.
    // Records with odd fields are announced like any other.
    ...conditions.map(({ name }) => [name, name !== 'odd-fields'] as const),
    ['owing', waiting.pending > 0],
  ]);
  return [...new Set(reasons)].filter((reason) => found.get(reason));
}

/** Ticks do not come to their end. Nobody expects it of one that is paused; the very first of a baseline has none yet. */
export function isBehind(state: State | undefined, { clock, settings }: OperationParts): boolean {
  if (state?.heartbeat === undefined || state.paused) return false;
  const since = clock.now().since(Temporal.Instant.from(state.heartbeat));
  return since.total('minutes') > missedTicks * settings.every;
}

/**
 * What has come or gone since the last tick is the next one's to find. What no day has explained to it,
 * or nobody looks for, is in the way.
 */
function differs({ partner, certifications }: Known, state: State, parts: OperationParts): boolean {
  const isUnexplained = state.unexplained !== 0;
  if (partner === undefined || 'problem' in partner) return isUnexplained;
  return partner.count !== certifications && (isUnexplained || isBehind(state, parts));
}
