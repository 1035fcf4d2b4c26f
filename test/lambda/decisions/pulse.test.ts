import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../lambda/decisions/fingerprint.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';
import { forAll } from '../../support/for-all.ts';

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

const oldestOf = (all: readonly Assessment[]) =>
  all.map(({ certified_on }) => certified_on).sort()[0] ?? '';

const digested = (assessments: readonly Assessment[], count: number, key = salt) =>
  digestOf({ assessments, count }, key);

describe('the digest of a pulse', () => {
  it('does not depend on the order of rows, but on the total and the key', () =>
    forAll(anyPulse, ({ assessments, beyond }) => {
      const count = assessments.length + beyond;
      const digest = digested(assessments, count);
      expect(digested(assessments.toReversed(), count)).toBe(digest);
      expect(digested(assessments, count, 'other')).not.toBe(digest);
      // More than the page: the total alone says so.
      expect(digested(assessments, count + 2)).not.toBe(digested(assessments, count + 1));
    }));

  it('does not depend on the rows shown of the day that its end cuts off', () =>
    forAll(anyPulse, fc.integer({ min: 1, max: 5 }), ({ assessments }, beyond) => {
      const certified_on = oldestOf(assessments);
      const others = assessments.map((one, index) =>
        one.certified_on === certified_on
          ? assessment({ id: 2_000_000_000 + index, certified_on })
          : one,
      );
      const count = assessments.length + beyond;
      expect(digested(others, count)).toBe(digested(assessments, count));
    }));

  it('changes with every other row that changes, appears or disappears', () =>
    forAll(anyPulse, fc.nat(), ({ assessments, beyond }, at) => {
      const oldest = beyond === 0 ? '' : oldestOf(assessments);
      const whole = assessments.filter(({ certified_on }) => certified_on !== oldest);
      const chosen = whole[at % Math.max(1, whole.length)];
      if (chosen === undefined) return;
      const count = assessments.length + beyond;
      const before = digested(assessments, count);
      const edited = assessments.map((one) =>
        one === chosen ? { ...one, email: `${one.email}.example.org` } : one,
      );
      expect(digested(edited, count)).not.toBe(before);
      const gone = assessments.filter((one) => one !== chosen);
      // Another row, beyond the page or on its last day, appeared in the same moment.
      if (beyond > 0 && gone.length > 0) expect(digested(gone, count)).not.toBe(before);
      const more = [...assessments, { ...chosen, id: 2_000_000_000 }];
      expect(digested(more, count + 1)).not.toBe(before);
    }));
});
