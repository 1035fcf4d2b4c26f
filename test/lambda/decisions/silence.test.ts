import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { Calendar } from '../../../lambda/decisions/calendar.ts';
import {
  type Silence,
  silenceAfter,
  silenceEnded,
  silenceSeen,
} from '../../../lambda/decisions/silence.ts';
import { forAll } from '../../support/for-all.ts';

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
  /** With a single pause of more than a week. */
  const paused = weekdays(0, 151).filter((n) => n < 90 || n > 99);
  const rare = numbers(0, 30).map((n) => n * 17);
  const mondays = numbers(0, 30).map((n) => n * 7);
  const older = [0, ...numbers(100, 600)];

  it.each([
    ['after one and a half times the longest before', paused, 151, [150, 12], 169],
    ['not for a weekend', weekdays(0, 100), 100, [99, 3], 104],
    ['never with less than sixty days of history', weekdays(0, 59), 59, [58, undefined], undefined],
    ['never where certifications are rare', rare, 600, [493, undefined], undefined],
    ['never without any', [], 600, [undefined, undefined], undefined],
    ['never if the last is too old', numbers(0, 100), 600, [99, undefined], undefined],
    ['where certifications come once a week', mondays, 204, [203, 7], 214],
    ['regardless of the time more than 13 months ago', older, 600, [599, 1], 603],
    ['in view of the last 13 months', older, 400, [400, 100], 551],
  ] as const)('is reported %s', (_, days, today, [since, longest], askedOn) => {
    const silence = silenceAfter(calendarOf(days), on(today));
    expect(silence?.since).toBe(since === undefined ? undefined : day(since));
    expect(silence?.longest).toBe(longest);
    const asked = numbers(today, today + 400).find((one) => isAsked(silence, one));
    expect(asked).toBe(askedOn);
  });

  it('says since when, and the longest one before', () => {
    expect(seenOn(silenceAfter(calendarOf(paused), on(151)), 169)).toEqual({
      number: 1,
      since: Date.parse('2025-06-05T05:00:00Z'),
      details: [
        'no certification since 2025-06-05 (19 days); the longest silence of the past 13 months was 12 days',
      ],
    });
  });

  it('is reported after more than 13 months if it was noted before', () => {
    const days = calendarOf(numbers(0, 100));
    const noted = silenceAfter(days, on(200));
    expect(isAsked(silenceAfter(days, on(600), noted), 600)).toBe(true);
  });

  it('begins at the length of the setting, with any history, from the next tick on', () => {
    const silence = silenceAfter(calendarOf([0]), on(5));
    expect(silence).toEqual({ since: day(0) });
    expect([14, 15].map((today) => isAsked(silence, today, 14))).toEqual([false, true]);
    expect(seenOn(silence, 15, 14).details).toEqual([
      'no certification since 2025-01-06 (15 days); `silence` is set to 14 days',
    ]);
    const usual = silenceAfter(calendarOf(numbers(0, 100)), on(200));
    const isAskedWith = (setting?: number | false) => isAsked(usual, 200, setting);
    const settings = [undefined, 99, 101, false] as const;
    expect(settings.map(isAskedWith)).toEqual([true, true, false, false]);
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

  it('is neither hidden nor caused by dates in the future', () =>
    forAll(habit, fc.nat(60), fc.array(fc.nat(1_000)), (days, later, ahead) => {
      const today = (days.at(-1) ?? 0) + later;
      const future = ahead.map((n) => today + 1 + n);
      const silence = look(days, today);
      expect(look([...days, ...future], today)).toEqual(silence);
      expect(silenceEnded(silence, future.map(day), on(today))).toEqual(silence);
    }));

  it('is the same or later after any withdrawals since the last look', () =>
    forAll(habit, fc.array(fc.nat(), { maxLength: 50 }), (days, picked) => {
      const today = days.at(-1) ?? 0;
      const before = look(days, today);
      const gone = new Set(picked.map((n) => days[n % days.length]));
      const left = days.filter((n) => !gone.has(n));
      const after = look(left, today, before);
      if (after === undefined) return;
      expect(after.since).toBe(before?.since);
      expect(after.longest ?? 0).toBeLessThanOrEqual(before?.longest ?? 0);
    }));

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

  it('is not longer than the silence that has just ended', () =>
    forAll(habit, fc.integer({ min: 1, max: 40 }), (days, later) => {
      const last = days.at(-1) ?? 0;
      const before = look(days, last);
      const after = look([...days, last + later], last + later, before);
      expect(after?.longest).toBe(Math.max(before?.longest ?? 0, later));
    }));
});
