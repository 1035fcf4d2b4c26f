import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import type { DayRange } from '../../../lambda/detection/days.ts';
import { divide } from '../../../lambda/fan-out/plan.ts';
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
  return {
    oldestDay: async () => days.map(({ day }) => day).sort(Temporal.PlainDate.compare)[0],
    count: async ({ from, to }: DayRange) =>
      days
        .filter(({ day }) => !from || Temporal.PlainDate.compare(day, from) >= 0)
        .filter(({ day }) => !to || Temporal.PlainDate.compare(day, to) <= 0)
        .reduce((sum, { count }) => sum + count, 0),
  };
}

const histories = fc.array(fc.tuple(fc.integer({ min: 1, max: 8_000 }), fc.nat(9_000)), {
  maxLength: 60,
});

const length = ({ from, to }: Pick<PlannedRange, 'from' | 'to'>) =>
  from.until(to, { largestUnit: 'days' }).days + 1;

describe('the division of a history', () => {
  it('has each day before the start day once, and 5,000 assessments a range, or a single day', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const host = partner(history);
        const ranges = await divided(host);
        let end = before;
        for (const [index, { from, to, isOldest = false }] of ranges.entries()) {
          expect(to.add({ days: 1 })).toEqual(end);
          expect(length({ from, to })).toBeGreaterThan(0);
          if (length({ from, to }) > 1)
            expect(await host.count({ from, to })).toBeLessThanOrEqual(5_000);
          expect(isOldest).toBe(index === ranges.length - 1);
          end = from;
        }
      }),
    );
  });

  it('of an empty history is one range, so that records without an earlier day are looked for', async () => {
    const ranges = await divided(partner([]));
    expect(ranges).toMatchObject([{ isOldest: true }]);
  });
});
