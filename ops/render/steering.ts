import type { ResultOf } from '../../lambda/operations/contract.ts';
import type { View } from './layout.ts';
import { amount } from './text.ts';
import { moment } from './time.ts';

export function pauseLines(
  view: View,
  { changed, since, by, reason }: ResultOf<'pause'>,
): string[] {
  const from = since === undefined ? '' : ` since ${moment(since, view)}`;
  const who = by === undefined ? '' : ` by ${by}`;
  const why = reason === undefined ? '' : `: ${reason}`;
  return [
    changed ? view.paint('warning', 'paused') : `It was paused already${from}${who}${why}.`,
    'Ticks do nothing until resume. Nothing is lost: what changes meanwhile is announced then.',
  ];
}

export function resumeLines(view: View, { changed }: ResultOf<'resume'>): string[] {
  return [changed ? view.paint('good', 'resumed') : 'It was not paused.'];
}

export function restartBaselineLines(
  view: View,
  { changed }: ResultOf<'restart-baseline'>,
): string[] {
  return [
    changed
      ? view.paint('good', 'The next ticks read everything anew.')
      : 'A baseline is running already, and is at its beginning.',
    'What was announced is not announced again.',
  ];
}

export function acceptTotalLines(
  view: View,
  { changed, total, before }: ResultOf<'accept-total'>,
): string[] {
  return changed
    ? [
        view.paint('good', `accepted: ${amount(total)}, where ${amount(before)} were expected`),
        'What is gone is now looked for, and withdrawn; a flood of it is held.',
      ]
    : [
        `There is nothing to accept: the partner shows ${amount(total)}, ${amount(before)} were expected.`,
      ];
}
