import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { Calendar, following } from '../../../lambda/decisions/calendar.ts';
import { forAll } from '../../support/for-all.ts';
import { anyCalendar, day, entryAt, sum } from './calendars.ts';

/** A calendar cut into ranges. */
const partitioned = anyCalendar.chain(({ calendar }) =>
  fc.subarray([...calendar.days.keys()].slice(1)).map((later) => {
    const firsts = [0, ...later];
    const lastOf = (index: number) => (firsts[index + 1] ?? calendar.days.length) - 1;
    return { calendar, ranges: firsts.map((first, index) => ({ first, last: lastOf(index) })) };
  }),
);

const anyDay = fc.integer({ min: -100, max: 4_200 }).map(day);

describe('a calendar', () => {
  it('lists all its days once and adds up their counts, however its positions are grouped', () =>
    forAll(partitioned, ({ calendar, ranges }) => {
      const filters = ranges.map((range) => calendar.filterOf(range));
      expect(filters[0]?.from).toBeUndefined();
      expect(filters.at(-1)?.to).toBeUndefined();
      const ends = filters.slice(0, -1).map(({ to }) => to?.add({ days: 1 }).toString());
      expect(ends).toEqual(filters.slice(1).map(({ from }) => from?.toString()));
      for (const { from, to } of filters)
        if (from && to) expect(Temporal.PlainDate.compare(from, to)).toBeLessThanOrEqual(0);
      for (const range of ranges) {
        const counts = calendar.daysOf(range).map((one) => calendar.entry(one).count);
        expect(calendar.sumOf(range)).toBe(sum(counts));
      }
      expect(calendar.total).toBe(sum(ranges.map((range) => calendar.sumOf(range))));
    }));

  it('has a position for any day, whose range holds that day, and one for each of its own', () =>
    forAll(anyCalendar, anyDay, ({ calendar }, one) => {
      const position = calendar.positionOf(one);
      expect(calendar.days[position]).toBeDefined();
      const { from, to } = calendar.filterOf({ first: position, last: position });
      expect((from?.toString() ?? '') <= one && one <= (to?.toString() ?? '~')).toBe(true);
      const positions = calendar.days.map((one) => calendar.positionOf(one));
      expect(positions).toEqual([...calendar.days.keys()]);
      expect(calendar.days).toEqual(calendar.days.toSorted());
    }));

  it('replaces old entries by new ones, and keeps the other days', () =>
    forAll(anyCalendar, anyDay, ({ calendar }, one) => {
      const after = calendar.with([[one, { count: 7, readAt: 1 }]]);
      expect(after.entry(one).count).toBe(7);
      expect(after.total).toBe(calendar.total - calendar.entry(one).count + 7);
      expect(after.days).toEqual([...new Set([...calendar.days, one])].sort());
    }));

  it('has an unknown entry for each required day', () => {
    const calendar = new Calendar([[day(3), { count: 2, readAt: 5 }]], [day(1), day(3)]);
    expect(calendar.days).toEqual([day(1), day(3)]);
    expect(calendar.entry(day(1))).toEqual({ count: 0, readAt: 0 });
    expect(entryAt(calendar, 1)).toEqual({ count: 2, readAt: 5 });
    expect([5, 6].map((began) => calendar.proofsSince(began))).toEqual([{ none: 1 }, {}]);
  });
});

it('a day that was read keeps the time since which reads are unproven, until one is proven', () => {
  const proof = { kind: 'single-page', at: 9, count: 2 } as const;
  const unread = following({ count: 0, readAt: 0 }, { count: 1, readAt: 0 });
  expect(unread).not.toHaveProperty('unprovenSince');
  const first = following(unread, { count: 1, readAt: 5 });
  expect(first.unprovenSince).toBe(5);
  const second = following(first, { count: 2, readAt: 8 });
  expect(second.unprovenSince).toBe(5);
  expect(following(second, { count: 2, readAt: 9, proof }).unprovenSince).toBeUndefined();
});
