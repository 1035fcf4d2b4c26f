import * as z from 'zod/mini';
import { found } from './compare.ts';

/** Ops' decisions about an event that is held or undeliverable. */
const decision = z.enum(['released', 'released-to-people', 'retried', 'discarded']);

export type Decision = z.output<typeof decision>;

const decided = z.object({ decision, at: z.iso.datetime() });

/** The history's notes on one revision. */
export const revisionNoted = z.object({
  /** `baseline`: recorded and not announced. */
  kind: z.enum(['baseline', 'created', 'updated', 'withdrawn', 'restored']),
  /** When it was recorded, as in its event's `time` (RFC 3339, UTC). */
  at: z.iso.datetime(),
  /** Names of the fields that differ from the revision before. */
  changed: z._default(z.readonly(z.array(z.string())), () => []),
  /** Absent: in the baseline, or from before this was stored. */
  found: z.optional(found),
  /** As its event says. Absent: in the baseline, or from before this was stored. */
  late: z.optional(z.boolean()),
  /** It was held and undone, or it undid held ones: subscribers were not told. */
  undone: z.optional(z.literal(true)),
  /** Ops' decisions about its event, newest last; empty: it needed none. */
  decisions: z._default(z.readonly(z.array(decided)), () => []),
});

export type RevisionNoted = Readonly<z.output<typeof revisionNoted>>;
