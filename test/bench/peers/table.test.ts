import { describe, expect, it } from 'vitest';
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

describe('the list of better peers', () => {
  it('has, in one line, peers that find as much with fewer requests', () => {
    const other = peer({ contender: 'Singer, full', requests: 1 });
    expect(whereBetter([result({}), peer({ requests: 1 }), other])).toEqual([
      'news: 1 requests, ours 2 (dlt, full; Singer, full)',
    ]);
  });

  it('has a peer that finds more, with any false changes', () => {
    const score = { ...faultless, lost: 3 };
    const telling = peer({ requests: 5, score: { ...faultless, untrue: 9 } });
    expect(whereBetter([result({ score }), telling])).toEqual(['news: 0 lost, ours 3 (dlt, full)']);
  });

  it('omits peers that lose more, or could not find anything', () => {
    const losing = peer({ requests: 1, score: { ...faultless, lost: 1 } });
    const unable = peer({ requests: 1, score: undefined });
    expect(whereBetter([result({}), losing, unable, peer({})])).toEqual([]);
  });

  it('omits failed peers', () => {
    const failing = peer({ requests: 0, peakBytes: 1, failed: 1 });
    expect(whereBetter([result({}), failing])).toEqual([]);
    expect(whereLighter([result({}), failing])).toEqual([]);
  });

  it('has peers that need less memory, with any finds', () => {
    const losing = peer({ peakBytes: 50 * 2 ** 20, score: { ...faultless, lost: 1 } });
    const later = { case: 'quiet' };
    expect(whereLighter([result({}), losing, result(later), peer(later)])).toEqual([
      'peak memory: dlt, full, in 1 of 2 cases: 50 MB, ours 100 MB',
    ]);
  });
});

it('a contender without a word for a change is "not offered"', () => {
  const table = tableOfResults([result({}), peer({ score: undefined })]);
  expect(table.split('\n').slice(2)).toEqual([
    '| news | ours | 2 | 10 of 10 | 0 | 0 | 0 | 1.0 | 100 |',
    '| news | dlt, full | 2 | not offered | not offered | – | – | 1.0 | 100 |',
  ]);
});

it('lost changes are counted with those that wait for ops', () => {
  const table = tableOfResults([result({ score: { ...faultless, lost: 3 }, waiting: 3 })]);
  expect(table).toContain('| 7 of 10 | 3 (3 wait for ops) | 0 | 0 |');
});
