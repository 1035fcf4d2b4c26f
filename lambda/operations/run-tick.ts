import type { Carrier } from './parts.ts';
import { tickResult } from './result.ts';

/** One tick now, in this function: the lease keeps it and the scheduled ones apart. */
export const runTick: Carrier<'tick'> = async (parts, _command, { id, killedAt }) => {
  return { result: tickResult.parse(await parts.tick({ id, deadline: killedAt })) };
};
