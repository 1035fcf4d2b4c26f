import * as z from 'zod/mini';

const commandOutcome = z.object({
  at: z.iso.datetime(),
  ok: z.boolean(),
  code: z.optional(z.string()),
  /** Whether any of the calls has changed anything; absent: unknown. */
  changed: z.optional(z.boolean()),
  /**
   * The command has not come to its end. Its rest begins after this cursor, or from the start
   * without one.
   */
  rest: z.optional(z.object({ after: z.optional(z.string()) })),
});

export const commandSettings = z.record(z.string(), z.json());

/** The ledger's record of a changing command, which `status` shows. */
export const commandRecord = z.object({
  /** Sorts by time. */
  operation: z.string(),
  at: z.iso.datetime(),
  /** As the caller states it. */
  by: z.optional(z.string()),
  command: z.string(),
  settings: commandSettings,
  /** The outcome of the last call; absent: it never answered. */
  outcome: z.optional(commandOutcome),
});

export type CommandRecord = Readonly<z.output<typeof commandRecord>>;
export type CommandOutcome = Readonly<z.output<typeof commandOutcome>>;
