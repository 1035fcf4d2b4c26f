import { describe, expect, it } from 'vitest';
import { type Result, tableOfResults, whereBetter } from '../../../bench/peers/table.ts';

const faultless = { happened: 10, lost: 0, untrue: 0, twice: 0 };
const result = (changes: Partial<Result>): Result => ({
  ...{ case: 'news', contender: 'ours', requests: 2, score: faultless },
  ...{ processorSeconds: 1, peakBytes: 100 * 2 ** 20 },
  ...changes,
});
const peer = (changes: Partial<Result>) => result({ contender: 'dlt, full', ...changes });

describe('where a peer is better', () => {
  it('names what a peer finds as faultlessly with less', () => {
    expect(whereBetter([result({}), peer({ requests: 1 })])).toEqual([
      'news: dlt, full: 1 requests, ours 2',
    ]);
  });

  it('names what a peer finds and ours does not', () => {
    const score = { ...faultless, lost: 3 };
    expect(whereBetter([result({ score }), peer({ requests: 5 })])).toEqual([
      'news: dlt, full: 0 faults, ours 3',
    ]);
  });

  it('does not praise what loses more, or could not find anything', () => {
    const losing = peer({ requests: 1, score: { ...faultless, lost: 1 } });
    const unable = peer({ requests: 1, score: undefined });
    expect(whereBetter([result({}), losing, unable, peer({})])).toEqual([]);
  });
});

it('says of a contender that has no word for it that it is not offered', () => {
  const table = tableOfResults([result({}), peer({ score: undefined })]);
  expect(table.split('\n').slice(2)).toEqual([
    '| news | ours | 2 | 10 of 10 | 0 | 0 | 0 | 1.0 | 100 |',
    '| news | dlt, full | 2 | not offered | not offered | – | – | 1.0 | 100 |',
  ]);
});
