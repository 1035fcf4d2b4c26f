import * as z from 'zod/mini';
import { define } from './definition.ts';
import { next, recorded } from './shapes.ts';

/**
 * The next tick asks the partner again, in spite of earlier refusals. Before the first tick it does
 * anyway. No command takes credentials, since a log may keep its payload: the command line stores
 * them between two calls of this one. If the record stays unfinished, they may have been stored or
 * not, and CloudTrail knows.
 */
export const credentialsStored = define({
  does: 'The secret has other credentials: the partner is asked again at once, also after a refusal.',
  command: z.strictObject({
    command: z.literal('credentials-stored'),
    /**
     * `false`: they are about to be stored. This notes who stores them, before it is done; `next`
     * says that it was.
     */
    stored: z._default(z.boolean(), true),
    ...recorded,
  }),
  /** `changed`: the partner was not asked after refusals, and is asked again. */
  result: z.object({ changed: z.boolean(), next }),
  // Stored credentials are a change even if no back-off was under way.
  hasChanged: ({ next }) => next === undefined,
  async carry({ ledger }, command, { operation }) {
    if (!command.stored)
      return { result: { changed: false, next: { ...command, stored: true, operation } } };
    const changed = (await ledger.recordedState())?.backOff !== undefined;
    if (changed) await ledger.saveState({ backOff: undefined });
    return { result: { changed } };
  },
});
