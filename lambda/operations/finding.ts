import type { ResultOf } from './contract.ts';

type Check = ResultOf<'check'>['checks'][number];
export type CheckName = Check['name'];
/** What one check has found; in order, if nothing else is said. */
export type Finding = Omit<Check, 'name' | 'outcome'> & Partial<Pick<Check, 'outcome'>>;

export const warning = (found: string, whatToDo: string): Finding => ({
  outcome: 'warning',
  found,
  whatToDo,
});
export const failed = (found: string, whatToDo: string): Finding => ({
  ...warning(found, whatToDo),
  outcome: 'failed',
});
