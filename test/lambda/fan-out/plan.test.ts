import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import type { DayRange } from '../../../lambda/detection/days.ts';
import { divide } from '../../../lambda/fan-out/plan.ts';
import { PaceSpentError } from '../../../lambda/partner/errors.ts';
import type { Stretch } from '../../../lambda/ports/stretch.ts';

const before = Temporal.PlainDate.from('2026-11-21');
const deadline = Temporal.Instant.from('2026-11-21T09:00:00Z');

/** A partner that has so many assessments so many days before the start day. */
function partner(history: readonly (readonly [daysBefore: number, count: number])[]) {
  const days = history.map(([daysBefore, count]) => ({
    day: before.subtract({ days: daysBefore }),
    count,
  }));
  let counts = 0;
  return {
    counts: () => counts,
    partner: {
      oldestDay: async () => days.map(({ day }) => day).sort(Temporal.PlainDate.compare)[0],
      count: async ({ from, to }: DayRange) => {
        counts += 1;
        return days
          .filter(({ day }) => !from || Temporal.PlainDate.compare(day, from) >= 0)
          .filter(({ day }) => !to || Temporal.PlainDate.compare(day, to) <= 0)
          .reduce((sum, { count }) => sum + count, 0);
      },
    },
  };
}

const histories = fc.array(fc.tuple(fc.integer({ min: 1, max: 8_000 }), fc.nat(9_000)), {
  maxLength: 60,
});

const length = ({ from, to }: Pick<Stretch, 'from' | 'to'>) =>
  from.until(to, { largestUnit: 'days' }).days + 1;

describe('the division of a history', () => {
  it('has every day before the start day in exactly one stretch', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const stretches = await divide(partner(history).partner, before, deadline);
        let end = before;
        for (const stretch of stretches) {
          expect(stretch.to.add({ days: 1 })).toEqual(end);
          expect(length(stretch)).toBeGreaterThan(0);
          end = stretch.from;
        }
        expect(stretches.map(({ isOldest = false }) => isOldest)).toEqual(
          stretches.map((_, index) => index === stretches.length - 1),
        );
      }),
    );
  });

  it('has no stretch of more than 5,000, unless it is a single day', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const host = partner(history);
        for (const { from, to, ...stretch } of await divide(host.partner, before, deadline))
          if (length({ from, to, ...stretch }) > 1)
            expect(await host.partner.count({ from, to })).toBeLessThanOrEqual(5_000);
      }),
    );
  });

  it('stays small for ten million: a thousand stretches, and about as many requests', async () => {
    const host = partner(Array.from({ length: 3_650 }, (_, index) => [index + 1, 2_740]));
    const stretches = await divide(host.partner, before, deadline);
    expect(stretches.length).toBeGreaterThan(400);
    expect(stretches.length).toBeLessThanOrEqual(1_000);
    expect(host.counts()).toBeLessThan(1_100);
    // What Step Functions hands from state to state.
    expect(JSON.stringify(stretches).length).toBeLessThan(100_000);
  });

  it('stays coarse where the pace ends before it', async () => {
    const { partner: host, counts } = partner(
      Array.from({ length: 400 }, (_, day) => [1 + day, 500] as const),
    );
    const count = async (range: DayRange) => {
      if (counts() === 3) throw new PaceSpentError('list', 60_000);
      return host.count(range);
    };
    const stretches = await divide({ ...host, count }, before, deadline);
    expect(stretches.map(length)).toEqual([100, 100, 200]);
    expect(stretches.at(-1)).toMatchObject({ isOldest: true });
  });

  it('is not led astray by a record of the year 1', async () => {
    const daysSince = Temporal.PlainDate.from('0001-01-01').until(before, { largestUnit: 'days' });
    const host = partner([
      [daysSince.days, 1],
      ...Array.from({ length: 100 }, (_, index) => [index + 1, 200] as const),
    ]);
    const stretches = await divide(host.partner, before, deadline);
    expect(stretches.length).toBeLessThan(10);
    expect(host.counts()).toBeLessThan(40);
    expect(stretches.at(-1)?.from.toString()).toBe('0001-01-01');
  });

  it('of nothing is one stretch, so that what has no day before is looked for', async () => {
    const stretches = await divide(partner([]).partner, before, deadline);
    expect(stretches).toMatchObject([{ isOldest: true }]);
  });
});
