import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import {
  digestSchedule,
  endOfQuiet,
  isDigestDue,
} from '../../../lambda/decisions/digest-schedule.ts';

const at = (text: string) => Temporal.Instant.from(text);
const night = { from: '22:00', to: '07:00' };
const early = { from: '22:00', to: '02:30' };

const time = fc
  .integer({ min: 0, max: 24 * 60 - 1 })
  .map((minutes) => Temporal.PlainTime.from('00:00').add({ minutes }))
  .map((time) => time.toString({ smallestUnit: 'minute' }));
const zone = fc.constantFrom(
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'],
);
/** Whole minutes, within two days of a night on which clocks change somewhere. */
const instant = fc
  .tuple(
    fc.constantFrom(
      ...['2026-03-08', '2026-03-29', '2026-04-05', '2026-10-04', '2026-10-25', '2026-11-01'],
    ),
    fc.integer({ min: -24 * 60, max: 48 * 60 }),
  )
  .map(([day, minutes]) => at(`${day}T00:00:00Z`).add({ minutes }));

/** Quiet hours as a person would read them from a clock, minute by minute. */
function isQuietOnTheWall(moment: Temporal.Instant, from: string, to: string, timeZone: string) {
  const wall = moment.toZonedDateTimeISO(timeZone).toPlainTime().toString().slice(0, 5);
  return from <= to ? wall >= from && wall < to : wall >= from || wall < to;
}

describe('quiet hours', () => {
  it.each([
    ['they have not begun', night, '2026-11-21T20:59:59Z', '2026-11-21T20:59:59Z'],
    ['in the morning of the next day', night, '2026-11-21T21:00:00Z', '2026-11-22T06:00:00Z'],
    ['in the morning of this day', night, '2026-11-22T05:59:59Z', '2026-11-22T06:00:00Z'],
    ['they are over', night, '2026-11-22T06:00:00Z', '2026-11-22T06:00:00Z'],
    ['in a shorter night', night, '2026-03-28T21:00:00Z', '2026-03-29T05:00:00Z'],
    ['in a longer night', night, '2026-10-24T20:00:00Z', '2026-10-25T06:00:00Z'],
    ['with a skipped hour', early, '2026-03-29T00:00:00Z', '2026-03-29T01:00:00Z'],
  ])('end as they should: %s', (_, quietHours, now, end) => {
    const settings = { alerts: { quietHours }, timeZone: 'Europe/Berlin' };
    expect(endOfQuiet(at(now), settings)).toEqual(at(end));
  });

  it('end at the first minute that is not quiet on the clock, in any zone and on any day', () => {
    fc.assert(
      fc.property(instant, time, time, zone, (moment, from, to, timeZone) => {
        const end = endOfQuiet(moment, { alerts: { quietHours: { from, to } }, timeZone });
        const minutes = end.since(moment).total('minutes');
        expect(minutes).toBeGreaterThanOrEqual(0);
        const isQuiet = (later: number) =>
          isQuietOnTheWall(moment.add({ minutes: later }), from, to, timeZone);
        expect(isQuiet(minutes)).toBe(false);
        expect(Array.from({ length: minutes }, (_, later) => later).every(isQuiet)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the next mail', () => {
  const noon = at('2026-11-21T12:00:00Z');
  const each = { alerts: {}, timeZone: 'UTC' };
  const hourly = { alerts: { digestEvery: 60 }, timeZone: 'UTC' };
  const byDay = { alerts: { quietHours: night }, timeZone: 'UTC' };
  const hourlyByDay = { alerts: { ...hourly.alerts, ...byDay.alerts }, timeZone: 'UTC' };
  const inMinutes = (minutes: number) => noon.add({ minutes });
  const owed = (due: number, since: number) => ({
    dueAt: inMinutes(due),
    owedAt: inMinutes(since),
  });

  it.each([
    ['at once without settings', undefined, 'left', 0, each, [0, 0]],
    ['after the minutes of `digestEvery`', undefined, 'left', 0, hourly, [60, 0]],
    ['when the first waiting event is due', owed(20, -5), 'left', 0, hourly, [20, 0]],
    ['when a newer event is due sooner', owed(90, -5), 'left', 0, hourly, [60, 0]],
    ['at the end of the quiet hours', undefined, 'left', 570, hourlyByDay, [1_140, 570]],
    ['at once if one was refused, or did not hold all', owed(20, -5), 'more', 0, hourly, [0, 0]],
    ['at once if the first did not hold all', undefined, 'more', 0, hourly, [0, 0]],
    ['once more when the index shows all', owed(20, -5), 'some', 0, hourly, [60, -5]],
    ['once more when it shows nothing yet', owed(20, -5), 'nothing', 0, hourly, [60, -5]],
    ['once more after ten minutes', owed(20, -5), 'nothing', 0, byDay, [10, -5]],
    ['once more after the quiet hours', owed(595, 595), 'some', 595, byDay, [1_140, 595]],
    ['never if the index still shows nothing', owed(20, -10), 'nothing', 0, hourly, undefined],
    ['once more if it shows some', owed(20, -10), 'some', 0, hourly, [60, -10]],
    ['never if nothing was owed', undefined, 'nothing', 0, hourly, undefined],
  ] as const)('is due %s', (_, before, index, minute, settings, expected) => {
    const next = digestSchedule(before, index, inMinutes(minute), settings);
    const minutes = [next?.dueAt, next?.owedAt].map((time) => time?.since(noon).total('minutes'));
    expect(next?.dueAt && minutes).toEqual(expected);
  });

  it.each([
    [0, 0, true],
    [1, 0, false],
    [0, 600, false],
    [undefined, 0, false],
  ])('that is due in minute %s of the day is sent in minute %i: %s', (due, now, expected) => {
    const next = due === undefined ? undefined : owed(due, 0);
    expect(isDigestDue(next, inMinutes(now), byDay)).toBe(expected);
  });
});
