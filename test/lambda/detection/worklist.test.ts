import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { Calendar, type DayEntry } from '../../../lambda/detection/calendar.ts';
import type { DayRange } from '../../../lambda/detection/days.ts';
import { locate } from '../../../lambda/detection/locate.ts';
import {
  type Answer,
  backwards,
  dueWork,
  type ReadStep,
  type Step,
  type Work,
} from '../../../lambda/detection/worklist.ts';

const dayOf = (nth: number) => Temporal.PlainDate.from('2026-01-01').add({ days: nth });
const days = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, nth) => dayOf(from + nth).toString());

const read: DayEntry = { count: 2, readAt: 1_000 };
const calendarOf = (many: number) =>
  new Calendar(days(0, many).map((day): [string, DayEntry] => [day, read]));

const quiet = (calendar: Calendar): Work => ({
  calendar,
  total: calendar.total,
  differs: false,
  recentFrom: dayOf(1_000).toString(),
  auditRequests: 20,
  waited: () => () => 0,
  rules: { locate, isEarlierHalfFirst: (earlier, later) => earlier < later },
});

/** Carries out a list: each step, and what comes of it. */
function carriedOut<End>(
  list: Generator<Step, End, Answer>,
  calendar: Calendar,
  outcome: (step: Step) => Partial<Answer>,
) {
  const steps: Step[] = [];
  let answer: Answer = { calendar, isTimeUp: false };
  for (let next = list.next(answer); ; next = list.next(answer)) {
    if (next.done) return { steps, end: next.value };
    steps.push(next.value);
    expect(steps.length, 'it comes to an end').toBeLessThan(10_000);
    answer = { calendar, isTimeUp: false, requests: 1, ...outcome(next.value) };
  }
}

const reads = (steps: readonly Step[]) =>
  steps.filter((step): step is ReadStep => step.kind === 'read');

describe('the days that are due', () => {
  it('are none where nothing differs and nothing has waited', () => {
    const calendar = calendarOf(9);
    const { steps, end } = carriedOut(dueWork(quiet(calendar)), calendar, () => ({}));
    expect(steps).toEqual([]);
    expect(end).toEqual({ isAllLocated: true, searching: undefined, overspent: 0 });
  });

  it('are divided down to the one that cannot be proven, and all others are read', () => {
    const calendar = calendarOf(40);
    const bad = dayOf(17).toString();
    const done: string[] = [];
    const work = { ...quiet(calendar), differs: true, total: calendar.total + 1 };
    const { end } = carriedOut(dueWork(work), calendar, (step) => {
      if (step.kind !== 'read') return { count: calendar.total + 1 };
      if (step.isDivisible && step.days.includes(bad)) return { read: 'unproven' };
      done.push(...step.days);
      return { read: 'done' };
    });
    expect([...new Set(done)].sort()).toEqual(days(0, 40));
    expect(end).toMatchObject({ isAllLocated: true });
  });

  it('are remembered where time was up in the middle of a search', () => {
    const calendar = calendarOf(400);
    const work = { ...quiet(calendar), differs: true, total: calendar.total + 500 };
    let asked = 0;
    // The last day counts as expected; then time is up, with all days before it left to be narrowed.
    const { end } = carriedOut(dueWork(work), calendar, () =>
      ++asked === 1 ? { count: 2 } : { isTimeUp: true },
    );
    const searching = { from: dayOf(0).toString(), to: dayOf(398).toString() };
    expect(end).toEqual({ isAllLocated: false, searching, overspent: 0 });
    const again = { ...work, searching: { from: dayOf(3).toString(), to: dayOf(9).toString() } };
    const { steps } = carriedOut(dueWork(again), calendar, () => ({ isTimeUp: true }));
    expect(steps[0]).toMatchObject({ kind: 'count', range: { from: dayOf(3), to: dayOf(9) } });
  });

  it('are gone on with before anything is audited', () => {
    const calendar = calendarOf(9);
    const cursor = { day: dayOf(4).toString(), range: { from: dayOf(4), to: dayOf(4) } };
    const work = { ...quiet(calendar), cursor, waited: () => () => 5 };
    const { steps } = carriedOut(dueWork(work), calendar, () => ({ read: 'left', cursor }));
    expect(reads(steps).map((step) => step.days)).toEqual([[cursor.day]]);
  });
});

const endsOf = ({ from, to }: DayRange): [from: string, to: string] => [
  from?.toString() ?? '',
  to?.toString() ?? '~',
];

describe('a reading of all days', () => {
  const window = { from: dayOf(997), today: dayOf(1_000) };
  const outcomes = fc.array(
    fc.record({
      read: fc.constantFrom('done', 'done', 'done', 'unanswered', 'in-vain' as const),
      found: fc.integer({ min: 0, max: 4_000 }),
    }),
    { minLength: 1, maxLength: 40 },
  );

  it('leaves no day out and reads none twice, whatever fails, over as many runs as it takes', () => {
    fc.assert(
      fc.property(outcomes, fc.integer({ min: 0, max: 999 }), (script, oldest) => {
        let position = {};
        const ranges: [from: string, to: string][] = [];
        // In the end the host answers.
        const calls = [...Array.from({ length: 59 }, (_, call) => script[call % script.length])];
        const outcomeOf = (step: ReadStep) => {
          const outcome = calls.shift() ?? { read: 'done' as const, found: 500 };
          // A slice that cannot be divided any further is given up.
          const isGivenUp = outcome.read === 'unanswered' && !step.isDivisible;
          return isGivenUp && step.purpose === 'baseline'
            ? { ...outcome, read: 'done' as const }
            : outcome;
        };
        const answerTo = (step: Step): Partial<Answer> => {
          if (step.kind === 'oldest') return { oldest: dayOf(oldest) };
          if (step.kind !== 'read') return {};
          const outcome = outcomeOf(step);
          if (outcome.read === 'done') ranges.push(endsOf(step.range));
          return outcome;
        };
        for (let run = 0, isCompleted = false; run < 2_000 && !isCompleted; run++) {
          const list = backwards({ position, startDay: window.today, window });
          const { end } = carriedOut(list, new Calendar([]), answerTo);
          ({ position, isCompleted } = end);
        }
        expect(ranges[0]).toEqual([dayOf(1_000).toString(), '~']);
        expect(ranges.at(-1)?.[0]).toBe('');
        for (const [nth, [from]] of ranges.slice(0, -1).entries()) {
          const next = ranges[nth + 1]?.[1] ?? '';
          expect(Temporal.PlainDate.from(next).add({ days: 1 }).toString()).toBe(from);
        }
      }),
    );
  });
});
