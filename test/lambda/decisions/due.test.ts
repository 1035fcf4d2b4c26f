import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Calendar, type CalendarRange } from '../../../lambda/decisions/calendar.ts';
import {
  auditPlan,
  calendarLearned,
  nextDue,
  requestsOf,
  savedUntil,
  waited,
} from '../../../lambda/decisions/due.ts';
import type { TickSettings } from '../../../lambda/settings.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { forAll } from '../../support/for-all.ts';
import { anyCalendar, day, entryAt } from './calendars.ts';

const minute = 60_000;
const now = Date.parse('2026-11-21T08:00:00Z');
const { withdrawAfterMs } = tickSettings();
type AuditPeriods = Pick<TickSettings['audit'], 'recentMs' | 'historyMs'>;
const periods: AuditPeriods = tickSettings().audit;

/** A calendar whose days were read at different times in the last two days. */
const anyHistory = anyCalendar.chain(({ calendar, recent }) =>
  fc.tuple(...calendar.days.map(() => fc.nat({ max: 2 * periods.historyMs }))).map((ages) => ({
    recent,
    calendar: calendar.with(
      calendar.days.map((one, position) => [
        one,
        { ...calendar.entry(one), readAt: now - (ages[position] ?? 0) },
      ]),
    ),
  })),
);

function read(calendar: Calendar, range: CalendarRange, readAt: number): Calendar {
  const days = calendar.daysOf(range);
  return calendar.with(days.map((one) => [one, { ...calendar.entry(one), readAt }]));
}

/** From the day at a position on, days are recent. */
const fromOf = (calendar: Calendar, recent: number) => calendar.days[recent] ?? '9999-12-31';

/** The next audit, over recent days and history as one list. */
const nextAudit = (calendar: Calendar, recent: number, at: number, of = periods) => {
  const settings = { ...of, recentFrom: fromOf(calendar, recent), withdrawAfterMs };
  const soon = waited('soon', calendar, settings, at);
  const audit = waited('audit', calendar, settings, at);
  return nextDue(
    calendar,
    soon.map((wait, position) => Math.max(wait, audit[position] ?? 0)),
  );
};

/** The time since a day's last read, in its periods. At 1 it is due. */
function overdue(calendar: Calendar, recent: number, position: number, at: number): number {
  const period = position >= recent ? periods.recentMs : periods.historyMs;
  return (at - entryAt(calendar, position).readAt) / period;
}

describe('the next audit', () => {
  // Neighbours: they fit into the page and have waited for half their time.
  it('reads the day that has waited for the most of its periods, and its neighbours', () =>
    forAll(anyHistory, ({ calendar, recent }) => {
      const waits = [...calendar.days.keys()].map((one) => overdue(calendar, recent, one, now));
      const range = nextAudit(calendar, recent, now);
      expect(range !== undefined).toBe(Math.max(...waits) >= 1);
      if (range === undefined) return;
      const { first, last } = range;
      const inside = waits.slice(first, last + 1);
      expect(Math.max(...inside)).toBe(Math.max(...waits));
      expect(Math.min(...inside)).toBeGreaterThanOrEqual(0.5);
      if (first < last) expect(calendar.sumOf(range)).toBeLessThanOrEqual(99);
      const joins = (first: number, last: number, one: number) =>
        (waits[one] ?? 0) >= 0.5 && calendar.sumOf({ first, last }) <= 99;
      expect(joins(first - 1, last, first - 1)).toBe(false);
      expect(joins(first, last + 1, last + 1)).toBe(false);
    }));

  it('fills a page to its ninety-ninth row', () => {
    const of = (count: number) =>
      new Calendar(Array.from({ length: 9 }, (_, n) => [day(n), { count, readAt: 0 }]));
    expect(nextAudit(of(33), 9, now)).toEqual({ first: 0, last: 2 });
    expect(nextAudit(of(34), 9, now)).toEqual({ first: 0, last: 1 });
  });

  it('reaches every day that is due, and none twice', () =>
    forAll(anyHistory, ({ calendar, recent }) => {
      let after = calendar;
      const seen: number[] = [];
      let range = nextAudit(after, recent, now);
      for (; range !== undefined; range = nextAudit(after, recent, now)) {
        for (let one = range.first; one <= range.last; one++) seen.push(one);
        expect(seen.length).toBeLessThanOrEqual(calendar.days.length);
        after = read(after, range, now);
      }
      expect(new Set(seen).size).toBe(seen.length);
      const due = [...calendar.days.keys()].filter(
        (one) => overdue(calendar, recent, one, now) >= 1,
      );
      expect(seen).toEqual(expect.arrayContaining(due));
    }));
});

