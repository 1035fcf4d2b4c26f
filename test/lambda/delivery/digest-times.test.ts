import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { digestDue, endOfQuiet } from '../../../lambda/delivery/digest-times.ts';

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

/** As a person would say it, minute by minute. */
function isQuietOnTheWall(moment: Temporal.Instant, from: string, to: string, timeZone: string) {
  const wall = moment.toZonedDateTimeISO(timeZone).toPlainTime().toString().slice(0, 5);
  return from <= to ? wall >= from && wall < to : wall >= from || wall < to;
}

describe('quiet hours', () => {
  it('end in the morning of the next day, or of this one', () => {
    const end = (text: string) => endOfQuiet(at(text), night, 'Europe/Berlin').toString();
    expect(end('2026-11-21T20:59:59Z')).toBe('2026-11-21T20:59:59Z');
    expect(end('2026-11-21T21:00:00Z')).toBe('2026-11-22T06:00:00Z');
    expect(end('2026-11-22T05:59:59Z')).toBe('2026-11-22T06:00:00Z');
    expect(end('2026-11-22T06:00:00Z')).toBe('2026-11-22T06:00:00Z');
  });

  it('are shorter and longer on the nights on which the clocks change', () => {
    const end = (text: string) => endOfQuiet(at(text), night, 'Europe/Berlin').toString();
    expect(end('2026-03-28T21:00:00Z')).toBe('2026-03-29T05:00:00Z');
    expect(end('2026-10-24T20:00:00Z')).toBe('2026-10-25T06:00:00Z');
  });

  it('that end in an hour that is skipped end with the skip', () => {
    const end = endOfQuiet(
      at('2026-03-29T00:00:00Z'),
      { from: '22:00', to: '02:30' },
      'Europe/Berlin',
    );
    expect(end.toString()).toBe('2026-03-29T01:00:00Z');
  });

  it('end at the first minute that is not quiet on the wall, in any zone and on any day', () => {
    fc.assert(
      fc.property(instant, time, time, zone, (moment, from, to, timeZone) => {
        const end = endOfQuiet(moment, { from, to }, timeZone);
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
  it('is due at once when nothing is said about its time', () => {
    expect(digestDue(start, {}, 'UTC')).toEqual(start);
  });

  it('is due after the minutes that it collects', () => {
    expect(digestDue(start, { digestEvery: 90 }, 'UTC')).toEqual(start.add({ minutes: 90 }));
  });

  it('waits for the end of the quiet hours that its minutes end in', () => {
    const due = digestDue(
      at('2026-11-21T21:30:00Z'),
      { digestEvery: 60, quietHours: night },
      'UTC',
    );
    expect(due.toString()).toBe('2026-11-22T07:00:00Z');
  });
});
