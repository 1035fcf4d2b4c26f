import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import type { DayRange } from '../../../lambda/detection/days.ts';
import { divide } from '../../../lambda/fan-out/plan.ts';
import { PartnerError } from '../../../lambda/partner/errors.ts';
import type { PlannedRange } from '../../../lambda/ports/planned-range.ts';
import { TimeLimit } from '../../../lambda/tick/time-limit.ts';
import { ManualClock } from '../../scaffold/clock.ts';

const before = Temporal.PlainDate.from('2026-11-21');
const clock = new ManualClock();

/** Divides within ten minutes. */
async function divided(host: Parameters<typeof divide>[0]) {
  const limit = new TimeLimit(clock.now().add({ minutes: 10 }), clock);
  const ranges = await divide(host, before, limit);
  if (ranges === undefined) throw new Error('there was no room');
  return ranges;
}

/** A partner with so many assessments on each of these days before the start day. */
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

const length = ({ from, to }: Pick<PlannedRange, 'from' | 'to'>) =>
  from.until(to, { largestUnit: 'days' }).days + 1;

describe('the division of a history', () => {
  it('has each day before the start day in exactly one range', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const ranges = await divided(partner(history).partner);
        let end = before;
        for (const range of ranges) {
          expect(range.to.add({ days: 1 })).toEqual(end);
          expect(length(range)).toBeGreaterThan(0);
          end = range.from;
        }
        expect(ranges.map(({ isOldest = false }) => isOldest)).toEqual(
          ranges.map((_, index) => index === ranges.length - 1),
        );
      }),
    );
  });

  it('has no range of more than 5,000 assessments, except a single day', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const host = partner(history);
        for (const { from, to, ...range } of await divided(host.partner))
          if (length({ from, to, ...range }) > 1)
            expect(await host.partner.count({ from, to })).toBeLessThanOrEqual(5_000);
      }),
    );
  });

  it('stays small for ten million: a thousand ranges, and about as many requests', async () => {
    const host = partner(Array.from({ length: 3_650 }, (_, index) => [index + 1, 2_740]));
    const ranges = await divided(host.partner);
    expect(ranges.length).toBeGreaterThan(400);
    expect(ranges.length).toBeLessThanOrEqual(1_000);
    expect(host.counts()).toBeLessThan(1_100);
    // This is the state that Step Functions passes on.
    expect(JSON.stringify(ranges).length).toBeLessThan(100_000);
  });

  it('stays coarse if the pace ends before it', async () => {
    const { partner: host, counts } = partner(
      Array.from({ length: 400 }, (_, day) => [1 + day, 500] as const),
    );
    const count = async (range: DayRange) => {
      if (counts() === 3)
        throw new PartnerError('pace-spent', 'list', [], { retryAfterMs: 60_000 });
      return host.count(range);
    };
    const ranges = await divided({ ...host, count });
    expect(ranges.map(length)).toEqual([100, 100, 200]);
    expect(ranges.at(-1)).toMatchObject({ isOldest: true });
  });

  it('is not confused by a record of the year 1', async () => {
    const daysSince = Temporal.PlainDate.from('0001-01-01').until(before, { largestUnit: 'days' });
    const host = partner([
      [daysSince.days, 1],
      ...Array.from({ length: 100 }, (_, index) => [index + 1, 200] as const),
    ]);
    const ranges = await divided(host.partner);
    expect(ranges.length).toBeLessThan(10);
    expect(host.counts()).toBeLessThan(40);
    expect(ranges.at(-1)?.from.toString()).toBe('0001-01-01');
  });

  it('of an empty history is one range, so that records without an earlier day are looked for', async () => {
    const ranges = await divided(partner([]).partner);
    expect(ranges).toMatchObject([{ isOldest: true }]);
  });
});
