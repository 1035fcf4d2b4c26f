import type { ResultOf } from '../../lambda/operations/contract.ts';
import { bar } from './progress.ts';
import { amount, count } from './text.ts';

type Baseline = ResultOf<'baseline'>;

/** How far the first full read is, as a bar. */
export function baselineLine({ status, counted, total, before }: Baseline): string {
  if (status === 'none') return 'not begun';
  if (status === 'completed') return `completed: ${count(counted, 'certification')}`;
  const down = before === undefined ? '' : `, down to ${before}`;
  if (total === undefined || total === 0) return `running: ${amount(counted)} read${down}`;
  return `${bar(counted / total)}  ${amount(counted)} of ${amount(total)}${down}`;
}

export function baselineLines(baseline: Baseline): string[] {
  const { problem } = baseline;
  return [
    `baseline  ${baselineLine(baseline)}`,
    ...(problem === undefined ? [] : [`The partner gives no total: ${problem.message}`]),
  ];
}
