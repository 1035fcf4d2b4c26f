import type { Pause, State } from '../ports.ts';
import type { CommandOf } from './command.ts';
import type { ResultOf } from './contract.ts';
import type { OperationParts, Outcome } from './parts.ts';

/** Stops the integration: ticks look at the state and end. Who has paused it first is remembered. */
export async function pause(
  { ledger, opsLedger, clock }: OperationParts,
  { by, reason }: CommandOf<'pause'>,
): Promise<Outcome<ResultOf<'pause'>>> {
  // Also before the very first tick: there is something to be paused then.
  await ledger.state();
  const changed = await opsLedger.pause({ since: clock.now(), by, reason });
  return { result: { changed, paused: true, ...pausedBy(await ledger.state()) } };
}

export async function resume({ opsLedger }: OperationParts): Promise<Outcome<ResultOf<'resume'>>> {
  return { result: { changed: await opsLedger.resume(), paused: false } };
}

/** Who, since when and why, for an answer. */
export function pausedBy({ pause }: Pick<State, 'pause'>) {
  return pause === undefined ? {} : told(pause);
}

function told({ since, by, reason }: Pause) {
  return { since: since.toString(), ...(by !== undefined && { by }), reason };
}
