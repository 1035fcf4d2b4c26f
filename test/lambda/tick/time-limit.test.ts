import { describe, expect, it } from 'vitest';
import { TimeLimit } from '../../../lambda/tick/time-limit.ts';
import { ManualClock } from '../../scaffold/clock.ts';

describe('the time limit of a tick', () => {
  it('reserves ten seconds before the first measurement', () => {
    const clock = new ManualClock();
    const limit = new TimeLimit(clock.now().add({ seconds: 60 }), clock);
    clock.advance({ milliseconds: 49_999 });
    expect(limit.noteIfReached()).toBe(false);
    clock.advance({ milliseconds: 1 });
    expect(limit.noteIfReached()).toBe(true);
    expect(limit.wasReached).toBe(true);
  });

  it('reserves twice the time of the longest work, measured in any fractions', async () => {
    const clock = new ManualClock();
    const killedAt = clock.now().add({ seconds: 60 });
    const limit = new TimeLimit(killedAt, clock);
    const work = (took: { seconds?: number; microseconds: number }) =>
      limit.between(async () => clock.advance(took));
    await work({ seconds: 7, microseconds: 300 });
    await work({ microseconds: 7 });
    expect(killedAt.since(limit.deadline).total('milliseconds')).toBe(14_001);
  });

  it('measures failed work, too', async () => {
    const clock = new ManualClock();
    const killedAt = clock.now().add({ seconds: 60 });
    const limit = new TimeLimit(killedAt, clock);
    const failing = limit.between(async () => {
      clock.advance({ seconds: 6 });
      throw new Error('reset');
    });
    await expect(failing).rejects.toThrow('reset');
    expect(killedAt.since(limit.deadline).total('seconds')).toBe(12);
  });

  it('gives a read 60 % of the rest', () => {
    const clock = new ManualClock();
    const limit = new TimeLimit(clock.now().add({ seconds: 60 }), clock);
    expect(limit.readingDeadline.since(clock.now()).total('seconds')).toBe(30);
    clock.advance({ seconds: 55 });
    expect(limit.readingDeadline.equals(clock.now())).toBe(true);
  });
});
