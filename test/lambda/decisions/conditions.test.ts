import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ConditionName,
  isLasting,
  type OpenCondition,
  observe,
  settle,
} from '../../../lambda/decisions/conditions.ts';
import { conditionsOf } from '../../../lambda/decisions/observations.ts';
import { nothingNoted } from '../../scaffold/facts.ts';
import { forAll } from '../../support/for-all.ts';

const minute = 60_000;

interface Step {
  readonly number: number;
  readonly minutes: number;
  /** SNS accepts the notice, if one is owed. */
  readonly accepted: boolean;
}

const anyLife = fc.array(
  fc.record({
    number: fc.nat({ max: 3 }),
    minutes: fc.nat({ max: 2_000 }),
    accepted: fc.boolean(),
  }),
  { maxLength: 60 },
);
const step = (number: number, minutes: number): Step => ({ number, minutes, accepted: true });

/** The notices of a condition's life, and the minute of each. */
function live(life: readonly Step[], steadyMs = 0) {
  let condition: OpenCondition | undefined;
  let now = 0;
  const told: [stage: OpenCondition['owes'], minute: number][] = [];
  for (const { number, minutes, accepted } of life) {
    now += minutes * minute;
    condition = observe(condition, { number, steadyMs }, now);
    if (condition?.owes === undefined || !accepted) continue;
    told.push([condition.owes, now / minute]);
    condition = settle(condition, now);
  }
  return { told, condition, notices: told.map((one) => one.join(' ')) };
}

describe('a condition', () => {
  it('begins and ends in turn, also if SNS refuses notices, and is told in the end as it is', () =>
    forAll(anyLife, fc.nat(3), (life, number) => {
      const { told, condition } = live([...life, step(number, 1)]);
      let isKnown = false;
      for (const [stage] of told) {
        expect(stage === 'begins').toBe(!isKnown);
        if (stage !== 'grows') isKnown = stage === 'begins';
      }
      expect(isKnown).toBe(number > 0);
      expect(condition?.owes).toBeUndefined();
      expect(condition === undefined).toBe(number === 0);
    }));

  const rising = Array.from({ length: 60 }, (_, n) => n + 1);
  it.each([
    ['once when it begins and ends', [1, 1, 0, 0, 1], ['begins 60', 'ends 180', 'begins 300']],
    ['once if it stays the same', Array(100).fill(7), ['begins 60']],
    ['again each day on which it has grown', rising, ['begins 60', 'grows 1500', 'grows 2940']],
    ['again after it shrank', [6, ...Array(30).fill(2), 5, 5], ['begins 60', 'grows 1920']],
  ])('is told %s', (_, numbers, expected) => {
    expect(live(numbers.map((number) => step(number, 60))).notices).toEqual(expected);
  });

  it('keeps the time of its beginning, also if it returns before its end was told', () => {
    let condition = observe(undefined, { number: 1 }, 5);
    condition = condition && settle(condition, 6);
    condition = observe(condition, { number: 0 }, 7);
    expect(condition).toMatchObject({ owes: 'ends', since: 5 });
    condition = observe(condition, { number: 2 }, 8);
    expect(condition).toEqual({ since: 5, number: 2, told: { at: 6, number: 0 } });
  });

  it('keeps its details only until they are told', () => {
    const condition = observe(undefined, { number: 1, details: ['what'] }, 5);
    expect(observe(condition, { number: 2 }, 6)).toMatchObject({ details: ['what'], number: 2 });
    expect(condition && settle(condition, 6)).not.toHaveProperty('details');
  });

  describe('that has to be steady', () => {
    it.each<[isSeen: (at: number) => boolean, told: string[]]>([
      [(at) => at >= 5 && at < 30, ['begins 15', 'ends 40']],
      [(at) => at >= 5 && at < 12, []],
      [(at) => at < 41 && at % 4 > 0, ['begins 11', 'ends 50']],
      [(at) => at % 20 < 3, []],
      [(at) => at % 30 < 15, ['begins 10', 'ends 25', 'begins 40', 'ends 55']],
    ])(
      'begins after ten minutes, continues over short absences, and ends: %s',
      (isSeen, expected) => {
        const life = Array.from({ length: 61 }, (_, at) =>
          step(isSeen(at) ? 3 : 0, Number(at > 0)),
        );
        expect(live(life, 10 * minute).notices).toEqual(expected);
      },
    );

    it('does not count as lasting before it was told, and owes no notice while it is absent', () => {
      const seen = (before: OpenCondition | undefined, number: number, at: number) =>
        observe(before, { number, steadyMs: 10 * minute }, at * minute);
      const begun = seen(undefined, 3, 0);
      expect(begun).toEqual({ since: 0, number: 3 });
      expect(begun && isLasting(begun)).toBe(false);
      const owing = seen(begun, 3, 10);
      expect(owing?.owes).toBe('begins');
      const away = seen(owing, 0, 11);
      expect(away).toEqual({ since: 0, number: 3, goneAt: 11 * minute });
      expect(seen(away, 4, 12)).toEqual({ since: 0, number: 4, owes: 'begins', details: [] });
    });
  });

  it("counts a tick's notes of it", () => {
    const note = { id: 7, day: '2026-11-20', since: 0 };
    const missing = { notes: [note, { ...note, id: 8, isShownById: true as const }] };
    const absence = { missing, unexplained: 0, steadyMs: 5 };
    const facts = { ...nothingNoted(), absence, blocked: { name: 'secret-gone' } as const };
    const open = new Map([['secret-gone' as const, { since: 0, number: 1 }]]);
    const { 'shown-by-id': shown, 'secret-gone': gone } = conditionsOf(facts, open, 9);
    expect(shown).toEqual({ number: 1, details: ['assessment 8 of 2026-11-20'], steadyMs: 5 });
    expect(gone).toEqual({ number: 1 });
  });

  describe('that may end by itself', () => {
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

    it('is told once in a quarter of an hour, within it after two ticks, and removed after it', () =>
      forAll(life, (minutes) => {
        const after = Array<Minute>(16).fill('good');
        const { told } = outage([...minutes, 'bad', 'bad', ...after]);
        const first = told.filter(({ owes }) => owes !== 'ends');
        for (const [index, { at }] of first.entries())
          expect(at - (first[index - 1]?.at ?? 0)).toBeGreaterThanOrEqual(15);
        let isKnown = false;
        for (const { owes } of told) {
          expect(owes === 'ends').toBe(isKnown);
          isKnown = owes === 'begins';
        }
        expect(told.some(({ at }) => at >= minutes.length - 15)).toBe(true);
        expect(outage([...minutes, ...after]).open).toBeUndefined();
      }));
  });
});
