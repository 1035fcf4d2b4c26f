import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ConditionName,
  conditionsOf,
  isLasting,
  type Observation,
  type OpenCondition,
  observe,
  settle,
} from '../../../lambda/detection/conditions.ts';
import { nothingNoted } from '../../scaffold/facts.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

interface Step {
  readonly number: number;
  readonly minutes: number;
  /** SNS accepts the notice, if one is owed. */
  readonly accepted: boolean;
}

const steps = (minutes: fc.Arbitrary<number>, accepted: fc.Arbitrary<boolean>) =>
  fc.array(fc.record({ number: fc.nat({ max: 3 }), minutes, accepted }), { maxLength: 60 });

/** The notices of a condition's life. */
function live(life: readonly Step[]) {
  let condition: OpenCondition | undefined;
  let now = 0;
  const told: { stage: OpenCondition['owes']; at: number; number: number }[] = [];
  for (const { number, minutes, accepted } of life) {
    now += minutes * minute;
    condition = observe(condition, { number }, now);
    if (condition?.owes === undefined || !accepted) continue;
    told.push({ stage: condition.owes, at: now, number: condition.number });
    condition = settle(condition, now);
  }
  return { told, condition, now };
}

/**
 * @returns the minutes in which a condition is told to begin and to end, if it has to be steady for
 * ten minutes
 */
function lived(isSeen: (at: number) => boolean): string[] {
  let condition: OpenCondition | undefined;
  const known = Array.from({ length: 61 }, (_, at) => {
    const seen = { number: isSeen(at) ? 3 : 0, steadyMs: 10 * minute };
    const observed = observe(condition, seen, at * minute);
    condition = observed?.owes === undefined ? observed : settle(observed, at * minute);
    return condition?.told !== undefined;
  });
  return known.flatMap((isKnown, at) =>
    isKnown === (known[at - 1] ?? false) ? [] : `${isKnown ? 'begins' : 'ends'} ${at}`,
  );
}

const once = fc.constant(true);

