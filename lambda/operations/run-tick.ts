import type { ResultOf } from './contract.ts';
import type { Call, OperationParts, Outcome } from './parts.ts';

/** One tick now, in this function: the lease keeps it and the scheduled ones apart. */
export async function runTick(
  parts: Pick<OperationParts, 'tick'>,
  { id, killedAt }: Call,
): Promise<Outcome<ResultOf<'tick'>>> {
  const {
    integration: _,
    unexplained: __,
    conflicts: ___,
    ...line
  } = await parts.tick({
    id,
    deadline: killedAt,
  });
  return { result: line };
}
