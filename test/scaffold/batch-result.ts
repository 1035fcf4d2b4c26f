import type { BatchResult } from '../../lambda/delivery/dispatch.ts';

/**
 * The result of each entry of a batch, in order (`undefined`: accepted), or the reason why SNS
 * accepted none.
 */
export type EntryAnswer = readonly (string | undefined)[] | { readonly code: string };

/** The result in AWS's form. */
export function batchResult(answer: EntryAnswer): BatchResult {
  if ('code' in answer) throw Object.assign(new Error('refused'), { name: answer.code });
  const entries = answer.map((Code, index) => ({ Id: String(index), Code }));
  return {
    Successful: entries.filter(({ Code }) => Code === undefined),
    Failed: entries.filter(({ Code }) => Code !== undefined && Code !== 'NotAnswered'),
  };
}
