import type { BatchResult } from '../../lambda/delivery/dispatch.ts';

/** What becomes of each entry of a batch, in their order (`undefined`: accepted), or why none was taken. */
export type Answer = readonly (string | undefined)[] | { readonly code: string };

/** The same as AWS says it. */
export function batchResult(answer: Answer): BatchResult {
  if ('code' in answer) throw Object.assign(new Error('refused'), { name: answer.code });
  const entries = answer.map((Code, index) => ({ Id: String(index), Code }));
  return {
    Successful: entries.filter(({ Code }) => Code === undefined),
    Failed: entries.filter(({ Code }) => Code !== undefined && Code !== 'NotAnswered'),
  };
}
