import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Calendar, type CalendarRange } from '../../../lambda/decisions/calendar.ts';
import { locate, locateWithin, type SearchStep } from '../../../lambda/decisions/locate.ts';
import { forAll } from '../../support/for-all.ts';
import { anyCalendar, day, entryAt, sum } from './calendars.ts';

/** The questions of a search and the days that it names, with true answers. */
function searched(expected: Calendar, truth: Calendar, recent: number) {
  return followed(locate(expected, truth.total, recent), truth);
}

function followed(steps: Generator<SearchStep, void, number>, truth: Calendar) {
  const reads: CalendarRange[] = [];
  let questions = 0;
  for (let step = steps.next(); !step.done; ) {
    const { kind, range } = step.value;
    if (kind === 'read') reads.push(range);
    else questions += 1;
    step = steps.next(truth.sumOf(range));
  }
  return { reads, questions };
}

/** A calendar, and the number by which the partner has more, by position. */
const differing = (delta: fc.Arbitrary<number>) =>
  anyCalendar.chain(({ calendar, recent }) =>
    fc
      .dictionary(fc.nat({ max: calendar.days.length - 1 }).map(String), delta, { maxKeys: 6 })
      .map((deltas) => {
        const truth = calendar.with(
          Object.entries(deltas).map(([position, more]) => {
            const before = entryAt(calendar, Number(position));
            const count = Math.max(0, before.count + more);
            return [calendar.days[Number(position)] ?? '', { ...before, count }];
          }),
        );
        const positions = [...calendar.days.keys()].filter((at) => {
          return entryAt(truth, at).count !== entryAt(calendar, at).count;
        });
        return { calendar, truth, recent, differs: positions };
      }),
  );

/** Either all days have grown, or all have shrunk, so no difference hides another. */
const oneWay = fc.oneof(
  differing(fc.integer({ min: 1, max: 300 })),
  differing(fc.integer({ min: -300, max: -1 })),
);

const covers =
  ({ first, last }: CalendarRange) =>
  (position: number) =>
    first <= position && position <= last;

/**
 * The days to which a search has narrowed the difference after so many questions; undefined if it
 * had ended.
 */
function brokenOff(steps: ReturnType<typeof locate>, truth: Calendar, requests: number) {
  let step = steps.next();
  for (let asked = 0; !step.done && asked < requests; asked += 1) {
    const { kind, range } = step.value;
    step = steps.next(kind === 'read' ? Number.NaN : truth.sumOf(range));
  }
  return step.done ? undefined : step.value.within;
}

describe('a search for differing days', () => {
  it('names every day that differs once, the most recent first, and no range without one', () =>
    forAll(oneWay, ({ calendar, truth, recent, differs }) => {
      const { reads, questions } = searched(calendar, truth, recent);
      for (const position of differs)
        expect(reads.filter((range) => covers(range)(position))).toHaveLength(1);
      for (const range of reads) expect(differs.some(covers(range))).toBe(true);
      const firsts = reads.map(({ first }) => first);
      expect(firsts).toEqual(firsts.toSorted((a, b) => b - a));
      // One question a level for each differing day, and one for the recent days.
      const levels = Math.ceil(Math.log2(calendar.days.length));
      expect(questions).toBeLessThanOrEqual(differs.length * levels + 1);
      // Several days at once only if they are one page at the partner and few in the ledger.
      for (const range of reads.filter(({ first, last }) => first < last)) {
        expect(truth.sumOf(range)).toBeLessThanOrEqual(99);
        expect(calendar.sumOf(range)).toBeLessThanOrEqual(1_000);
      }
    }));

  it('resumes in the days in which it stopped, and names the same days there', () =>
    forAll(oneWay, fc.nat({ max: 20 }), ({ calendar, truth, recent }, requests) => {
      const within = brokenOff(locate(calendar, truth.total, recent), truth, requests);
      if (within === undefined) return;
      const all = searched(calendar, truth, recent).reads;
      const inside = ({ first, last }: CalendarRange) =>
        within.first <= first && last <= within.last;
      expect(truth.sumOf(within)).not.toBe(calendar.sumOf(within));
      expect(followed(locateWithin(calendar, within), truth).reads).toEqual(all.filter(inside));
    }));

  it('explains the whole difference, also if additions hide removals', () =>
    forAll(differing(fc.integer({ min: -50, max: 50 })), ({ calendar, truth, recent }) => {
      const { reads } = searched(calendar, truth, recent);
      const explained = sum(reads.map((range) => truth.sumOf(range) - calendar.sumOf(range)));
      expect(explained).toBe(truth.total - calendar.total);
    }));

  const steady = (days: number, count: number) =>
    new Calendar(Array.from({ length: days }, (_, n) => [day(n), { count, readAt: 0 }]));

  it('finds a certification backdated by up to ten years with a dozen questions', () => {
    const tenYears = steady(3_653, 270);
    const truth = tenYears.with([[day(1_234), { count: 271, readAt: 0 }]]);
    const { reads, questions } = searched(tenYears, truth, 3_649);
    expect(reads).toEqual([{ first: 1_234, last: 1_234 }]);
    expect(questions).toBeLessThanOrEqual(13);
  });

  it('divides a range with removals if the ledger has thousands in it', () => {
    const all = steady(16, 150);
    const { reads } = searched(all, steady(16, 0), 0);
    expect(reads.map((range) => all.sumOf(range))).toEqual([600, 600, 600, 600]);
  });

  it('ends if partner and calendar differ in the total and agree on each day', () =>
    forAll(anyCalendar, fc.integer({ min: -5, max: 5 }), ({ calendar, recent }, lie) => {
      const { reads } = followed(locate(calendar, calendar.total + lie, recent), calendar);
      expect(reads.length).toBeLessThanOrEqual(1);
    }));
});

describe('a search for missing certifications that returned', () => {
  const days = Array.from({ length: 40 }, (_, index) => day(index));
  /** Each day lacks so many certifications, and nothing else is known of it. */
  const without = (missing: number) =>
    new Calendar(days.map((one) => [one, { count: 0, missing, readAt: 0 }]));
  const back = (count: number) => new Calendar(days.map((one) => [one, { count, readAt: 0 }]));

  it('reads a page at a time without a count if as many returned as are missing', () => {
    const { reads, questions } = searched(without(30), back(30), 0);
    expect(questions).toBe(0);
    expect(reads.map(({ first, last }) => last - first + 1)).toEqual([...Array(13).fill(3), 1]);
  });

  it.each([
    ['reads only the days with missing ones', 7, [7]],
    ['continues as a normal search if as many are new elsewhere', 30, [7, 30]],
  ])('%s', (_, returned, expected) => {
    const calendar = without(0).with([[day(7), { count: 0, missing: 120, readAt: 0 }]]);
    const truth = back(0).with([[day(returned), { count: 120, readAt: 0 }]]);
    expect(searched(calendar, truth, 0).reads.map(({ first }) => first)).toEqual(expected);
  });
});
