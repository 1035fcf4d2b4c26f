import { expect, it } from 'vitest';
import {
  type Result,
  tableOfResults,
  whereBetter,
  whereLighter,
} from '../../../bench/peers/table.ts';

const faultless = { happened: 10, lost: 0, untrue: 0, twice: 0 };
const result = (changes: Partial<Result>): Result => ({
  ...{ case: 'news', contender: 'ours', requests: 2, failed: 0, score: faultless },
  ...{ waiting: 0, processorSeconds: 1, peakBytes: 100 * 2 ** 20 },
  ...changes,
});
const peer = (changes: Partial<Result>) => result({ contender: 'dlt, full', ...changes });

const scored = (score: Partial<typeof faultless>) => ({ score: { ...faultless, ...score } });

it.each<[string, Partial<Result>, Result[], string[]]>([
  ['fewer requests', {}, [peer({ requests: 1 })], ['news: 1 requests, ours 2 (dlt, full)']],
  ['more finds', scored({ lost: 3 }), [peer({})], ['news: 0 lost, ours 3 (dlt, full)']],
  ['more losses', {}, [peer({ requests: 1, ...scored({ lost: 1 }) })], []],
  ['no offer', {}, [peer({ requests: 1, score: undefined })], []],
  ['a failure', {}, [peer({ requests: 0, failed: 1 })], []],
])('the list of better peers judges a peer with %s', (_, ours, peers, told) => {
  expect(whereBetter([result(ours), ...peers])).toEqual(told);
});

it('the list of lighter peers has those that need less memory, unless they failed', () => {
  const lighter = peer({ peakBytes: 50 * 2 ** 20, ...scored({ lost: 1 }) });
  const failing = peer({ contender: 'Singer, full', peakBytes: 1, failed: 1 });
  const later = { case: 'quiet' };
  expect(whereLighter([result({}), lighter, failing, result(later), peer(later)])).toEqual([
    'peak memory: dlt, full, in 1 of 2 cases: 50 MB, ours 100 MB',
  ]);
});

it('the table marks changes that a contender does not offer, and lost ones that wait for ops', () => {
  const waiting = result({ ...scored({ lost: 3 }), waiting: 3 });
  expect(
    tableOfResults([waiting, peer({ score: undefined })])
      .split('\n')
      .slice(2),
  ).toEqual([
    '| news | ours | 2 | 7 of 10 | 3 (3 wait for ops) | 0 | 0 | 1.0 | 100 |',
    '| news | dlt, full | 2 | not offered | not offered | – | – | 1.0 | 100 |',
  ]);
});
