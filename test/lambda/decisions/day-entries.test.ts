import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { Calendar, type DayEntry } from '../../../lambda/decisions/calendar.ts';
import type { Change, Sighting } from '../../../lambda/decisions/compare.ts';
import { entriesAfter, marked } from '../../../lambda/decisions/day-entries.ts';
import { judged } from '../../../lambda/decisions/days-read.ts';
import { waited } from '../../../lambda/decisions/due.ts';
import type { Purpose, ReadResult } from '../../../lambda/decisions/worklist.ts';
import { assessment } from '../../support/assessments.ts';

const readAt = Date.parse('2026-11-21T08:00:00Z');
const proof = { kind: 'single-page', at: 5, count: 2 } as const;
const before: DayEntry = {
  ...{ count: 2, missing: 0, readAt: 5, proof, digest: 'digest' },
  ...{ askedAt: 6, dueAt: readAt - 1, failures: 2 },
};
const day = '2026-11-12';
const calendar = new Calendar([[day, before]]);

/** The read showed one row of the two. */
function entryAfter(outcome: ReadResult, isJoint = false): DayEntry | undefined {
  const entries = new Map([[day, { count: 1, readAt }]]);
  return entriesAfter(outcome, { entries, isJoint }, [], calendar, readAt).get(day);
}

const isDue = (entry: DayEntry | undefined) => {
  const now = calendar.with(entry ? [[day, entry]] : []);
  const never = { recentMs: 9e12, historyMs: 9e12, recentFrom: '', withdrawAfterMs: 9e12 };
  const waits = (['asked', 'soon'] as const).flatMap((kind) => waited(kind, now, never, readAt));
  return waits.some((wait) => wait >= 1);
};

const created = {
  kind: 'created',
  revision: 1,
  changed: [],
  fingerprint: { whole: '', fields: {} },
} as const;

describe('a day after a read of it alone', () => {
  it('has the count that a proven read showed', () => {
    expect(entryAfter('done')).toEqual({ count: 1, readAt });
  });

  const kept = { proof, digest: 'digest' };
  it.each([
    ['unproven', { failures: 3 }],
    ['failed', { failures: 3, count: 2 }],
    ['in-vain', { failures: 3, count: 2, ...kept }],
    ['left', { failures: 2 }],
  ] as const)('that was %s is not due again at once, and has %o', (outcome, has) => {
    const entry = entryAfter(outcome);
    expect([isDue(before), isDue(entry)]).toEqual([true, false]);
    expect(entry).toMatchObject({ readAt, ...has });
    if (!('proof' in has)) expect(entry).not.toHaveProperty('proof');
  });
});

describe('a day after a read of several days', () => {
  it.each(['unproven', 'in-vain'] as const)('that was %s is unchanged, and due', (outcome) => {
    expect(entryAfter(outcome, true)).toEqual(before);
    expect(isDue(entryAfter(outcome, true))).toBe(true);
  });

  it('is retried later if a change could not be committed', () => {
    expect(entryAfter('failed', true)).toMatchObject({ readAt, failures: 3 });
    expect(isDue(entryAfter('failed', true))).toBe(false);
  });
});

it.each<[string, ReadResult, isDivisible: boolean, on: string, count: number]>([
  ['with others, without a proof', 'unproven', true, day, 5],
  ['and not all is committed', 'failed', false, day, 5],
  ['beside others', 'done', true, '2026-11-11', 3],
])('rows of a mark count once when their day is read %s', (_, result, isDivisible, on, count) => {
  const known = new Calendar([[day, { count: 5, readAt: 5, unread: 2 }]]);
  const assessments = [1, 2].map((id) => assessment({ id, certified_on: on }));
  const found = assessments.map((one): Sighting => ({ ...created, id: one.id, assessment: one }));
  const entries = new Map([[on, { count: on === day ? 5 : 2, readAt }]]);
  const of = { kind: 'read', purpose: 'search', range: {}, mayGoOn: false } as const;
  const read = { assessments, quarantined: [], count: 5, requests: 1, isOutOfPace: false };
  const how = { ...read, isRead: true, isCutOff: false };
  const after = entriesAfter(result, { entries, isJoint: isDivisible }, found, known, readAt);
  const one = judged({ ...of, days: [on], isDivisible }, how, readAt);
  const all = marked(after, result, one, found, { isAnew: false, withdrawAfterMs: 9e12 }, known);
  expect(all.get(day)?.count).toBe(count);
});

describe('the mark of days that the baseline could not read', () => {
  const known = new Calendar([
    ['2026-11-08', { count: 1, readAt: 0 }],
    ['2026-11-12', { count: 5, readAt: 9, unread: 4 }],
  ]);
  it.each<[string, Purpose, range: string, ReadResult, found: number, marks: unknown[]]>([
    ['loses what a read shows, also for an earlier day', 'audit', '09 12', 'done', 3, [0, 1]],
    ['ends with the last of it', 'audit', '09 12', 'done', 4, [undefined, undefined]],
    ['is no matter of an earlier range', 'baseline', '09 10', 'done', 3, [undefined, 4]],
    ['is parted', 'audit', '01 08', 'unproven', 0, [0, 4]],
    ['loses what an earlier day shows', 'audit', '01 08', 'done', 1, [undefined, 3]],
  ])('%s', (_, purpose, range, result, found, marks) => {
    const [from, last] = range.split(' ').map((of) => Temporal.PlainDate.from(`2026-11-${of}`));
    const certified_on = String(last);
    const changes = Array.from({ length: found }, (_, id): Change => {
      const fingerprint = { whole: '', fields: {} };
      const row = assessment({ id, certified_on });
      return { kind: 'created', id, revision: 1, changed: [], fingerprint, assessment: row };
    });
    const of = { range: { from, to: last }, isDivisible: false, mayGoOn: false };
    const step = { ...of, kind: 'read', purpose, days: [certified_on] } as const;
    const isFirstReading = purpose === 'baseline';
    const shown = { isRead: result === 'done', isInParts: false, assessments: [], begunAt: readAt };
    const fresh = new Map([[certified_on, { count: 1, readAt }]]);
    const baseline = { isAnew: false, withdrawAfterMs: 600_000 };
    const read = { ...shown, step, isFirstReading };
    const now = known.with(marked(fresh, result, read, changes, baseline, known));
    expect(known.days.map((day) => now.entry(day).unread)).toEqual(marks);
    expect(now.unread.rows).toBeLessThanOrEqual(known.unread.rows);
  });
});
