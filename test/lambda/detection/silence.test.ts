import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { Calendar } from '../../../lambda/detection/calendar.ts';
import {
  type Silence,
  silenceAfter,
  silenceEnded,
  silenceSeen,
} from '../../../lambda/detection/silence.ts';

const first = Temporal.PlainDate.from('2025-01-06');
/** The n-th day of the history, which begins on a Monday. */
const day = (n: number) => first.add({ days: n }).toString();
const on = (n: number) => first.add({ days: n });

const calendarOf = (days: Iterable<number>) =>
  new Calendar([...days].map((n) => [day(n), { count: 1, readAt: 1 }]));

const numbers = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
const weekdays = (from: number, to: number) => numbers(from, to).filter((n) => n % 7 < 5);

/** The silence seen at the beginning of a day. */
const seenOn = (silence: Silence | undefined, today: number, setting?: number | false) => {
  const timeZone = 'America/Chicago';
  const now = on(today).toZonedDateTime(timeZone).toInstant();
  return silenceSeen(silence, { silence: setting, timeZone }, now);
};
/** Whether ops are asked on a day. */
const isAsked = (...on: Parameters<typeof seenOn>) => seenOn(...on).number > 0;

/** Days with certifications, with no pause longer than so many. */
const habit = fc
  .record({
    gaps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 100, maxLength: 200 }),
    daily: fc.integer({ min: 60, max: 90 }),
  })
  .map(({ gaps, daily }) => {
    const days = numbers(0, daily);
    for (const gap of gaps) days.push((days.at(-1) ?? 0) + (gap === 3 ? 2 : 1));
    return days;
  });

