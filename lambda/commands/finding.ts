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

/** The outcome of one check. */
export const checked = z.object({
  name: z.enum(checkNames),
  outcome: z.enum(['ok', 'warning', 'failed', 'skipped']),
  /** The finding, in a sentence. */
  found: z.string(),
  /** For a warning or a failure. */
  whatToDo: z.optional(z.string()),
  /** The name of the condition, or the code of the error, behind it. */
  code: z.optional(z.string()),
});

export type Check = z.output<typeof checked>;

export interface Finding extends Omit<Check, 'name'> {
  /** For a failure that may be over when somebody looks. */
  readonly isPassing?: boolean;
  /** For a failure with several causes: a short text of each, by its short name. */
  readonly each?: Readonly<Record<string, string>>;
}

export type Findings = ReadonlyMap<Check['name'], Finding>;

const advised =
  (outcome: Finding['outcome']) =>
  (found: string, whatToDo: string): Finding => ({ outcome, found, whatToDo });
export const ok = (found: string): Finding => ({ outcome: 'ok', found });
export const warning = advised('warning');
export const failed = advised('failed');
export const skipped = (found: string): Finding => ({ outcome: 'skipped', found });
