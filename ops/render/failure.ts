import type { OpsError } from '../errors.ts';
import type { View } from './layout.ts';
import { harmless } from './text.ts';

type Failure = Pick<OpsError, 'code' | 'message' | 'retryHelps' | 'whatToDo' | 'goOn'>;

/** What happened, what to do, whether a retry helps, and how to go on. */
export function failureLines(view: View, failure: Failure): string[] {
  const { message, whatToDo, retryHelps, code, goOn } = failure;
  const retry = retryHelps ? 'A retry can help.' : 'A retry alone does not help.';
  return [
    `${view.paint('bad', 'error:')} ${harmless(message)}`,
    `  ${harmless(whatToDo)}`,
    `  ${view.paint('faint', `${retry} (${harmless(code)})`)}`,
    ...(goOn === undefined ? [] : ['  To go on from here:', `  ${harmless(goOn)}`]),
  ];
}