describe('the time of the next due day', () => {
  const dueAt = (calendar: Calendar, settings: AuditPeriods & { recentFrom: string }, from = 0) =>
    calendarLearned(calendar, settings, from).dueAt;

  it('is that of the first due day, recent or not', () =>
    forAll(anyHistory, ({ calendar, recent }) => {
      const settings = { ...periods, recentFrom: fromOf(calendar, recent) };
      const due = dueAt(calendar, settings);
      expect(nextAudit(calendar, recent, due - 1, periods)).toBeUndefined();
      expect(nextAudit(calendar, recent, due, periods)).toBeDefined();
    }));

  it('waits until the history may be audited, and does not delay requested reads', () => {
    const calendar = new Calendar([
      [day(0), { count: 1, readAt: now - 2 * periods.historyMs }],
      [day(1), { count: 1, readAt: now }],
    ]);
    const from = now + 5 * minute;
    const settings = { ...periods, recentFrom: day(1) };
    expect(dueAt(calendar, settings, from)).toBe(from);
    const asked = calendar.with([[day(0), { count: 1, readAt: 7, askedAt: now }]]);
    expect(dueAt(asked, settings, from)).toBe(now);
  });

  it("is 1, 2, 4 and more minutes after reads that left a difference, at the latest the audit's time", () => {
    const after = (failures: number) => {
      const calendar = new Calendar([[day(0), { count: 1, readAt: now, failures }]]);
      return (dueAt(calendar, { ...periods, recentFrom: day(1) }) - now) / minute;
    };
    expect([1, 2, 3, 7, 9].map(after)).toEqual([1, 2, 4, 64, 256]);
    expect([99, 5_000].map(after)).toEqual(Array(2).fill(periods.historyMs / minute));
  });

  it('is far off without days', () => {
    const calendar = new Calendar([], [day(0)]);
    expect(dueAt(calendar, { ...periods, historyMs: 9e12, recentFrom: day(1) })).toBeGreaterThan(
      Date.parse('2200-01-01'),
    );
  });
});

describe('the pace of the audits', () => {
  const audit = tickSettings().audit;
  // Of the requests for the history, the last 20 are spent at once when they have been saved up.
  it.each([
    ['reads 10,000 within an hour, by two requests a minute', 500, 20, (125 - 20) / 2, 2],
    ['reads a small history every 15 minutes', 5, 20, 15, 2],
    ['is what a pass a day needs', 7_200, 60, audit.historyMs / minute - 4, 5],
    ['is no more than a tick has', 57_600, 60, audit.historyMs / minute, audit.requests],
    ['counts each page of a large day', 1, 9_000, 40, 2],
  ])('%s', (_, days, count, minutes, perMinute) => {
    const entries = Array.from(
      { length: days },
      (_, n) => [day(n), { count, readAt: now }] as const,
    );
    const plan = auditPlan(requestsOf(new Calendar(entries), day(days)), day(days), audit);
    expect([plan.historyMs / minute, plan.perMinute]).toEqual([minutes, perMinute]);
  });

  it('saves up the requests that are spent together, and the excess of a long read', () => {
    const plan = { ...audit, recentFrom: day(0), perMinute: 2 };
    expect(savedUntil(3, plan, now)).toBe(now + 10 * minute);
    expect(savedUntil(50, plan, now)).toBe(now + 25 * minute);
  });
});
