import { beforeEach, describe, expect, it } from 'vitest';
import { TimeLimit } from '../../../lambda/tick/time-limit.ts';
import { ManualClock } from '../../scaffold/clock.ts';

describe('the time limit of a tick', () => {
  let clock: ManualClock;
  let limit: TimeLimit;
  beforeEach(() => {
    clock = new ManualClock();
    limit = new TimeLimit(clock.now().add({ seconds: 60 }), clock);
  });
  const left = () => limit.deadline.since(clock.now()).total('milliseconds');

  it('reserves ten seconds before the first measurement, and gives a read 60 % of the rest', () => {
    expect(limit.readingDeadline.since(clock.now()).total('seconds')).toBe(30);
    clock.advance({ milliseconds: 49_999 });
    expect(limit.noteIfReached()).toBe(false);
    clock.advance({ milliseconds: 1 });
    expect(limit.noteIfReached()).toBe(true);
    expect(limit.wasReached).toBe(true);
    clock.advance({ seconds: 5 });
    expect(limit.readingDeadline.equals(clock.now())).toBe(true);
  });

  it('reserves twice the time of the longest work, failed or not, in any fractions', async () => {
    const work = (took: { seconds?: number; microseconds: number }) =>
      limit.between(async () => clock.advance(took));
    await work({ seconds: 7, microseconds: 300 });
    await work({ microseconds: 700 });
    expect(left()).toBe(60_000 - 7_001 - 14_001);
    const failing = limit.between(async () => {
      clock.advance({ seconds: 8 });
      throw new Error('reset');
    });
    await expect(failing).rejects.toThrow('reset');
    expect(left()).toBe(60_000 - 15_001 - 16_000);
  });

  it('gives a lease that outlasts the invocation', () => {
    expect(limit.leaseOf('a').until.since(clock.now()).total('seconds')).toBe(65);
  });
});
