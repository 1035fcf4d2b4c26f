import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import {
  type Fate,
  fatesOf,
  isSettled,
  nextRangeDays,
  rangesAtOnce,
  type StartWait,
  startOf,
  type Telling,
} from '../../../lambda/decisions/baseline.ts';
import { Calendar } from '../../../lambda/decisions/calendar.ts';
import type { Sighting } from '../../../lambda/decisions/compare.ts';
import { hasRead } from '../../../lambda/decisions/days-read.ts';
import { assessment } from '../../support/assessments.ts';

const oneMinuteMs = 60_000;

describe('a range of a baseline', () => {
  it.each([
    ['grows fourfold if it held nothing', 30, 0, 120],
    ['grows to a century at most', 20_000, 0, 36_525],
    ['shrinks to about 1,200 certifications', 30, 1_500, 24],
    ['has whole days', 10, 1_300, 9],
    ['never shrinks to nothing: a day is not split', 1, 9_000, 1],
  ])('%s', (_, days, found, expected) => {
    expect(nextRangeDays(days, found)).toBe(expected);
  });

  const measured = { requests: 10, readMs: 4_000, commitMs: 1_000 };
  it.each([
    ['as many others as are set', 8, measured, 20_000, 6_000, 8],
    ['as many as can be committed in the time that is left', 16, measured, 12_500, 6_000, 8],
    ['none, if no other one fits into the time that is left', 16, measured, 4_000, 6_000, 1],
    ['as many as the pace has requests for', 16, measured, 20_000, 39, 3],
  ])('is read with %s', (_, set, one, leftMs, requestsLeft, expected) => {
    expect(rangesAtOnce(set, one, leftMs, requestsLeft)).toBe(expected);
  });

  it.each([
    ['a chain to its end', { isChained: true, ids: 0, from: 0, first: 9, last: 8 }, true],
    ['as many ids as counted', { isChained: false, ids: 9, from: 0, first: 9, last: 9 }, true],
    ['the rest of an earlier part', { isChained: false, ids: 4, from: 5, first: 9, last: 9 }, true],
    ['fewer ids', { isChained: false, ids: 0, from: 0, first: 400, last: 400 }, false],
    ['more ids', { isChained: false, ids: 9, from: 0, first: 8, last: 8 }, false],
    ['a count that changes', { isChained: false, ids: 9, from: 0, first: 8, last: 9 }, false],
  ])('has been read, or not: %s', (_, shown, expected) => {
    expect(hasRead(shown)).toBe(expected);
  });
});

describe('the start day', () => {
  const unread = { since: 0, is: 'unread' } as const;
  const empty = { since: 0, is: 'empty' } as const;
  it.each<[string, StartWait | undefined, number, number, ReturnType<typeof startOf>]>([
    ['for the first time', undefined, 0, 5, { isNothingThere: false }],
    ['and an empty list is not believed yet', undefined, 0, 0, { isNothingThere: true }],
    ['again after a minute', unread, 1, 5, { isNothingThere: false }],
    ['not after three minutes', unread, 3, 5, undefined],
    [
      'for the last time after an hour',
      unread,
      60,
      5,
      { isNothingThere: false, mayLeaveStart: true },
    ],
    ['again when there is something', empty, 3, 5, { isNothingThere: false }],
    ['not while there is nothing', empty, 3, 0, undefined],
    ['and believed after `withdrawAfter`', empty, 10, 0, {}],
  ])('is read %s', (_, wait, minute, count, expected) => {
    const [now, lookedAt] = [minute, minute - 1].map((one) => one * oneMinuteMs);
    const baseline = { status: 'running', wait } as const;
    expect(startOf(baseline, count, lookedAt ?? 0, 10 * oneMinuteMs, now ?? 0)).toEqual(expected);
  });
});

it.each<[string, older: number, news: number, total: number, begun: number | undefined, boolean]>([
  ['the days explain the total', 390, 10, 410, 500, true],
  ['it lacks only what came meanwhile', 390, 12, 415, 400, true],
  ['it lacks what was there, and as much has come', 387, 13, 413, 400, false],
  ['nobody knows what was there', 380, 10, 400, undefined, true],
])('a baseline has come to its end, or not: %s', (_, older, news, total, begun, expected) => {
  const proof = { kind: 'single-page', at: 9, count: 10 } as const;
  const calendar = new Calendar([
    ['2026-11-20', { count: older, readAt: 9 }],
    ['2026-11-21', { count: 10 + news, readAt: 9, proof }],
  ]);
  const startDay = Temporal.PlainDate.from('2026-11-21');
  const baseline = { startDay, ...(begun !== undefined && { total: begun }) };
  expect(isSettled(calendar, total, baseline)).toBe(expected);
});

describe('a sighting of an unknown certification', () => {
  const calendar = new Calendar([
    ['2026-11-10', { count: 5, readAt: 9 }],
    ['2026-11-12', { count: 5, readAt: 9, unread: 1 }],
  ]);
  const search = {
    purpose: 'search',
    isRead: true,
    isAnew: false,
    isAnnounced: () => false,
  } as const;
  it.each<[string, Partial<Telling>, readonly string[], readonly Fate[]]>([
    ['on a day that was read', {}, ['2026-11-10'], ['news']],
    ['of the baseline', { purpose: 'baseline' }, ['2026-11-10'], ['history']],
    ['of a restarted one', { purpose: 'baseline', isAnew: true }, ['2026-11-10'], ['news']],
    ['that was lacking', {}, ['2026-11-12'], ['history']],
    ['beside more than were lacking', {}, ['2026-11-12', '2026-11-12'], ['doubtful', 'doubtful']],
    ['on an unread day', { isRead: false }, ['2026-11-12'], ['doubtful']],
    ['before an unread day', { isRead: false }, ['2026-11-11'], ['doubtful']],
    ['after an unread day', { isRead: false }, ['2026-11-13'], ['doubtful']],
    ['by the setting', { isRead: false, isAnnounced: () => true }, ['2026-11-12'], ['news']],
    ['that the total shows', { settlingBefore: '2026-11-11' }, ['2026-11-10'], ['doubtful']],
  ])('is news, history or doubtful: %s', (_, telling, days, fates) => {
    const sightings = days.map(
      (certified_on, id): Sighting => ({
        ...{
          kind: 'created',
          id,
          revision: 1,
          changed: [],
          fingerprint: { whole: '', fields: {} },
        },
        assessment: assessment({ id, certified_on }),
      }),
    );
    expect([...fatesOf(sightings, { ...search, calendar, ...telling }).values()]).toEqual(fates);
  });
});
