import type { ResultOf } from '../../lambda/commands/contract.ts';
import type { View } from './layout.ts';
import { moment } from './time.ts';

type Paused = NonNullable<ResultOf<'status'>['paused']>;

/** `paused since … by …: the reason`, without unknown parts. */
export function pausedTold(view: View, { since, by, reason }: Paused = {}): string {
  const from = since === undefined ? '' : ` since ${moment(since, view)}`;
  const who = by === undefined ? '' : ` by ${by}`;
  return `paused${from}${who}${reason === undefined ? '' : `: ${reason}`}`;
}

/** The function has not asked the partner at all: `refuseIfLeftAlone`. */
export function wasLeftAlone({ code }: { readonly code: string }): boolean {
  return code === 'paused' || code === 'backing-off';
}

/** Belongs to answers whose effect waits for `resume`. */
export function ifPausedLines(
  view: View,
  { paused }: { readonly paused?: Paused | undefined },
): string[] {
  const told = `Takes effect after resume: the integration is ${pausedTold(view, paused)}`;
  return paused === undefined ? [] : [view.paint('warning', told)];
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
