import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf, type Pulse } from '../../../lambda/detection/fingerprint.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';

const salt = 'salt';
const days = ['2026-11-18', '2026-11-19', '2026-11-20'];

/** The newest page of three days at most. It may not show all of their rows. */
const anyPulse = fc.record({
  assessments: fc
    .uniqueArray(anyAssessment, { selector: ({ id }) => id, minLength: 1, maxLength: 12 })
    .chain((all) =>
      fc
        .tuple(...all.map(() => fc.constantFrom(...days)))
        .map((of) => all.map((one, index) => ({ ...one, certified_on: of[index] ?? '' }))),
    ),
  beyond: fc.nat({ max: 3 }),
});

const pulseOf = (assessments: readonly Assessment[], beyond: number): Pulse => ({
  assessments,
  count: assessments.length + beyond,
});

const oldestOf = (all: readonly Assessment[]) =>
  all.map(({ certified_on }) => certified_on).sort()[0] ?? '';

describe('the digest of a pulse', () => {
  it('does not depend on the order of the rows', () => {
    const shuffled = anyPulse.chain((pulse) =>
      fc.record({
        pulse: fc.constant(pulse),
        other: fc.shuffledSubarray(pulse.assessments, { minLength: pulse.assessments.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ pulse: { assessments, beyond }, other }) => {
        const digest = digestOf(pulseOf(assessments, beyond), salt);
        expect(digestOf(pulseOf(other, beyond), salt)).toBe(digest);
      }),
    );
  });

  it('does not depend on the rows shown of the day that its end cuts off', () => {
    fc.assert(
      fc.property(anyPulse, fc.integer({ min: 1, max: 5 }), ({ assessments }, beyond) => {
        const oldest = oldestOf(assessments);
        const others = assessments.map((one, index) =>
          one.certified_on === oldest
            ? assessment({ id: 2_000_000_000 + index, certified_on: oldest })
            : one,
        );
        expect(digestOf(pulseOf(others, beyond), salt)).toBe(
          digestOf(pulseOf(assessments, beyond), salt),
        );
      }),
    );
  });

  it('changes with every other row that changes, appears or disappears', () => {
    fc.assert(
      fc.property(anyPulse, fc.nat(), ({ assessments, beyond }, at) => {
        const oldest = oldestOf(assessments);
        const whole = assessments.filter(
          ({ certified_on }) => beyond === 0 || certified_on !== oldest,
        );
        const chosen = whole[at % Math.max(1, whole.length)];
        if (chosen === undefined) return;
        const before = digestOf(pulseOf(assessments, beyond), salt);
        const edited = assessments.map((one) =>
          one === chosen ? { ...one, email: `${one.email}.example.org` } : one,
        );
        expect(digestOf(pulseOf(edited, beyond), salt)).not.toBe(before);
        const gone = assessments.filter((one) => one !== chosen);
        const count = assessments.length + beyond;
        // Another row, beyond the page or on its last day, appeared in the same moment.
        if (beyond > 0 && gone.length > 0)
          expect(digestOf({ assessments: gone, count }, salt)).not.toBe(before);
        const more = [...assessments, { ...chosen, id: 2_000_000_000 }];
        expect(digestOf({ assessments: more, count: more.length + beyond }, salt)).not.toBe(before);
      }),
    );
  });

  it('changes with the total', () => {
    fc.assert(
      fc.property(anyPulse, ({ assessments, beyond }) => {
        expect(digestOf(pulseOf(assessments, beyond + 2), salt)).not.toBe(
          digestOf(pulseOf(assessments, beyond + 1), salt),
        );
      }),
    );
  });

  it('is keyed', () => {
    expect(digestOf({ assessments: [assessment()] }, 'one')).not.toBe(
      digestOf({ assessments: [assessment()] }, 'other'),
    );
  });
});
