import type { ResultOf } from '../../lambda/operations/contract.ts';
import type { View } from './layout.ts';
import { amount } from './text.ts';
import { moment } from './time.ts';

type Paused = NonNullable<ResultOf<'status'>['paused']>;

/** `paused since … by …: the reason`, without unknown parts. */
export function pausedTold(view: View, { since, by, reason }: Paused = {}): string {
  const from = since === undefined ? '' : ` since ${moment(since, view)}`;
  const who = by === undefined ? '' : ` by ${by}`;
  return `paused${from}${who}${reason === undefined ? '' : `: ${reason}`}`;
}

/** The function has not asked the partner at all: `refuseIfLeftAlone`. */
export function isLeftAlone({ code }: { readonly code: string }): boolean {
  return code === 'paused' || code === 'backing-off';
}

/** Belongs to answers whose effect waits for `resume`. */
export function ifPausedLines(
  view: View,
  { paused }: { readonly paused?: Paused | undefined },
): string[] {
  if (paused === undefined) return [];
  return [view.paint('warning', `Not before resume: it is ${pausedTold(view, paused)}`)];
}

export function pauseLines(view: View, pause: ResultOf<'pause'>): string[] {
  return [
    pause.changed
      ? view.paint('warning', 'paused')
      : `It is ${pausedTold(view, pause.paused)} (as it was before)`,
    'Ticks do nothing until resume. Nothing is lost: changes made meanwhile are announced then.',
  ];
}

export function resumeLines(view: View, { changed }: ResultOf<'resume'>): string[] {
  return [changed ? view.paint('good', 'resumed') : 'It was not paused.'];
}

export function restartBaselineLines(view: View, result: ResultOf<'restart-baseline'>): string[] {
  return [
    result.changed
      ? view.paint('good', 'The next ticks read everything anew.')
      : 'A baseline is running already, and goes on.',
    'Announced certifications are not announced again. Certifications that the ledger lacks are announced, or held if they are many.',
    ...ifPausedLines(view, result),
  ];
}

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
