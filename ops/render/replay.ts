import type { ResultOf } from '../../lambda/commands/contract.ts';
import { facts, type View } from './layout.ts';
import { added } from './sums.ts';
import { count, counts } from './text.ts';

type Replay = ResultOf<'replay'>;

const reasons: Readonly<Required<Record<keyof Replay['skipped'], string>>> = {
  changed: 'changed since: a tick will announce them',
  pending: 'pending: the next tick delivers them',
  held: 'held: release or discard them',
  undeliverable: 'refused by SNS for good',
  discarded: 'discarded, or released to people alone',
  neverAnnounced: 'never announced (--baseline sends them, too)',
  unreadable: 'malformed at the partner',
  withoutHistory: 'recorded by a version without history',
  refused: 'refused by the target for good',
  unknown: 'not known here: `explain` asks the partner for them',
};

export function replaySum(all: Replay | undefined, one: Replay): Replay {
  return {
    ...one,
    events: one.events + (all?.events ?? 0),
    byType: added(all?.byType, one.byType),
    skipped: added(all?.skipped, one.skipped),
  };
}

/** The number of events that were sent, and of the others by reason. */
export function replayLines(view: View, replay: Replay): string[] {
  const { dryRun, events, byType, skipped } = replay;
  const what = `${count(events, 'event')} ${dryRun ? 'would be sent' : 'sent'}`;
  return [
    `${view.paint('strong', what)}${events > 0 ? `: ${counts(byType)}` : ''}`,
    ...(Object.keys(skipped).length > 0 ? ['not sent:'] : []),
    ...facts(
      view,
      Object.entries(reasons).flatMap(([reason, text]): [string, string][] =>
        Object.entries(skipped)
          .filter(([name]) => name === reason)
          .map(([, number]) => [String(number), text]),
      ),
    ),
  ];
}