describe('an implausible silence', () => {
  it('is longer than one and a half times the longest before, and says both numbers', () => {
    // There was a single pause of more than a week.
    const days = weekdays(0, 151).filter((n) => n < 90 || n > 99);
    const silence = silenceAfter(calendarOf(days), on(151));
    expect(silence).toEqual({ since: day(150), longest: 12 });
    expect(isAsked(silence, 168)).toBe(false);
    expect(isAsked(silence, 169)).toBe(true);
    expect(seenOn(silence, 169)).toEqual({
      number: 1,
      since: Date.parse('2025-06-05T05:00:00Z'),
      details: [
        'no certification since 2025-06-05 (19 days); the longest silence of the past 13 months was 12 days',
      ],
    });
  });

  it('does not exist if an earlier silence was as long', () => {
    fc.assert(
      fc.property(habit, fc.nat(390), (days, later) => {
        const last = days.at(-1) ?? 0;
        const today = last + later;
        const silence = silenceAfter(calendarOf(days), on(today));
        const { longest = 0 } = silence ?? {};
        if (isAsked(silence, today)) expect(later).toBeGreaterThan(Math.max(3, longest));
        expect(isAsked(silence, today)).toBe(later > Math.max(3, 1.5 * longest));
      }),
    );
  });

  it('is not reported for a weekend', () => {
    const silence = silenceAfter(calendarOf(weekdays(0, 100)), on(100));
    expect(silence).toMatchObject({ since: day(99), longest: 3 });
    expect(isAsked(silence, 100)).toBe(false);
  });

  it('is not reported with less than sixty days of history, or where certifications are rare', () => {
    const rare = numbers(0, 30).map((n) => n * 17);
    for (const [days, today] of [
      [weekdays(0, 59), 59],
      [rare, 600],
      [[], 600],
    ] as const) {
      const silence = silenceAfter(calendarOf(days), on(today));
      expect(silence?.longest).toBeUndefined();
      expect(isAsked(silence, today + 1_000)).toBe(false);
    }
  });

  it('is not reported if the last certification is too old to be looked at, unless it was noted before', () => {
    const days = calendarOf(numbers(0, 100));
    expect(isAsked(silenceAfter(days, on(600)), 600)).toBe(false);
    const noted = silenceAfter(days, on(200));
    expect(isAsked(silenceAfter(days, on(600), noted), 600)).toBe(true);
  });

  it('is reported where certifications come once a week', () => {
    const mondays = numbers(0, 30).map((n) => n * 7);
    const silence = silenceAfter(calendarOf(mondays), on(204));
    expect(silence).toEqual({ since: day(203), longest: 7 });
    expect([213, 214].map((today) => isAsked(silence, today))).toEqual([false, true]);
  });

  it('ignores the time more than 13 months ago', () => {
    const days = [0, ...numbers(100, 600)];
    expect(silenceAfter(calendarOf(days), on(600))).toMatchObject({ longest: 1 });
    expect(silenceAfter(calendarOf(days), on(400))).toMatchObject({ longest: 100 });
  });

  it('begins at the length of the setting, with any history, from the next tick on', () => {
    const silence = silenceAfter(calendarOf([0]), on(5));
    expect(silence).toEqual({ since: day(0) });
    expect([14, 15].map((today) => isAsked(silence, today, 14))).toEqual([false, true]);
    expect(seenOn(silence, 15, 14).details).toEqual([
      'no certification since 2025-01-06 (15 days); `silence` is set to 14 days',
    ]);
    const usual = silenceAfter(calendarOf(numbers(0, 100)), on(200));
    const settings = [undefined, 99, 101, false] as const;
    expect(settings.map((setting) => isAsked(usual, 200, setting))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('is judged as before when certifications return after more than 13 months', () => {
    const before = silenceAfter(calendarOf(numbers(0, 100)), on(100));
    const forgotten = silenceAfter(calendarOf(numbers(0, 100)), on(600), before);
    const back = [...numbers(0, 100), ...weekdays(600, 610)];
    const after = silenceAfter(calendarOf(back), on(610), forgotten);
    expect(isAsked(after, 614)).toBe(false);
  });
});

describe('the silence that a tick compares with today', () => {
  const look = (days: Iterable<number>, today: number, before?: Silence) =>
    silenceAfter(calendarOf(days), on(today), before);

  it('is neither hidden nor caused by dates in the future', () => {
    fc.assert(
      fc.property(habit, fc.nat(60), fc.array(fc.nat(1_000)), (days, later, ahead) => {
        const today = (days.at(-1) ?? 0) + later;
        const future = ahead.map((n) => today + 1 + n);
        const silence = look(days, today);
        expect(look([...days, ...future], today)).toEqual(silence);
        expect(silenceEnded(silence, future.map(day), on(today))).toEqual(silence);
      }),
    );
  });

  it('is the same or later after any withdrawals since the last look', () => {
    fc.assert(
      fc.property(habit, fc.array(fc.nat(), { maxLength: 50 }), (days, picked) => {
        const today = days.at(-1) ?? 0;
        const before = look(days, today);
        const gone = new Set(picked.map((n) => days[n % days.length]));
        const left = days.filter((n) => !gone.has(n));
        const after = look(left, today, before);
        if (after === undefined) return;
        expect(after.since).toBe(before?.since);
        expect(after.longest ?? 0).toBeLessThanOrEqual(before?.longest ?? 0);
      }),
    );
  });

  it('counts missing certifications as present', () => {
    const days = numbers(0, 100);
    const missing = new Calendar(days.map((n) => [day(n), { count: 0, missing: 1, readAt: 1 }]));
    expect(silenceAfter(missing, on(120))).toEqual(look(days, 120));
  });

  it('ends with the next certification of a new day, not of an old one', () => {
    const before = look(numbers(0, 100), 120);
    expect(isAsked(before, 120)).toBe(true);
    expect(silenceEnded(before, [day(3), day(99)], on(120))).toEqual(before);
    const after = silenceEnded(before, [day(3), day(119)], on(120));
    expect(after).toEqual({ since: day(119), longest: 20 });
    expect([149, 150].map((today) => isAsked(after, today))).toEqual([false, true]);
    expect(look([...numbers(0, 100), 119], 120, after)).toEqual(after);
    expect(silenceEnded(undefined, [day(119)], on(120))).toBeUndefined();
  });

  it('is not longer than the silence that has just ended', () => {
    fc.assert(
      fc.property(habit, fc.integer({ min: 1, max: 40 }), (days, later) => {
        const last = days.at(-1) ?? 0;
        const before = look(days, last);
        const after = look([...days, last + later], last + later, before);
        expect(after?.longest).toBe(Math.max(before?.longest ?? 0, later));
      }),
    );
  });
});
