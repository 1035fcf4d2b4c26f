import type { ResultOf } from '../../lambda/commands/contract.ts';
import { asked, opsCommand } from '../ops-command.ts';
import { type Cell, facts, type View } from '../render/layout.ts';
import { amount, count, counts } from '../render/text.ts';
import { duration } from '../render/time.ts';

export const tick = opsCommand({
  of: 'tick',
  details: 'Safe at any time: while another tick is at work, this one does nothing.',
  examples: [['tick --stack prod', 'look for changes now']],
  run: asked('tick', tickLines),
});

type Tick = ResultOf<'tick'>;

const outcomes: Readonly<Record<Tick['outcome'], Cell>> = {
  completed: ['good', 'completed'],
  baseline: ['good', 'went on with the baseline'],
  busy: ['warning', 'did nothing: another tick is at work'],
  paused: ['warning', 'did nothing: the integration is paused'],
  'backing-off': ['warning', 'did nothing: the partner is left alone after refusals'],
  'no-credentials': ['warning', 'did nothing: nobody has stored the credentials yet'],
  disturbed: ['warning', 'stopped by a problem that may end by itself'],
};

/** The findings of a tick, and its problems. */
export function tickLines(view: View, tick: Tick): string[] {
  const { created, updated, withdrawn, restored, recorded, quarantined, failed } = tick;
  const { delivered, undelivered, undeliverable, held } = tick;
  const problems = counts({
    'malformed records': quarantined,
    'days that failed': failed,
  });
  return facts(
    view,
    [
      ['tick', outcomes[tick.outcome]],
      [
        'found',
        counts(
          { created, updated, withdrawn, restored, 'recorded as known': recorded },
          'nothing new',
        ),
      ],
      ['events', counts({ delivered, 'to be tried again': undelivered, undeliverable, held })],
      ['problems', problems === 'none' ? undefined : ['warning', problems]],
      [
        'missing',
        tick.missing > 0 ? ['warning', `${amount(tick.missing)}, not withdrawn so far`] : undefined,
      ],
      ['time', tick.cutShort ? ['warning', 'ran out; the next tick goes on'] : undefined],
      ['took', `${duration(tick.durationMs)}, ${count(tick.requests, 'request')}`],
    ],
    '',
  );
}
