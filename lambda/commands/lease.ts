import { isBackingOff } from '../decisions/pace.ts';
import { type Lease, type LeasedState, noLease, type State } from '../decisions/state.ts';
import { judged, mendedBy } from '../decisions/stored-times.ts';
import { isOver, leaseOf } from '../tick/time.ts';
import { BackingOffError, BusyError, NothingRecordedError, PausedError } from './errors.ts';
import type { Call, OperationParts } from './parts.ts';

const pauseMs = 1_000;

type Recorded = Pick<OperationParts, 'ledger' | 'clock' | 'settings'>;

/** Undefined before the very first tick. */
export async function knownState({
  ledger,
  clock,
  settings,
}: Recorded): Promise<State | undefined> {
  return judged(await ledger.recordedState(), clock.now().epochMilliseconds, settings);
}

/** @throws NothingRecordedError before the very first tick */
export async function recordedState(parts: Recorded): Promise<State> {
  const state = await knownState(parts);
  if (state === undefined) throw new NothingRecordedError(parts.settings.name);
  return state;
}

/**
 * Does the work while no tick is at work, and waits for one that is. Afterwards the next tick looks
 * for events to deliver, because the lease leaves `dirtySince` set.
 *
 * @throws BusyError if the other one has not ended in time
 */
export async function underLease<Result>(
  parts: OperationParts,
  { id, time }: Call,
  work: (state: LeasedState, lease: Lease) => Promise<Result>,
): Promise<Result> {
  const { ledger, clock, settings } = parts;
  await recordedState(parts);
  const lease = leaseOf(id, time);
  const taken = await whenFree(parts, time, () => ledger.takeLease(lease, clock.now()));
  if (taken === undefined) throw new BusyError();
  try {
    const state = judged(taken, clock.now().epochMilliseconds, settings);
    const mended = mendedBy(taken, state);
    if (mended && !(await ledger.saveState(mended, lease))) throw new BusyError();
    return await work(state, lease);
  } finally {
    await ledger.saveState(noLease, lease);
  }
}

/**
 * Tries again as long as others are at work.
 * @returns `undefined` if time was over before
 */
export async function whenFree<Result>(
  { clock }: OperationParts,
  time: Call['time'],
  attempt: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  for (;;) {
    const result = await attempt();
    if (result !== undefined || isOver(time, clock.now())) return result;
    await clock.sleep(pauseMs);
  }
}

/**
 * Called before a side question to the partner. The partner is not asked while ops have paused the
 * integration. It is not asked after a refusal either, when each question would be another try at a
 * login. Only `check` and `accept-total` ask all the same, since they are there to ask.
 *
 * @throws PausedError, BackingOffError
 */
export function refuseIfLeftAlone(
  state: Pick<State, 'paused' | 'backOff'> | undefined,
  parts: OperationParts,
): void {
  if (state?.paused) throw new PausedError();
  if (state !== undefined && isBackingOff(state, parts.clock.now())) throw new BackingOffError();
}