describe('a condition', () => {
  it('is told once when it begins and once when it ends, however often it is seen', () => {
    fc.assert(
      fc.property(steps(fc.constant(1), once), (life) => {
        const { told } = live(life);
        const isOpen = life.map(({ number }) => number > 0);
        const turns = isOpen.filter((open, index) => open !== (isOpen[index - 1] ?? false));
        expect(told.map(({ stage }) => stage)).toEqual(
          turns.map((open) => (open ? 'begins' : 'ends')),
        );
      }),
    );
  });

  it('begins and ends in turn, also if SNS refuses notices', () => {
    fc.assert(
      fc.property(steps(fc.nat({ max: 2_000 }), fc.boolean()), (life) => {
        let isKnown = false;
        for (const { stage } of live(life).told) {
          expect(stage === 'begins').toBe(!isKnown);
          if (stage !== 'grows') isKnown = stage === 'begins';
        }
      }),
    );
  });

  it('is told in the end as it is and only once, after any refusals', () => {
    fc.assert(
      fc.property(steps(fc.nat({ max: 2_000 }), fc.boolean()), fc.nat(3), (life, number) => {
        const last = { number, minutes: 1, accepted: true };
        const { told, condition } = live([...life, last]);
        expect(condition?.owes).toBeUndefined();
        const stages = told.map(({ stage }) => stage).filter((stage) => stage !== 'grows');
        expect(stages.at(-1) ?? 'ends').toBe(number > 0 ? 'begins' : 'ends');
        expect(condition === undefined).toBe(number === 0);
      }),
    );
  });

  it('that grows is told again, at most once a day', () => {
    const life = Array.from({ length: 5 * 24 * 60 }, (_, index) => ({
      number: index + 1,
      minutes: 1,
      accepted: true,
    }));
    const { told } = live(life);
    expect(told.map(({ stage }) => stage)).toEqual(['begins', ...Array(4).fill('grows')]);
    const gaps = told.slice(1).map(({ at }, index) => at - (told[index]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(day);
  });

  it('that shrinks and grows again is told again', () => {
    const life = [600, 200, 500, 500].map((number) => ({
      number,
      minutes: 13 * 60,
      accepted: true,
    }));
    expect(live(life).told).toMatchObject([
      { stage: 'begins', number: 600 },
      { stage: 'grows', number: 500, at: 39 * 60 * minute },
    ]);
  });

  it('that stays the same is not told again', () => {
    const life = Array.from({ length: 30 }, () => ({
      number: 7,
      minutes: 24 * 60,
      accepted: true,
    }));
    expect(live(life).told).toHaveLength(1);
  });

  it('keeps the time of its beginning, also if it returns before its end was told', () => {
    const seen = (number: number): Observation => ({ number });
    let condition = observe(undefined, seen(1), 5);
    condition = condition && settle(condition, 6);
    condition = observe(condition, seen(0), 7);
    expect(condition).toMatchObject({ owes: 'ends', since: 5 });
    condition = observe(condition, seen(2), 8);
    expect(condition).toEqual({ since: 5, number: 2, told: { at: 6, number: 0 } });
  });

  it('keeps its details only until they are told', () => {
    const condition = observe(undefined, { number: 1, details: ['what'] }, 5);
    expect(observe(condition, { number: 2 }, 6)).toMatchObject({ details: ['what'], number: 2 });
    expect(condition && settle(condition, 6)).not.toHaveProperty('details');
  });

  describe('that has to be steady', () => {
    it('begins once it has lasted so long, and ends once it has been absent so long', () => {
      expect(lived((at) => at >= 5 && at < 30)).toEqual(['begins 15', 'ends 40']);
    });

    it('is not told if it ends sooner', () => {
      expect(lived((at) => at >= 5 && at < 12)).toEqual([]);
    });

    it('continues over short absences', () => {
      expect(lived((at) => at < 41 && at % 4 > 0)).toEqual(['begins 11', 'ends 50']);
    });

    it('begins again after an absence of that length', () => {
      expect(lived((at) => at % 20 < 3)).toEqual([]);
      expect(lived((at) => at % 30 < 15)).toEqual(['begins 10', 'ends 25', 'begins 40', 'ends 55']);
    });

    it('does not count as lasting before it was told, and owes no notice while it is absent', () => {
      const begun = observe(undefined, { number: 3, steadyMs: 10 * minute }, 0);
      expect(begun).toEqual({ since: 0, number: 3 });
      expect(begun && isLasting(begun)).toBe(false);
      const owing = observe(begun, { number: 3, steadyMs: 10 * minute }, 10 * minute);
      expect(owing?.owes).toBe('begins');
      const away = observe(owing, { number: 0, steadyMs: 10 * minute }, 11 * minute);
      expect(away).toEqual({ since: 0, number: 3, goneAt: 11 * minute });
      expect(observe(away, { number: 4, steadyMs: 10 * minute }, 12 * minute)).toEqual({
        since: 0,
        number: 4,
        owes: 'begins',
        details: [],
      });
    });
  });

  describe('that may end by itself', () => {
    const graceMs = 15 * minute;
    type Minute = 'good' | 'bad' | 'none';
    const blocked = {
      good: { blocked: {} },
      bad: { blocked: { name: 'partner-silent', passing: 'why' } },
      none: {},
    } as const;
    /** The condition after a tick. A tick that leaves the host alone has noted nothing. */
    const minuteAfter = (before: OpenCondition | undefined, tick: Minute, nowMs: number) => {
      const open = new Map<ConditionName, OpenCondition>(before && [['partner-silent', before]]);
      const seen = conditionsOf({ ...nothingNoted(), ...blocked[tick] }, open, nowMs);
      const observation = seen['partner-silent'];
      return observation ? observe(before, observation, nowMs) : before;
    };
    const outage = (minutes: readonly Minute[]) => {
      const told: { owes: OpenCondition['owes']; at: number }[] = [];
      let open: OpenCondition | undefined;
      for (const [at, tick] of minutes.entries()) {
        open = minuteAfter(open, tick, at * minute);
        if (open?.owes === undefined) continue;
        told.push({ owes: open.owes, at });
        open = settle(open, at * minute);
      }
      return { told, open };
    };
    const life = fc.array(fc.constantFrom<Minute>('good', 'bad', 'none'), { maxLength: 120 });

    it('is told at most once in each quarter of an hour, and its end once after its beginning', () => {
      fc.assert(
        fc.property(life, (minutes) => {
          const { told } = outage(minutes);
          const first = told.filter(({ owes }) => owes !== 'ends');
          for (const [index, { at }] of first.entries())
            expect(at - (first[index - 1]?.at ?? 0)).toBeGreaterThanOrEqual(graceMs / minute);
          let isKnown = false;
          for (const { owes } of told) {
            expect(owes === 'ends').toBe(isKnown);
            isKnown = owes === 'begins';
          }
        }),
      );
    });

    it('is told within a quarter of an hour after two ticks have met it', () => {
      fc.assert(
        fc.property(life, (minutes) => {
          const after = Array<Minute>(15).fill('good');
          const { told } = outage([...minutes, 'bad', 'bad', ...after]);
          expect(told.some(({ at }) => at >= minutes.length - 15)).toBe(true);
        }),
      );
    });

    it('is removed a quarter of an hour after its end', () => {
      fc.assert(
        fc.property(life, (minutes) => {
          expect(outage([...minutes, ...Array<Minute>(16).fill('good')]).open).toBeUndefined();
        }),
      );
    });
  });
});
