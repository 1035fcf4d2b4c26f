import * as z from 'zod/mini';

export const checkNames = [
  'ledger',
  'topics',
  'subscriptions',
  'keys',
  'secret',
  'token',
  'scope',
  'records',
  'time-zone',
  'day-bounds',
  'single-record',
] as const;

/** What one check has come to. */
export const checked = z.object({
  name: z.enum(checkNames),
  outcome: z.enum(['ok', 'warning', 'failed', 'skipped']),
  /** What was found, in a sentence. */
  found: z.string(),
  /** Of a warning or a failure. */
  whatToDo: z.optional(z.string()),
  /** Of what a condition or an error is behind: its name, or its code. */
  code: z.optional(z.string()),
});

export type Check = z.output<typeof checked>;

/** What came of a check. */
export interface Finding extends Omit<Check, 'name'> {
  /** Of a failure: it may be over when somebody looks. */
  readonly isPassing?: boolean;
  /** Of a failure with several causes: each in short, by its short name. */
  readonly each?: Readonly<Record<string, string>>;
}

export type Found = ReadonlyMap<Check['name'], Finding>;

export const ok = (found: string): Finding => ({ outcome: 'ok', found });
export const warning = (found: string, whatToDo: string): Finding => ({
  outcome: 'warning',
  found,
  whatToDo,
});
export const failed = (found: string, whatToDo: string): Finding => ({
  outcome: 'failed',
  found,
  whatToDo,
});
export const skipped = (found: string): Finding => ({ outcome: 'skipped', found });
