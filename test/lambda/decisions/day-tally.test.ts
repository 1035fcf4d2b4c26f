import { describe, expect, it } from 'vitest';
import { tallied } from '../../../lambda/decisions/compare.ts';

const none = { created: 0, updated: 0, withdrawn: 0, restored: 0 };
const before = { day: '2026-11-20', created: 1, updated: 2, withdrawn: 3, restored: 4 };
const both = { day: '2026-11-20', created: 6, updated: 8, withdrawn: 10, restored: 12 };
const found = { created: 5, updated: 6, withdrawn: 7, restored: 8 };

const next = { day: '2026-11-21', ...found };

describe('the tally of a day', () => {
  it.each([
    ['adds up the changes of its ticks', before, '2026-11-20', found, both],
    ['begins again with the next day', before, '2026-11-21', found, next],
    ['begins with the first change', undefined, '2026-11-21', found, next],
    ['is not written when nothing has changed', before, '2026-11-20', none, undefined],
  ] as const)('%s', (_, tally, day, counts, expected) => {
    expect(tallied(tally, day, counts)).toEqual(expected);
  });

  it.each(['created', 'updated', 'withdrawn', 'restored'])('is written for one %s', (kind) => {
    expect(tallied(undefined, '2026-11-21', { ...none, [kind]: 1 })).toMatchObject({ [kind]: 1 });
  });
});
