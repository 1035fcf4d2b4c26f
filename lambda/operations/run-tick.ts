import type { CommandOf } from './command.ts';
import type { ResultOf } from './contract.ts';
import type { Call, OperationParts, Outcome } from './parts.ts';
import { tickResult } from './result.ts';

/** One tick now, in this function: the lease keeps it and the scheduled ones apart. */
export async function runTick(
  parts: Pick<OperationParts, 'tick'>,
  _command: CommandOf<'tick'>,
  { id, killedAt }: Call,
): Promise<Outcome<ResultOf<'tick'>>> {
  return { result: tickResult.parse(await parts.tick({ id, deadline: killedAt })) };
}
