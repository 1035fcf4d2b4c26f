import type { ResultOf } from '../../lambda/commands/contract.ts';
import type { View } from './layout.ts';
import { ifPausedLines } from './pause.ts';
import { bar } from './progress.ts';
import { amount, count, given } from './text.ts';

type Status = ResultOf<'status'>;

/** The status of the baseline, with the partner's total or the reason why that is unknown. */
export type BaselineProgress = Status['baseline'] &
  Pick<Status, 'paused'> & {
    readonly total?: number;
    readonly problem?: { code: string; message: string };
  };

export function baselineIn({ baseline, partner, paused }: Status): BaselineProgress {
  return {
    ...baseline,
    ...(partner !== undefined &&
      ('problem' in partner ? { problem: partner.problem } : { total: partner.count })),
    ...(paused !== undefined && { paused }),
  };
}

/** The progress of the baseline, as a bar. */
export function baselineLine({ status, counted, total, before }: BaselineProgress): string {
  if (status === 'none') return 'not begun';
  if (status === 'completed') return `completed: ${count(counted, 'certification')}`;
  const down = before === undefined ? '' : `, down to ${before}`;
  if (total === undefined || total === 0) return `running: ${amount(counted)} read${down}`;
  return `${bar(counted / total)}  ${amount(counted)} of ${amount(total)}${down}`;
}

export function baselineLines(view: View, baseline: BaselineProgress): string[] {
  const { problem, status } = baseline;
  return given(
    `baseline  ${baselineLine(baseline)}`,
    status === 'none' &&
      'The first tick that reaches the partner begins it; status says why none has.',
    problem !== undefined &&
      problem.code !== 'paused' &&
      `The partner gives no total: ${problem.message}`,
    ...(status === 'completed' ? [] : ifPausedLines(view, baseline)),
  );
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
