import type { ResultOf } from './contract.ts';

type Check = ResultOf<'check'>['checks'][number];

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
