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
