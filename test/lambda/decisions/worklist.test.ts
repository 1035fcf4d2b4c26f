import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { backwards } from '../../../lambda/decisions/baseline.ts';
import { Calendar, type DayEntry } from '../../../lambda/decisions/calendar.ts';
import { asking, separated, stillAsked } from '../../../lambda/decisions/day-entries.ts';
import type { DayRange } from '../../../lambda/decisions/days.ts';
import { waited } from '../../../lambda/decisions/due.ts';
import {
  dueWork,
  type ReadStep,
  type Step,
  type StepAnswer,
  type Work,
} from '../../../lambda/decisions/worklist.ts';
import { forAll } from '../../support/for-all.ts';

const dayOf = (nth: number) => Temporal.PlainDate.from('2026-01-01').add({ days: nth });
const days = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, nth) => dayOf(from + nth).toString());

const day4 = dayOf(4);
const cursor = { day: day4.toString(), range: { from: day4, to: day4 }, offset: 0, anchors: [] };

const read: DayEntry = { count: 2, readAt: 1_000 };
const readNow = 2_000;
const calendarOf = (many: number) =>
  new Calendar(days(0, many).map((day): [string, DayEntry] => [day, read]));

const never = { recentMs: 9e12, historyMs: 9e12, recentFrom: '', withdrawAfterMs: 9e12 };

const quiet = (calendar: Calendar): Work => ({
  calendar,
  total: calendar.total,
  differs: false,
  recentFrom: dayOf(1_000).toString(),
  auditRequests: 20,
  turn: 0,
  looks: [],
  waited: (kind, calendar) => (kind === 'asked' ? waited(kind, calendar, never, readNow) : []),
});

function afterRead(calendar: Calendar, days: readonly string[], read: StepAnswer['read']) {
  if (read === 'done')
    return calendar.with(days.map((day) => [day, { count: 2, readAt: readNow }]));
  if (read !== 'unproven') return calendar;
  const asItWas = days.map((day) => [day, calendar.entry(day)] as const);
  return calendar.with(separated(new Map(asItWas), days));
}

/** Carries out a list. @returns each step, and its result */
function carriedOut<End>(
  list: Generator<Step, End, StepAnswer>,
  calendar: Calendar,
  outcome: (step: Step) => Partial<StepAnswer>,
) {
  const steps: Step[] = [];
  let now = calendar;
  let next = list.next({ calendar, isTimeUp: false });
  for (; !next.done; ) {
    const step = next.value;
    steps.push(step);
    expect(steps.length, 'it comes to an end').toBeLessThan(10_000);
    const come = outcome(step);
    if (step.kind === 'located') now = asking(now, step.days, readNow);
    if (step.kind === 'read') now = afterRead(now, step.days, come.read);
    next = list.next({ calendar: now, isTimeUp: false, requests: 1, ...come });
  }
  return { steps, end: next.value, calendar: now };
}

const reads = (steps: readonly Step[]) =>
  steps.filter((step): step is ReadStep => step.kind === 'read');

