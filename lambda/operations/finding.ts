import type { ResultOf } from './contract.ts';

type Result = ResultOf<'check'>;

export type CheckName = Result['checks'][number]['name'];
/** What one check has found. */
export type Finding = Omit<Result['checks'][number], 'name'>;

export const ok = (found: string): Finding => ({ outcome: 'ok', found });
export const skipped = (found: string): Finding => ({ outcome: 'skipped', found });
export const warning = (found: string, whatToDo: string): Finding => ({
  outcome: 'warning',
  found,
  whatToDo,
});
export const failed = (found: string, whatToDo: string, code?: string): Finding => ({
  outcome: 'failed',
  found,
  whatToDo,
  ...(code !== undefined && { code }),
});
