import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import {
  deadlineOf,
  isOver,
  leaseOf,
  readingDeadline,
  reserving,
  timeUntil,
} from '../../../lambda/tick/time.ts';

const now = Temporal.Instant.from('2026-11-21T08:00:00Z');
const time = timeUntil(now.add({ seconds: 60 }));

describe('the time of a tick', () => {
  it('reserves ten seconds before the first measurement, and gives a read 60 % of the rest', () => {
    expect(readingDeadline(time, now).since(now).total('seconds')).toBe(30);
    expect(isOver(time, now.add({ milliseconds: 49_999 }))).toBe(false);
    expect(isOver(time, now.add({ milliseconds: 50_000 }))).toBe(true);
    expect(isOver({ ...time, isCutShort: true }, now)).toBe(true);
    const late = now.add({ seconds: 55 });
    expect(readingDeadline(time, late).equals(late)).toBe(true);
  });

  it('reserves twice the time of the longest batch', () => {
    const left = [7_001, 1].reduce(reserving, time);
    expect(deadlineOf(left).since(now).total('milliseconds')).toBe(60_000 - 14_002);
  });

  it('gives a lease that outlasts the invocation', () => {
    expect(leaseOf('a', time).until.since(now).total('seconds')).toBe(65);
  });
});