describe('the days that are due', () => {
  /** The partner's total is larger by so many. */
  const differing = (calendar: Calendar, more = 1) => ({
    ...quiet(calendar),
    differs: true,
    total: calendar.total + more,
  });

  it('are none if nothing differs and nothing has waited', () => {
    const calendar = calendarOf(9);
    const { steps, end } = carriedOut(dueWork(quiet(calendar)), calendar, () => ({}));
    expect(steps).toEqual([]);
    expect(end).toEqual({ isAllLocated: true, hasSearched: true, audited: 0 });
  });

  it('are divided down to the one that cannot be proven, and all others are read', () => {
    const calendar = calendarOf(40);
    const bad = dayOf(17).toString();
    const done: string[] = [];
    const work = differing(calendar);
    const { end } = carriedOut(dueWork(work), calendar, (step) => {
      if (step.kind !== 'read') return { count: calendar.total + 1 };
      if (step.isDivisible && step.days.includes(bad)) return { read: 'unproven' };
      done.push(...step.days);
      return { read: 'done' };
    });
    expect([...new Set(done)].sort()).toEqual(days(0, 40));
    expect(end).toMatchObject({ isAllLocated: true });
  });

  it('that a search has located without a read are asked for by the next tick, without a search', () => {
    const calendar = calendarOf(40);
    const work = differing(calendar);
    const first = carriedOut(dueWork(work), calendar, (step) =>
      step.kind === 'count' ? { count: 2 } : { isTimeUp: step.kind === 'read', read: 'in-vain' },
    );
    expect(first.end).toMatchObject({ isAllLocated: false });
    const asked = calendar.with(stillAsked(calendar, first.calendar));
    const { steps } = carriedOut(dueWork(quiet(asked)), asked, () => ({ read: 'done' }));
    expect(steps).toEqual(reads(steps));
    expect(reads(steps).flatMap((step) => step.days)).toEqual(days(0, 39));
  });

  it('are read in every turn, also after a day without progress since the last tick', () => {
    const calendar = calendarOf(9);
    const late = dayOf(7).toString();
    const waited: Work['waited'] = (kind, calendar) =>
      calendar.days.map((day) =>
        Number(kind === 'soon' && day === late && calendar.entry(day).readAt < readNow),
      );
    for (let turn = 0; turn < 4; turn++) {
      const work = { ...quiet(calendar), cursor, turn, waited };
      const { steps } = carriedOut(dueWork(work), calendar, (step) => ({
        cursor,
        read: step.kind === 'read' && step.days.includes(late) ? 'done' : 'in-vain',
      }));
      const alone = { days: [late], goneOnFrom: undefined, mayGoOn: false };
      expect(reads(steps)).toContainEqual(expect.objectContaining(alone));
    }
  });

  it.each(['left', 'failed'] as const)('are not all located if a read of them is %s', (read) => {
    const calendar = calendarOf(40);
    const { end } = carriedOut(dueWork(differing(calendar)), calendar, ({ kind }) =>
      kind === 'read' ? { read, calendar } : { count: 2 },
    );
    expect(end).toMatchObject({ isAllLocated: false });
  });

  it('are those with missing ones if as many have come: then nothing more is counted', () => {
    const lacking = { count: 1, readAt: 1_000, missing: 1 };
    const calendar = calendarOf(200).with([[dayOf(7).toString(), lacking]]);
    const { steps } = carriedOut(dueWork(differing(calendar)), calendar, ({ kind }) =>
      kind === 'read' ? { read: 'done' } : { count: 2 },
    );
    expect(steps.map(({ kind }) => kind)).toEqual(['count', 'located', 'read']);
  });

  it('keep the range of a search that has no turn', () => {
    const searching = { from: dayOf(3).toString(), to: dayOf(9).toString() };
    const calendar = calendarOf(20);
    const work = { ...quiet(calendar), differs: true, searching, cursor, turn: 1 };
    const { end } = carriedOut(dueWork(work), calendar, () => ({ isTimeUp: true, cursor }));
    expect(end).toMatchObject({ searching, hasSearched: false, isAllLocated: false });
  });

  it('are remembered if the time ends within a search', () => {
    const calendar = calendarOf(400);
    const work = differing(calendar, 500);
    let asked = 0;
    // The last day has the expected count. Then the time ends, with all days before it left to be
    // narrowed.
    const { end } = carriedOut(dueWork(work), calendar, () =>
      ++asked === 1 ? { count: 2 } : { isTimeUp: true },
    );
    const searching = { from: dayOf(0).toString(), to: dayOf(398).toString() };
    expect(end).toEqual({ isAllLocated: false, searching, hasSearched: true, audited: 0 });
    const again = { ...work, searching: { from: dayOf(3).toString(), to: dayOf(9).toString() } };
    const { steps } = carriedOut(dueWork(again), calendar, () => ({ isTimeUp: true }));
    expect(steps[0]).toMatchObject({ kind: 'count', range: { from: dayOf(3), to: dayOf(9) } });
  });

  it('take turns: a search, work left by an earlier tick, audits', () => {
    const calendar = calendarOf(9);
    const waited: Work['waited'] = (kind, { days }) => (kind === 'soon' ? days.map(() => 5) : []);
    const firstOf = (turn: number) => {
      const work = { ...quiet(calendar), differs: true, cursor, turn, waited };
      const { steps } = carriedOut(dueWork(work), calendar, () => ({ isTimeUp: true, cursor }));
      expect(steps).toHaveLength(1);
      const [first] = steps;
      return first?.kind === 'read' ? [first.purpose, first.days.length] : first?.kind;
    };
    expect([0, 1, 2, 3].map(firstOf)).toEqual(['count', ['search', 1], ['audit', 9], 'count']);
  });
});

