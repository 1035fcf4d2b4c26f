import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import {
  backwards,
  type Fate,
  fatesOf,
  isSettled,
  nextRangeDays,
  rangesAtOnce,
  type StartDoubt,
  startOf,
  type Telling,
} from '../../../lambda/detection/baseline.ts';
import { Calendar } from '../../../lambda/detection/calendar.ts';
import type { Sighting } from '../../../lambda/detection/compare.ts';
import { recentWindow } from '../../../lambda/detection/days.ts';
import { hasRead } from '../../../lambda/detection/days-read.ts';
import type { ReadResult, Step } from '../../../lambda/detection/worklist.ts';
import { assessment } from '../../support/assessments.ts';

const day = (text: string) => Temporal.PlainDate.from(text);
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
    ['none, if the pace has none', 16, measured, 20_000, 0, 1],
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

  /** The ranges that are read, from a start day that is read; the last one of each is left. */
  function rangesRead(position: object, read: (from: string, to: string) => ReadResult) {
    const now = Temporal.Instant.from('2026-11-21T08:00:00Z');
    const window = recentWindow(now, 'UTC', 0);
    const startDay = day('2026-11-21');
    const list = backwards({ position: { before: startDay, ...position }, startDay, window });
    const ranges: string[] = [];
    let answer = {};
    for (;;) {
      const next = list.next({ calendar: new Calendar([]), isTimeUp: false, ...answer });
      if (next.done) return [...ranges, next.value.isCompleted ? 'completed' : 'not completed'];
      answer = answerTo(next.value, (step) => {
        const { from, to } = step.range;
        ranges.push(`${from ?? ''}..${to}${step.isDivisible ? '' : ', at last'}`);
        return read(`${from ?? '0'}`, `${to}`);
      });
    }
  }
  const answerTo = (step: Step, read: (step: Step & { kind: 'read' }) => ReadResult) => {
    if (step.kind === 'oldest') return { oldest: day('2026-11-17') };
    return step.kind === 'read' ? { read: read(step), found: 300, requests: 4 } : {};
  };

  it('is halved while its answers contradict each other, and a day is read three times', () => {
    const isBad = (from: string, to: string) => from <= '2026-11-20' && to >= '2026-11-20';
    const read = (from: string, to: string) => (isBad(from, to) ? 'unproven' : 'done');
    expect(rangesRead({ sliceDays: 2 }, read)).toEqual([
      ...['2026-11-19..2026-11-20', '2026-11-20..2026-11-20', '2026-11-20..2026-11-20'],
      ...['2026-11-20..2026-11-20, at last', '2026-11-19..2026-11-19', '..2026-11-18'],
      'completed',
    ]);
  });

  it('is left as it is when rereads have used up their requests', () => {
    const ranges = rangesRead({ sliceDays: 2, rereads: 4 }, () => 'unproven');
    const left = '2026-11-20..2026-11-20, at last';
    expect(ranges.slice(0, 2)).toEqual(['2026-11-19..2026-11-20', left]);
  });
});

describe('the start day', () => {
  const unread = { since: 0, is: 'unread' } as const;
  const empty = { since: 0, is: 'empty' } as const;
  it.each<[string, StartDoubt | undefined, number, number, ReturnType<typeof startOf>]>([
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
  ])('is read %s', (_, doubt, minute, count, expected) => {
    const [now, lookedAt] = [minute, minute - 1].map((one) => one * oneMinuteMs);
    const baseline = { status: 'running', doubt } as const;
    expect(startOf(baseline, count, lookedAt ?? 0, 10 * oneMinuteMs, now ?? 0)).toEqual(expected);
  });
});

it.each([
  ['the days explain the total', 400, 400, 500, true],
  ['it lacks only what came meanwhile', 400, 402, 400, true],
  ['it lacks what was there', 390, 400, 400, false],
  ['nobody knows what was there', 390, 400, undefined, true],
])('a baseline has come to its end, or not: %s', (_, sum, total, begun, expected) => {
  expect(isSettled(sum, total, begun)).toBe(expected);
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
    ['of the baseline', { purpose: 'baseline' }, ['2026-11-12'], ['history']],
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
