import * as z from 'zod/mini';

const commandOutcome = z.object({
  at: z.iso.datetime(),
  ok: z.boolean(),
  code: z.optional(z.string()),
  /** Whether any of the calls has changed anything; absent: it cannot be told. */
  changed: z.optional(z.boolean()),
  /** It has not come to its end: what is left begins after this cursor, or with everything. */
  rest: z.optional(z.object({ after: z.optional(z.string()) })),
});

export const commandSettings = z.record(z.string(), z.json());

/** A changing command, as the ledger keeps it and `status` tells of it. */
export const commandRecord = z.object({
  /** Sorts by time. */
  operation: z.string(),
  at: z.iso.datetime(),
  /** As the caller says. */
  by: z.optional(z.string()),
  command: z.string(),
  settings: commandSettings,
  /** Of the last call, if there were several; absent: it never answered. */
  outcome: z.optional(commandOutcome),
});

export type CommandRecord = Readonly<z.output<typeof commandRecord>>;
export type CommandOutcome = Readonly<z.output<typeof commandOutcome>>;
