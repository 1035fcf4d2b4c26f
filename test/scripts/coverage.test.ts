import { expect, it } from 'vitest';
import { fallsBetween, reportOf, table } from '../../scripts/coverage/report.ts';

const counts = (lines: number, branches: number) => ({
  lines: { covered: lines, total: 1000 },
  branches: { covered: branches, total: 10_000 },
  missed: [],
});

it('the report of coverage adds up each room, and lambda/ by its folders, too', () => {
  const { rooms } = reportOf({
    'lambda/poll.ts': counts(1, 2),
    'lambda/ledger/a.ts': counts(3, 4),
    'ops/render/b.ts': counts(5, 6),
  });
  expect(Object.keys(rooms)).toEqual(['lambda', 'lambda/ledger', 'ops']);
  expect(rooms['lambda']?.lines).toEqual({ covered: 4, total: 2000 });
  expect(table({ rooms, files: {} })).toMatch(/^ops +5\/1000 +0\.5 % +6\/10000 +0\.1 %$/m);
});

it('a room has fallen if its coverage has by more than rounding, and not if it is new or gone', () => {
  const before = reportOf({ 'lambda/ledger/a.ts': counts(900, 5000), 'ops/b.ts': counts(9, 0) });
  const after = reportOf({ 'lambda/ledger/a.ts': counts(899, 4995), 'local/c.ts': counts(0, 0) });
  expect(fallsBetween(before, after)).toEqual([
    'lambda: lines 90.0 % → 89.9 %',
    'lambda/ledger: lines 90.0 % → 89.9 %',
  ]);
});
