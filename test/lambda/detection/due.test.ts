import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Calendar, type CalendarRange } from '../../../lambda/detection/calendar.ts';
import {
  auditPlan,
  calendarLearned,
  nextDue,
  requestsOf,
  savedUntil,
  waited,
} from '../../../lambda/detection/due.ts';
import type { TickSettings } from '../../../lambda/settings.ts';
import { tickSettings } from '../../scaffold/settings.ts';
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
  it('reaches a day whose reads have left a difference for weeks', () => {
    fc.assert(
      fc.property(fc.nat({ max: 5_000 }), (failures) => {
        const left = new Calendar([
          [day(0), { count: 1, readAt: now - periods.recentMs, failures }],
        ]);
        expect(nextAudit(left, 0, now)).toEqual({ first: 0, last: 0 });
      }),
    );
  });

  it('reads the day that has waited for the most of its periods', () => {
    fc.assert(
      fc.property(anyHistory, ({ calendar, recent }) => {
        const waited = [...calendar.days.keys()].map((one) => overdue(calendar, recent, one, now));
        const most = Math.max(...waited);
        const range = nextAudit(calendar, recent, now);
        if (most < 1) expect(range).toBeUndefined();
        else expect(waited.slice(range?.first, (range?.last ?? -1) + 1)).toContain(most);
      }),
    );
  });

  it('includes neighbours that fit into the page and have waited for half their time, and no others', () => {
    fc.assert(
      fc.property(anyHistory, ({ calendar, recent }) => {
        const range = nextAudit(calendar, recent, now);
        if (range === undefined) return;
        const joins = (first: number, last: number, one: number) =>
          first >= 0 &&
          last < calendar.days.length &&
          calendar.sumOf({ first, last }) <= 99 &&
          overdue(calendar, recent, one, now) >= 0.5;
        const { first, last } = range;
        if (first < last) expect(calendar.sumOf(range)).toBeLessThanOrEqual(99);
        for (let one = first; one <= last; one++)
          expect(overdue(calendar, recent, one, now)).toBeGreaterThanOrEqual(0.5);
        expect(joins(first - 1, last, first - 1)).toBe(false);
        expect(joins(first, last + 1, last + 1)).toBe(false);
      }),
    );
  });

  it('fills a page to its ninety-ninth row', () => {
    const of = (count: number) =>
      new Calendar(Array.from({ length: 9 }, (_, n) => [day(n), { count, readAt: 0 }]));
    expect(nextAudit(of(33), 9, now)).toEqual({ first: 0, last: 2 });
    expect(nextAudit(of(34), 9, now)).toEqual({ first: 0, last: 1 });
  });

  it('reaches every day that is due, and none twice', () => {
    fc.assert(
      fc.property(anyHistory, ({ calendar, recent }) => {
        let after = calendar;
        const seen: number[] = [];
        for (;;) {
          const range = nextAudit(after, recent, now);
          if (range === undefined) break;
          for (let one = range.first; one <= range.last; one++) seen.push(one);
          expect(seen.length).toBeLessThanOrEqual(calendar.days.length);
          after = read(after, range, now);
        }
        expect(new Set(seen).size).toBe(seen.length);
        const due = [...calendar.days.keys()].filter(
          (one) => overdue(calendar, recent, one, now) >= 1,
        );
        expect(seen).toEqual(expect.arrayContaining(due));
      }),
    );
  });

  it('reads every day within its period and a tick, with enough requests', () => {
    // Six recent days and 120 of history, all too full to share a page, need 0.4 and 0.08 requests
    // a minute.
    const days = Array.from(
      { length: 126 },
      (_, n) => [day(n), { count: 60, readAt: now }] as const,
    );
    const recent = 120;
    let calendar = new Calendar(days);
    let worst = 0;
    for (let at = now; at < now + 3 * periods.historyMs; at += minute) {
      for (const position of calendar.days.keys())
        worst = Math.max(worst, overdue(calendar, recent, position, at));
      const range = nextAudit(calendar, recent, at);
      if (range !== undefined) calendar = read(calendar, range, at);
    }
    // There is one request a minute, and all days were read at once: the last of the six waits for
    // five more.
    expect(worst).toBeLessThanOrEqual(1 + 6 / 15);
  });

  it('lets no day wait for ever if there are too few requests', () => {
    // Six recent days every three minutes and 30 of history need at least two requests a minute.
    const days = Array.from(
      { length: 36 },
      (_, n) => [day(n), { count: 60, readAt: now }] as const,
    );
    const recent = 30;
    const short: AuditPeriods = { recentMs: 3 * minute, historyMs: 60 * minute };
    let calendar = new Calendar(days);
    const worst = { recent: 0, history: 0 };
    for (let at = now; at < now + 48 * short.historyMs; at += minute) {
      for (const position of calendar.days.keys()) {
        const age = at - entryAt(calendar, position).readAt;
        if (position >= recent) worst.recent = Math.max(worst.recent, age / short.recentMs);
        else worst.history = Math.max(worst.history, age / short.historyMs);
      }
      const range = nextAudit(calendar, recent, at, short);
      if (range !== undefined) calendar = read(calendar, range, at);
    }
    // 2 + 0.5 requests a minute are needed and there is one: all reads take 2.5 times as long,
    // including a pass.
    expect(worst.recent).toBeLessThanOrEqual(2.5 * (1 + 6 / 3));
    expect(worst.history).toBeLessThanOrEqual(2.5 * (1 + 30 / 60));
  });
});

