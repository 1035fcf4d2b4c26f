import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Observation,
  type OpenCondition,
  observe,
  type Stage,
  settle,
} from '../../../lambda/detection/conditions.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

interface Step {
  readonly number: number;
  readonly minutes: number;
  /** Whether SNS takes the notice, if one is owed. */
  readonly accepted: boolean;
}

const steps = (minutes: fc.Arbitrary<number>, accepted: fc.Arbitrary<boolean>) =>
  fc.array(fc.record({ number: fc.nat({ max: 3 }), minutes, accepted }), { maxLength: 60 });

/** What a life of a condition is told of. */
function live(life: readonly Step[]) {
  let condition: OpenCondition | undefined;
  let now = 0;
  const told: { stage: Stage; at: number; number: number }[] = [];
  for (const { number, minutes, accepted } of life) {
    now += minutes * minute;
    condition = observe(condition, { number }, now);
    if (condition?.owes === undefined || !accepted) continue;
    told.push({ stage: condition.owes, at: now, number: condition.number });
    condition = settle(condition, now);
  }
  return { told, condition, now };
}

const once = fc.constant(true);

describe('a condition', () => {
  it('is told of once when it begins and once when it is over, however often it is seen', () => {
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

  it('begins and ends in turn, whatever SNS refuses', () => {
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

  it('is told of in the end, whatever was refused before: as it is, and no more', () => {
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

  it('that becomes more is told of again, at most once a day', () => {
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

  it('that becomes more again after it had become less is told of again', () => {
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

  it('that stays as it is, is not told of again', () => {
    const life = Array.from({ length: 30 }, () => ({
      number: 7,
      minutes: 24 * 60,
      accepted: true,
    }));
    expect(live(life).told).toHaveLength(1);
  });

  it('keeps since when it lasts, also when its end was not told before it came back', () => {
    const seen = (number: number): Observation => ({ number });
    let condition = observe(undefined, seen(1), 5);
    condition = condition && settle(condition, 6);
    condition = observe(condition, seen(0), 7);
    expect(condition).toMatchObject({ owes: 'ends', since: 5 });
    condition = observe(condition, seen(2), 8);
    expect(condition).toEqual({ since: 5, number: 2, told: { at: 6, number: 0 } });
  });

  it('keeps its details only until they were told', () => {
    const condition = observe(undefined, { number: 1, details: ['what'] }, 5);
    expect(observe(condition, { number: 2 }, 6)).toMatchObject({ details: ['what'], number: 2 });
    expect(condition && settle(condition, 6)).not.toHaveProperty('details');
  });
});
