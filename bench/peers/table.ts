import { markdownTable } from '../../scripts/markdown-table.ts';
import type { Score } from '../score.ts';

/** The result of one contender in one case. */
export interface Result {
  readonly case: string;
  readonly contender: string;
  /** Requests to the API, without those for tokens. */
  readonly requests: number;
  /** Polls that ended with an error. */
  readonly failed: number;
  /** `undefined`: the contender cannot find such changes. */
  readonly score: Score | undefined;
  /** The part of the lost ones that wait for a decision of people. */
  readonly waiting: number;
  /** Over all polls that were not killed. */
  readonly processorSeconds: number;
  readonly peakBytes: number;
}

const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0);
const count = (value: number) => value.toLocaleString('en');

export function tableOfResults(results: readonly Result[]): string {
  return markdownTable([
    'case,contender,requests,found,lost,false,doubled,processor s,peak MB'.split(','),
    ...results.map((one) => [
      one.case,
      one.failed > 0 ? `${one.contender}; ${one.failed} polls failed` : one.contender,
      count(one.requests),
      ...cellsOf(one),
      one.processorSeconds.toFixed(1),
      megabytes(one.peakBytes),
    ]),
  ]);
}

function cellsOf({ score, waiting }: Result): string[] {
  if (score === undefined) return ['not offered', 'not offered', '–', '–'];
  const { happened, lost, untrue, twice } = score;
  const note = lost > 0 && waiting > 0 ? ` (${count(waiting)} wait for ops)` : '';
  const found = `${count(happened - lost)} of ${count(happened)}`;
  return [found, `${count(lost)}${note}`, count(untrue), count(twice)];
}
