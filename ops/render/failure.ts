import type { OpsError } from '../errors.ts';
import type { View } from './layout.ts';
import { given, harmless } from './text.ts';
import { told } from './time.ts';

type Failure = Pick<OpsError, 'code' | 'message' | 'retryHelps' | 'whatToDo' | 'goOn'>;

/** The error, its advice, how to go on, and whether a retry helps. A mistake of usage needs no word on retries. */
export function failureLines(view: View, failure: Failure): string[] {
  const { message, whatToDo, retryHelps, code, goOn } = failure;
  const retry = retryHelps ? 'A retry can help.' : 'A retry alone does not help.';
  return given(
    `${view.paint('bad', 'error:')} ${told(harmless(message), view)}`,
    `  ${told(harmless(whatToDo), view)}`,
    code !== 'usage' && `  ${view.paint('faint', `${retry} (${harmless(code)})`)}`,
    ...(goOn === undefined ? [] : ['  To go on from here:', `  ${harmless(goOn)}`]),
  );
}
