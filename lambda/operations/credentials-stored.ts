import type { ResultOf } from './contract.ts';
import type { OperationParts, Outcome } from './parts.ts';

/** The next tick asks the partner again, whatever it refused before. Before the first tick it does anyway. */
export async function credentialsStored(
  parts: OperationParts,
): Promise<Outcome<ResultOf<'credentials-stored'>>> {
  const state = await parts.ledger.recordedState();
  const changed = state?.backOff !== undefined;
  if (changed) await parts.ledger.backOff(undefined);
  return { result: { changed } };
}
