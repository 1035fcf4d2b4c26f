import { describe, expect, it } from 'vitest';
import {
  rowsOf,
  type Shown,
  smallestOf,
  type Twins,
  twinsAfter,
  twinsIn,
  withSeen,
} from '../../../lambda/decisions/twins.ts';
import { assessment } from '../../support/assessments.ts';

const salt = 'salt-of-the-tests';
const [monday, friday] = ['2026-11-16', '2026-11-20'];
const row = (email: string, certified_on = monday) => assessment({ id: 1, email, certified_on });
const [a, b, onFriday] = [row('a'), row('b'), row('b', friday)];
const other = assessment({ id: 2 });
const once: Twins = [{ id: 1, days: [monday] }];
const moved: Twins = [{ id: 1, days: [friday, monday] }];
const sure: Twins = [{ id: 1, days: [monday], isSure: true }];
const inTurn: Twins = [{ id: 1, days: [friday, monday], isSure: true }];
const ofTwoDays: Twins = [{ id: 1, days: [monday, friday], isSure: true }];

describe('the ids that are there twice', () => {
  it.each<[string, Twins, Shown, string[], Twins]>([
    ['are known from one page', [], { assessments: [a, b, other] }, [], sure],
    ['are not those with the same content', [], { assessments: [a, { ...a }] }, [monday], []],
    ['are unsure from two pages', [], { assessments: [b], others: [a] }, [monday], once],
    ['are sure from a second read', once, { assessments: [b], others: [a] }, [monday], sure],
    ['have the days of both', [], { assessments: [a, onFriday] }, [], ofTwoDays],
    ['stay after a page that shows one row', sure, { assessments: [a] }, [], sure],
    ['stay after a read of another day', sure, { assessments: [] }, [friday], sure],
    ['end with a whole read that shows one row', sure, { assessments: [b] }, [monday], []],
    ['stay while another day may have a row', ofTwoDays, { assessments: [a] }, [monday], inTurn],
    ['are sure on the former day again', moved, { assessments: [onFriday] }, [friday], ofTwoDays],
    ['are unsure on the latest day', moved, { assessments: [a] }, [], moved],
    [
      'end on the latest day, if gone from the former',
      moved,
      { assessments: [a] },
      [friday, monday],
      [],
    ],
    ['stay on a further day', sure, { assessments: [onFriday] }, [friday], ofTwoDays],
    ['end with one row on all days', ofTwoDays, { assessments: [a] }, [monday, friday], []],
    ['lose a day without a row', ofTwoDays, { assessments: [] }, [friday], sure],
    ['end with all of their rows', sure, { assessments: [other] }, [monday, friday], []],
  ])('%s', (_, known, shown, proven, expected) => {
    expect(twinsAfter(known, shown, (day) => proven.includes(day), salt)).toEqual(expected);
  });

  it('end with a read without a proof only while they are unsure', () => {
    const isRead = (_: string, isSure: boolean) => !isSure;
    const shown = { assessments: [b] };
    expect(twinsAfter(once, shown, isRead, salt)).toEqual([]);
    expect(twinsAfter(sure, shown, isRead, salt)).toEqual(sure);
  });

  it('keep the days of all that a first reading has shown, the latest twenty', () => {
    const days = Array.from({ length: 30 }, (_, day) => `2026-10-${day + 1}`);
    const all = days.reduce(
      (known: Twins, day) => withSeen(known, [{ id: 1, days: [monday, day] }]),
      [],
    );
    expect(all).toEqual([{ id: 1, days: [...days.slice(11, -1), monday, '2026-10-30'] }]);
    expect(withSeen(sure, [{ id: 1, days: [friday] }])).toEqual(ofTwoDays);
    expect(withSeen(sure, [])).toBe(sure);
  });

  it('are sure if reads show their rows in turn', () => {
    const returned = [{ id: 1, days: [monday, friday], isSure: true } as const];
    for (const known of [[], once]) expect(withSeen(known, returned)).toEqual(ofTwoDays);
  });

  it('are counted as the host has them: an edit amid a read is one row', () => {
    const shown = { assessments: [b], others: [a] };
    expect([once, sure].map((known) => rowsOf(shown, known).length)).toEqual([1, 2]);
    expect([...twinsIn(shown, salt)]).toEqual([1]);
  });

  it('have a smallest row in any order of rows and fields', () => {
    const turned = Object.fromEntries(Object.entries(a).toReversed());
    expect(smallestOf([b, a])).toBe(a);
    expect(smallestOf([b, { ...turned, ...a }])).toEqual(a);
    expect(smallestOf([])).toBeUndefined();
  });

  it('are three hundred at most', () => {
    const rows = Array.from({ length: 310 }, (_, id) =>
      ['a', 'b'].map((email) => assessment({ id, email })),
    );
    expect(twinsAfter([], { assessments: rows.flat() }, () => false, salt)).toHaveLength(300);
  });
});
