import type { ResultOf } from '../../lambda/commands/contract.ts';
import type { View } from './layout.ts';
import { ifPausedLines } from './pause.ts';
import { amount } from './text.ts';

export function acceptTotalLines(view: View, result: ResultOf<'accept-total'>): string[] {
  const { changed, total, before } = result;
  return changed
    ? [
        view.paint('good', `accepted: ${amount(total)}, where ${amount(before)} were expected`),
        'Each missing certification is withdrawn once two looks have lacked it.',
        ...ifPausedLines(view, result),
      ]
    : [
        `There is nothing to accept: the partner shows ${amount(total)}, ${amount(before)} were expected.`,
      ];
}
