import type { CommandOf } from './command.ts';
import type { ResultOf } from './contract.ts';
import type { Call, OperationParts, Outcome } from './parts.ts';

/** The next tick asks the partner again, whatever it refused before. Before the first tick it does anyway. */
export async function credentialsStored(
  parts: OperationParts,
  command: CommandOf<'credentials-stored'>,
  { operation }: Pick<Call, 'operation'>,
): Promise<Outcome<ResultOf<'credentials-stored'>>> {
  if (!command.stored)
    return { result: { changed: false, next: { ...command, stored: true, operation } } };
  const state = await parts.ledger.recordedState();
  const changed = state?.backOff !== undefined;
  if (changed) await parts.ledger.saveState({ backOff: undefined });
  return { result: { changed } };
}
