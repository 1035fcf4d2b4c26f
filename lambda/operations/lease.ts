import { leaseOf } from '../lease.ts';
import type { LeasedState, State } from '../ports/state.ts';
import { BusyError, NothingRecordedError } from './errors.ts';
import type { Call, OperationParts } from './parts.ts';

type LeaseParts = Pick<OperationParts, 'ledger' | 'clock' | 'settings'>;

const pauseMs = 1_000;

/** @throws NothingRecordedError before the very first tick */
export async function recordedState({ ledger, settings }: LeaseParts): Promise<State> {
  const state = await ledger.recordedState();
  if (state === undefined) throw new NothingRecordedError(settings.name);
  return state;
}

/**
 * Does it while no tick is at work: waits for one that is. Afterwards the next tick looks for what is
 * to be delivered, because the lease leaves the state marked.
 *
 * @throws BusyError when the other one has not ended in time
 */
export async function underLease<Result>(
  parts: LeaseParts,
  { id, killedAt, limit }: Call,
  work: (state: LeasedState) => Promise<Result>,
): Promise<Result> {
  const { ledger, clock } = parts;
  await recordedState(parts);
  const lease = leaseOf(id, killedAt);
  const state = await whenFree(parts, limit, () => ledger.takeLease(lease, clock.now()));
  if (state === undefined) throw new BusyError();
  try {
    return await work(state);
  } finally {
    await ledger.giveBackLease(lease);
  }
}

/** Tries as long as others are at work. @returns `undefined` when time was over before */
export async function whenFree<Result>(
  { clock }: Pick<OperationParts, 'clock'>,
  limit: Call['limit'],
  attempt: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  for (;;) {
    const result = await attempt();
    if (result !== undefined || limit.noteIfReached()) return result;
    await clock.sleep(pauseMs);
  }
}
