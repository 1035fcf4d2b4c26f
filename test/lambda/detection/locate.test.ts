import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Calendar, type CalendarRange } from '../../../lambda/detection/calendar.ts';
import { locate, locateWithin, type SearchStep } from '../../../lambda/detection/locate.ts';
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
    if (kind === 'read') {
      reads.push(range);
      step = steps.next(Number.NaN);
    } else {
      questions += 1;
      step = steps.next(truth.sumOf(range));
    }
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
function brokenOff(
  steps: ReturnType<typeof locate>,
  truth: Calendar,
  requests: number,
): CalendarRange | undefined {
  let step = steps.next();
  for (let asked = 0; !step.done && asked < requests; asked += 1) {
    const { kind, range } = step.value;
    step = steps.next(kind === 'read' ? Number.NaN : truth.sumOf(range));
  }
  return step.done ? undefined : step.value.within;
}

describe('a search for differing days', () => {
  it('names every day that differs, no range without one, and no day twice', () => {
    fc.assert(
      fc.property(oneWay, ({ calendar, truth, recent, differs }) => {
        const { reads } = searched(calendar, truth, recent);
        for (const position of differs)
          expect(reads.filter((range) => covers(range)(position))).toHaveLength(1);
        for (const range of reads) expect(differs.some(covers(range))).toBe(true);
      }),
    );
  });

  it('resumes in the days in which it stopped, and names the same days there', () => {
    fc.assert(
      fc.property(oneWay, fc.nat({ max: 20 }), ({ calendar, truth, recent }, requests) => {
        const within = brokenOff(locate(calendar, truth.total, recent), truth, requests);
        if (within === undefined) return;
        const all = searched(calendar, truth, recent).reads;
        const inside = ({ first, last }: CalendarRange) =>
          within.first <= first && last <= within.last;
        expect(truth.sumOf(within)).not.toBe(calendar.sumOf(within));
        expect(followed(locateWithin(calendar, within), truth).reads).toEqual(all.filter(inside));
      }),
    );
  });

  it('asks at most one question a level for each differing day, and one for the recent days', () => {
    fc.assert(
      fc.property(oneWay, ({ calendar, truth, recent, differs }) => {
        const levels = Math.ceil(Math.log2(calendar.days.length));
        const { questions } = searched(calendar, truth, recent);
        expect(questions).toBeLessThanOrEqual(differs.length * levels + 1);
      }),
    );
  });

  it('names several days at once only if they are one page at the partner and few in the ledger', () => {
    fc.assert(
      fc.property(oneWay, ({ calendar, truth, recent }) => {
        for (const range of searched(calendar, truth, recent).reads) {
          if (range.first === range.last) continue;
          expect(truth.sumOf(range)).toBeLessThanOrEqual(99);
          expect(calendar.sumOf(range)).toBeLessThanOrEqual(1_000);
        }
      }),
    );
  });

  it('names the most recent days first', () => {
    fc.assert(
      fc.property(oneWay, ({ calendar, truth, recent }) => {
        const firsts = searched(calendar, truth, recent).reads.map(({ first }) => first);
        expect(firsts).toEqual(firsts.toSorted((a, b) => b - a));
      }),
    );
  });

  it('explains the whole difference, also if additions hide removals', () => {
    fc.assert(
      fc.property(differing(fc.integer({ min: -50, max: 50 })), ({ calendar, truth, recent }) => {
        const { reads } = searched(calendar, truth, recent);
        const explained = sum(reads.map((range) => truth.sumOf(range) - calendar.sumOf(range)));
        expect(explained).toBe(truth.total - calendar.total);
      }),
    );
  });

  it('finds a certification backdated by up to ten years with a dozen questions', () => {
    const tenYears = new Calendar(
      Array.from({ length: 3_653 }, (_, n) => [day(n), { count: 270, readAt: 0 }]),
    );
    const backdated = day(1_234);
    const truth = tenYears.with([[backdated, { count: 271, readAt: 0 }]]);
    const { reads, questions } = searched(tenYears, truth, 3_649);
    expect(reads).toEqual([{ first: 1_234, last: 1_234 }]);
    expect(questions).toBeLessThanOrEqual(13);
  });

  it('divides a range with removals if the ledger has thousands in it', () => {
    const all = new Calendar(
      Array.from({ length: 16 }, (_, n) => [day(n), { count: 150, readAt: 0 }]),
    );
    const gone = all.with(all.days.map((one) => [one, { count: 0, readAt: 0 }]));
    const { reads } = searched(all, gone, 0);
    expect(reads.map((range) => all.sumOf(range))).toEqual([600, 600, 600, 600]);
  });

  it('ends if partner and calendar differ in the total and agree on each day', () => {
    fc.assert(
      fc.property(anyCalendar, fc.integer({ min: -5, max: 5 }), ({ calendar, recent }, lie) => {
        const steps = locate(calendar, calendar.total + lie, recent);
        const reads: CalendarRange[] = [];
        for (let step = steps.next(); !step.done; ) {
          if (step.value.kind === 'read') reads.push(step.value.range);
          step = steps.next(calendar.sumOf(step.value.range));
        }
        expect(reads.length).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('a search for missing certifications that returned', () => {
  const days = Array.from({ length: 40 }, (_, index) => day(index));
  /** Each day lacks so many certifications, and nothing else is known of it. */
  const without = (missing: number) =>
    new Calendar(days.map((one) => [one, { count: 0, missing, readAt: 0 }]));
  const back = (each: number, from = 0) =>
    new Calendar(days.map((one, at) => [one, { count: at < from ? 0 : each, readAt: 0 }]));

  /** Answers a count with the partner's. */
  function* answered(steps: Generator<SearchStep, void, number>, truth: Calendar) {
    for (let step = steps.next(); !step.done; step = steps.next(truth.sumOf(step.value.range)))
      yield step.value;
  }

  it('reads a page at a time without a count if as many returned as are missing', () => {
    const steps = [...answered(locate(without(30), 1_200, 0), back(30))];
    expect(steps.map(({ kind }) => kind)).toEqual(Array(14).fill('read'));
    expect(steps.map(({ range: { first, last } }) => last - first + 1)).toEqual([
      ...Array(13).fill(3),
      1,
    ]);
  });

  it('leaves out days without missing certifications', () => {
    const calendar = without(0).with([[day(7), { count: 0, missing: 120, readAt: 0 }]]);
    const truth = back(0).with([[day(7), { count: 120, readAt: 0 }]]);
    expect([...answered(locate(calendar, 120, 0), truth)]).toMatchObject([
      { kind: 'read', range: { first: 7, last: 7 } },
    ]);
  });

  it('continues as a normal search if as many are new elsewhere', () => {
    const calendar = without(0).with([[day(7), { count: 0, missing: 120, readAt: 0 }]]);
    const truth = back(0).with([[day(30), { count: 120, readAt: 0 }]]);
    const steps = [...answered(locate(calendar, 120, 0), truth)];
    const reads = steps.filter(({ kind }) => kind === 'read').map(({ range }) => range.first);
    expect(reads).toEqual([7, 30]);
  });
});