describe('the time of the next due day', () => {
  const dueAt = (calendar: Calendar, settings: AuditPeriods & { recentFrom: string }, from = 0) =>
    calendarLearned(calendar, settings, from).dueAt;

  it('is that of the first due day, recent or not', () => {
    fc.assert(
      fc.property(anyHistory, ({ calendar, recent }) => {
        const settings = { ...periods, recentFrom: fromOf(calendar, recent) };
        const due = dueAt(calendar, settings);
        expect(nextAudit(calendar, recent, due - 1, periods)).toBeUndefined();
        expect(nextAudit(calendar, recent, due, periods)).toBeDefined();
      }),
    );
  });

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
    expect(after(99)).toBe(periods.historyMs / minute);
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
  const planOf = (calendar: Calendar, from: string) =>
    auditPlan(requestsOf(calendar, from), from, audit);
  const of = (days: number, count: number) =>
    planOf(
      new Calendar(Array.from({ length: days }, (_, n) => [day(n), { count, readAt: now }])),
      day(days),
    );

  it('reads a history of 10,000 within an hour, by two requests a minute', () => {
    const { historyMs, perMinute } = of(500, 20);
    expect(perMinute).toBe(2);
    // Of 125 requests, the last 20 are spent at once when they have been saved up.
    expect(historyMs / minute).toBe((125 - 20) / 2);
  });

  it('reads the history at most every 15 minutes', () => {
    expect(of(5, 20)).toMatchObject({ historyMs: 15 * minute, perMinute: 2 });
  });

  it('is as high as a pass a day needs where two requests a minute are too few', () => {
    const { historyMs, perMinute } = of(7_200, 60);
    expect(historyMs).toBe(audit.historyMs - 4 * minute);
    expect(perMinute).toBe(5);
  });

  it('is at most the requests of a tick, even where that is too few', () => {
    expect(of(57_600, 60)).toMatchObject({ historyMs: audit.historyMs, perMinute: audit.requests });
  });

  it('counts each page of a large day', () => {
    const one = planOf(new Calendar([[day(0), { count: 9_000, readAt: now }]]), day(1));
    expect(one.historyMs).toBe(40 * minute);
  });

  it('saves up the requests that are spent together, and the excess of a long read', () => {
    const plan = { ...audit, recentFrom: day(0), perMinute: 2 };
    expect(savedUntil(3, plan, now)).toBe(now + 10 * minute);
    expect(savedUntil(50, plan, now)).toBe(now + 25 * minute);
  });
});
