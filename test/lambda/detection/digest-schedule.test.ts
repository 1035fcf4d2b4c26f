import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import {
  type DigestSettings,
  digestSchedule,
  endOfQuiet,
  isDigestDue,
} from '../../../lambda/detection/digest-schedule.ts';

const at = (text: string) => Temporal.Instant.from(text);
const night = { from: '22:00', to: '07:00' };

const minuteOfDay = fc.integer({ min: 0, max: 24 * 60 - 1 });
const time = minuteOfDay.map((minute) =>
  Temporal.PlainTime.from('00:00').add({ minutes: minute }).toString({ smallestUnit: 'minute' }),
);
const zone = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
);
/** Whole minutes, half of them within two days of a night on which clocks change somewhere. */
const instant = fc.oneof(
  fc.integer({ min: 0, max: 2 * 365 * 24 * 60 }).map((minutes) => start.add({ minutes })),
  fc
    .tuple(
      fc.constantFrom(
        '2026-03-08',
        '2026-03-29',
        '2026-04-05',
        '2026-10-04',
        '2026-10-25',
        '2026-11-01',
      ),
      fc.integer({ min: -24 * 60, max: 48 * 60 }),
    )
    .map(([day, minutes]) => at(`${day}T00:00:00Z`).add({ minutes })),
);
const start = at('2026-01-01T00:00:00Z');

/** Quiet hours as a person would read them from a clock, minute by minute. */
function isQuietOnTheWall(moment: Temporal.Instant, from: string, to: string, timeZone: string) {
  const wall = moment.toZonedDateTimeISO(timeZone).toPlainTime().toString().slice(0, 5);
  return from <= to ? wall >= from && wall < to : wall >= from || wall < to;
}

describe('quiet hours', () => {
  it('end in the morning of the next day, or of this one', () => {
    const end = (text: string) =>
      endOfQuiet(at(text), { alerts: { quietHours: night }, timeZone: 'Europe/Berlin' }).toString();
    expect(end('2026-11-21T20:59:59Z')).toBe('2026-11-21T20:59:59Z');
    expect(end('2026-11-21T21:00:00Z')).toBe('2026-11-22T06:00:00Z');
    expect(end('2026-11-22T05:59:59Z')).toBe('2026-11-22T06:00:00Z');
    expect(end('2026-11-22T06:00:00Z')).toBe('2026-11-22T06:00:00Z');
  });

  it('are shorter and longer in the nights in which the clocks change', () => {
    const end = (text: string) =>
      endOfQuiet(at(text), { alerts: { quietHours: night }, timeZone: 'Europe/Berlin' }).toString();
    expect(end('2026-03-28T21:00:00Z')).toBe('2026-03-29T05:00:00Z');
    expect(end('2026-10-24T20:00:00Z')).toBe('2026-10-25T06:00:00Z');
  });

  it('end with the skipped hour if they would end within it', () => {
    const quietHours = { from: '22:00', to: '02:30' };
    const skipping = { alerts: { quietHours }, timeZone: 'Europe/Berlin' };
    const end = endOfQuiet(at('2026-03-29T00:00:00Z'), skipping);
    expect(end.toString()).toBe('2026-03-29T01:00:00Z');
  });

  it('end at the first minute that is not quiet on the clock, in any zone and on any day', () => {
    fc.assert(
      fc.property(instant, time, time, zone, (moment, from, to, timeZone) => {
        const end = endOfQuiet(moment, { alerts: { quietHours: { from, to } }, timeZone });
        const minutes = end.since(moment).total('minutes');
        expect(minutes).toBeGreaterThanOrEqual(0);
        expect(isQuietOnTheWall(end, from, to, timeZone)).toBe(false);
        for (let before = 0; before < minutes; before += 1)
          if (!isQuietOnTheWall(moment.add({ minutes: before }), from, to, timeZone))
            throw new Error(`${before} minutes later it is not quiet any more`);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a digest', () => {
  const due = (now: Temporal.Instant, alerts: DigestSettings['alerts']) =>
    digestSchedule(undefined, 'left', now, { alerts, timeZone: 'UTC' })?.dueAt;

  it('is due at once without settings of its time', () => {
    expect(due(start, {})).toEqual(start);
  });

  it('is due after the minutes of `digestEvery`', () => {
    expect(due(start, { digestEvery: 90 })).toEqual(start.add({ minutes: 90 }));
  });

  it('waits for the end of the quiet hours in which its minutes end', () => {
    const times = { digestEvery: 60, quietHours: night };
    expect(due(at('2026-11-21T21:30:00Z'), times)).toEqual(at('2026-11-22T07:00:00Z'));
  });
});

describe('the next mail', () => {
  const hourly = { alerts: { digestEvery: 60 }, timeZone: 'UTC' };
  const each = { alerts: { quietHours: night }, timeZone: 'UTC' };
  const noon = at('2026-11-21T12:00:00Z');
  const inMinutes = (minutes: number) => noon.add({ minutes });
  const before = { dueAt: inMinutes(20), owedAt: inMinutes(-5) };
  const next = (...asked: Parameters<typeof digestSchedule>) => {
    const { dueAt, owedAt } = digestSchedule(...asked) ?? {};
    const minutes = [dueAt, owedAt].map((time) => time?.since(noon).total('minutes'));
    return dueAt === undefined ? undefined : minutes;
  };

  it('is due when the first of the waiting events is due', () => {
    expect(next(undefined, 'left', noon, hourly)).toEqual([60, 0]);
    expect(next(before, 'left', noon, hourly)).toEqual([20, 0]);
    expect(next({ ...before, dueAt: inMinutes(90) }, 'left', noon, hourly)).toEqual([60, 0]);
  });

  it('follows at once if SNS has refused one, or one did not hold all events', () => {
    expect(next(before, 'more', noon, hourly)).toEqual([0, 0]);
    expect(next(undefined, 'more', noon, hourly)).toEqual([0, 0]);
  });

  it('is checked once more when the index shows everything, at a time for mails', () => {
    expect(next(before, 'some', noon, hourly)).toEqual([60, -5]);
    expect(next(before, 'nothing', noon, hourly)).toEqual([60, -5]);
    expect(next(before, 'nothing', noon, each)).toEqual([10, -5]);
    const late = at('2026-11-21T21:55:00Z');
    const owed = { dueAt: late, owedAt: late };
    expect(digestSchedule(owed, 'some', late, each)?.dueAt.toString()).toBe('2026-11-22T07:00:00Z');
  });

  it('is cancelled if the index shows nothing ten minutes after the last event', () => {
    const owedAt = inMinutes(-10);
    expect(next({ ...before, owedAt }, 'nothing', noon, hourly)).toBeUndefined();
    expect(next({ ...before, owedAt }, 'some', noon, hourly)).toEqual([60, -10]);
    expect(next(undefined, 'nothing', noon, hourly)).toBeUndefined();
  });

  it('is sent at its due time, outside the quiet hours', () => {
    const due = (dueAt: string, now: string) =>
      isDigestDue({ dueAt: at(dueAt), owedAt: start }, at(now), each);
    expect(due('2026-11-21T12:00:00Z', '2026-11-21T12:00:00Z')).toBe(true);
    expect(due('2026-11-21T12:00:01Z', '2026-11-21T12:00:00Z')).toBe(false);
    expect(due('2026-11-21T12:00:00Z', '2026-11-21T22:00:00Z')).toBe(false);
    expect(isDigestDue(undefined, noon, each)).toBe(false);
  });
});
