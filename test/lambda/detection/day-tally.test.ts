import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DayTally, tallied } from '../../../lambda/detection/compare.ts';
import { sum } from './calendars.ts';

const kinds = ['created', 'updated', 'withdrawn', 'restored'] as const;
const some = fc.nat({ max: 3 });
const counts = fc.record({ created: some, updated: some, withdrawn: some, restored: some });
const ticks = fc.array(fc.record({ day: fc.constantFrom('2026-11-20', '2026-11-21'), counts }));

describe('the tally of a day', () => {
  it('adds up the changes that its ticks found, and begins again with the next day', () => {
    fc.assert(
      fc.property(ticks, (unsorted) => {
        const all = unsorted.toSorted((a, b) => a.day.localeCompare(b.day));
        let tally: DayTally | undefined;
        for (const { day, counts } of all) tally = tallied(tally, day, counts) ?? tally;
        const busy = all.filter(({ counts }) => sum(Object.values(counts)) > 0);
        const last = busy.at(-1)?.day;
        const ofLast = busy.filter(({ day }) => day === last);
        if (last === undefined) expect(tally).toBeUndefined();
        else
          for (const kind of kinds)
            expect(tally?.[kind]).toBe(sum(ofLast.map(({ counts }) => counts[kind])));
        expect(tally?.day).toBe(last);
      }),
    );
  });

  it('is not written when nothing has changed', () => {
    const none = { created: 0, updated: 0, withdrawn: 0, restored: 0 };
    expect(tallied(undefined, '2026-11-21', none)).toBeUndefined();
    expect(tallied({ day: '2026-11-20', ...none, created: 1 }, '2026-11-21', none)).toBeUndefined();
  });
});
