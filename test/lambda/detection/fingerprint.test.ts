import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  changedFields,
  fingerprintOf,
  freshFingerprintOf,
} from '../../../lambda/detection/fingerprint.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';

const salt = 'salt-of-the-tests';
const plainFields = [
  'seid',
  'name',
  'first_name',
  'last_name',
  'email',
  'organization_id',
  'organization_name',
  'assessment_name',
  'certified_on',
] as const;

const named = { name: 'Odalys Quillfeather', first_name: 'Odalys', last_name: 'Quillfeather' };

describe('the fingerprint of an assessment', () => {
  it('is the same for the same content, whatever the order of its parts', () => {
    fc.assert(
      fc.property(anyAssessment, (one) => {
        const other = { ...one, results: [...one.results].reverse() };
        expect(fingerprintOf(other, salt)).toEqual(fingerprintOf(one, salt));
      }),
    );
  });

  it('names exactly the fields that differ', () => {
    fc.assert(
      fc.property(anyAssessment, anyAssessment, (before, drawn) => {
        const after = { ...drawn, id: before.id, results: before.results };
        const differing = plainFields.filter((field) => before[field] !== after[field]);
        const changed = changedFields(fingerprintOf(before, salt), fingerprintOf(after, salt));
        expect(changed).toEqual(differing);
      }),
    );
  });

  it('sees a changed proctor, an added part and a removed part as a change of results', () => {
    const before = assessment();
    const [part] = before.results;
    if (part === undefined) throw new Error('the fixture has one part');
    const others = [
      [{ ...part, proctor_name: 'Someone Else' }],
      [part, { ...part, assessment_id: 99 }],
      [],
    ];
    for (const results of others)
      expect(
        changedFields(fingerprintOf(before, salt), fingerprintOf({ ...before, results }, salt)),
      ).toEqual(['results']);
  });

  it('ignores fields that the API document does not name', () => {
    const before = assessment();
    const after = { ...before, last_seen_at: '2026-11-21T08:00:00Z' };
    expect(fingerprintOf(after, salt)).toEqual(fingerprintOf(before, salt));
  });

  it('does not hold a field that an older fingerprint lacks against the record', () => {
    const { whole, fields } = fingerprintOf(assessment(), salt);
    const { email: _, ...older } = fields;
    const after = fingerprintOf(assessment(), 'another salt');
    expect(changedFields({ whole: `${whole}-old`, fields: older }, { ...after, fields })).toEqual(
      [],
    );
  });

  it('gives two people with one name different hashes, and the same person different ones per salt', () => {
    const one = fingerprintOf(assessment({ id: 1, ...named }), salt);
    const namesake = assessment({ id: 2, ...named });
    expect(fingerprintOf(namesake, salt).fields.name).not.toBe(one.fields.name);
    const salted = fingerprintOf(assessment({ id: 1, ...named }), 'other');
    expect(salted.fields.name).not.toBe(one.fields.name);
  });

  it('is the one that the ledger has, release after release', () => {
    const { whole, fields } = fingerprintOf(assessment({ id: 1, ...named }), salt);
    expect([whole, fields.name, fields.results]).toEqual([
      'V_8jKovwBcGu2EdjtzAD',
      'ptr3Xjd-j24E',
      'he4I-A-zALKA',
    ]);
  });

  it('is remembered as it would be computed anew, also after thousands of other records', () => {
    fc.assert(
      fc.property(anyAssessment, (one) => {
        expect(fingerprintOf(one, salt)).toEqual(freshFingerprintOf(one, salt));
        expect(fingerprintOf(structuredClone(one), salt)).toEqual(freshFingerprintOf(one, salt));
      }),
    );
    const many = Array.from({ length: 5_000 }, (_, n) => assessment({ id: 1 + n }));
    const wholes = new Set(many.map((one) => fingerprintOf(one, salt).whole));
    expect(wholes.size).toBe(many.length);
    const first = assessment({ id: 1 });
    expect(fingerprintOf(first, salt)).toEqual(freshFingerprintOf(first, salt));
  });

  it('cannot be changed by whoever was given it: the next one is given the same', () => {
    const given = fingerprintOf(assessment(), salt);
    expect(() => Object.assign(given, { whole: 'another' })).toThrow(TypeError);
    expect(() => Object.assign(given.fields, { name: 'another' })).toThrow(TypeError);
    expect(fingerprintOf(assessment(), salt)).toBe(given);
    expect(given).toEqual(freshFingerprintOf(assessment(), salt));
  });
});
