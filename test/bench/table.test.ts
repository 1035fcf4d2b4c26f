import { expect, it } from 'vitest';
import type { ScoreRow } from '../../bench/score.ts';
import { tableOf } from '../../bench/table.ts';

const measured = {
  ...{ requests: 1_234_567, readUnits: 98_765.5, writeUnits: 1_000_000, publishes: 100_000 },
  ...{ ms: 1_234_567, calls: { Query: 1_000_000, UpdateItem: 234_567 } },
};
const long = 'a target of many words, '.repeat(10).trim();
const rows: readonly ScoreRow[] = [
  {
    case: 'quiet tick, 1,000,000 known',
    contender: 'ours',
    measured,
    target: { text: long, passed: true },
  },
  {
    case: 'quiet tick, 1,000,000 known',
    contender: 'usual poller',
    measured: { ...measured, requests: 2 },
    score: { happened: 1_000_000, lost: 1_000_000, twice: 123_456, untrue: 0 },
    further: { 'peak MB': 512.5, 'most requests in a tick': 20, 'events a second': 1_234 },
  },
  {
    case: `${'one case with a long name, '.repeat(6)}and a target`,
    contender: 'ours',
    target: { text: 'none', passed: false },
  },
];

it('no line of the table is wider than 120 columns, and each figure is in it', () => {
  const table = tableOf(rows);
  expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
  for (const told of [
    '1,234,567',
    '98,765.5',
    '1,000,000 of 1,000,000',
    'peak MB: 512.5',
    'FAIL: none',
  ])
    expect(table).toContain(told);
  expect(table.replaceAll(/\s+/g, ' ')).toContain(`pass: ${long}`);
});

it('contenders of one case follow its name, which is written once', () => {
  const table = tableOf(rows);
  expect(table.split('quiet tick')).toHaveLength(2);
  expect(table).toMatch(
    /^quiet tick, 1,000,000 known\n {2}ours .*\n( {6,}.*\n)+ {2}usual poller /m,
  );
});
