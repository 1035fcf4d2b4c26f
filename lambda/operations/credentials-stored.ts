import type { Carrier } from './parts.ts';

/** The next tick asks the partner again, whatever it refused before. Before the first tick it does anyway. */
export const credentialsStored: Carrier<'credentials-stored'> = async (
  parts,
  command,
  { operation },
) => {
  if (!command.stored)
    return { result: { changed: false, next: { ...command, stored: true, operation } } };
  const state = await parts.ledger.recordedState();
  const changed = state?.backOff !== undefined;
  if (changed) await parts.ledger.saveState({ backOff: undefined });
  return { result: { changed } };
};