describe('a reading of all days', () => {
  const today = dayOf(1_000);
  const days = [997, 998, 999, 1_000].map((day) => dayOf(day).toString());
  const window = { from: dayOf(997).toString(), today, days };
  const outcomes = fc.array(
    fc.record({
      read: fc.constantFrom('done', 'done', 'done', 'unanswered', 'unproven', 'in-vain' as const),
      found: fc.integer({ min: 0, max: 4_000 }),
    }),
    { minLength: 1, maxLength: 40 },
  );

  it.each([
    ['unanswered', 5, { sliceDays: 3, rereads: 40 }],
    ['unanswered', 1, { sliceDays: 0.5, rereads: 40 }],
    ['done', 5, { sliceDays: 5, rereads: 60 }],
  ] as const)('after a range that was %s, of %d days, goes on with %j', (read, sliceDays, next) => {
    const position = { before: today, sliceDays, rereads: 50 };
    const list = backwards({ position, startDay: today, window });
    const answer = { read, requests: 10, found: 1_200, oldest: dayOf(0) };
    const { end } = carriedOut(list, new Calendar([]), ({ kind }) => ({
      ...answer,
      isTimeUp: kind === 'reached',
    }));
    expect(end.position).toMatchObject(next);
  });

  /** A range that cannot be divided any further is given up, or left as it was shown. */
  const isLast = ({ purpose, isDivisible }: ReadStep) => purpose === 'baseline' && !isDivisible;
  const givenUp = (step: ReadStep, outcome: Partial<StepAnswer>): Partial<StepAnswer> =>
    outcome.read === 'unanswered' && isLast(step) ? { ...outcome, read: 'done' } : outcome;
  const isPast = (step: ReadStep, { read }: Partial<StepAnswer>) =>
    read === 'done' || (read === 'unproven' && isLast(step));

  it('leaves no day out and reads none twice, over any failures and any number of ticks', () =>
    forAll(outcomes, fc.integer({ min: 0, max: 999 }), (script, oldest) => {
      let position = {};
      const ranges: DayRange[] = [];
      // In the end the host answers.
      const calls = [...Array.from({ length: 59 }, (_, call) => script[call % script.length])];
      const outcomeOf = (step: ReadStep) => {
        const outcome = givenUp(step, calls.shift() ?? { read: 'done', found: 500 });
        if (isPast(step, outcome)) ranges.push(step.range);
        return outcome;
      };
      const answerTo = (step: Step): Partial<StepAnswer> =>
        step.kind === 'read' ? outcomeOf(step) : { oldest: dayOf(oldest) };
      for (let run = 0, isCompleted = false; run < 2_000 && !isCompleted; run++) {
        const list = backwards({ position, startDay: today, window });
        const { end } = carriedOut(list, new Calendar([]), answerTo);
        ({ position, isCompleted } = end);
      }
      expect(ranges[0]?.from).toEqual(today);
      expect(ranges[0]?.to).toBeUndefined();
      expect(ranges.at(-1)?.from).toBeUndefined();
      const later = ranges.slice(1).map(({ to }) => to?.add({ days: 1 }).toString());
      expect(ranges.slice(0, -1).map(({ from }) => from?.toString())).toEqual(later);
    }));
});
