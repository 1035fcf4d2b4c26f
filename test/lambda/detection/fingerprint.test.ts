import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedFields, fingerprintOf } from '../../../lambda/detection/fingerprint.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
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
  it('is the same for the same content in any order of its parts', () => {
    fc.assert(
      fc.property(anyAssessment, (one) => {
        const other = { ...one, results: [...one.results].reverse() };
        expect(fingerprintOf(other, salt)).toEqual(fingerprintOf(one, salt));
      }),
    );
  });

  it('names exactly the differing fields', () => {
    fc.assert(
      fc.property(anyAssessment, anyAssessment, (before, drawn) => {
        const after = { ...drawn, id: before.id, results: before.results };
        const differing = plainFields.filter((field) => before[field] !== after[field]);
        const changed = changedFields(fingerprintOf(before, salt), fingerprintOf(after, salt));
        expect(changed).toEqual(differing);
      }),
    );
  });

  it('treats a changed proctor, an added part and a removed part as changed results', () => {
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

  it('ignores a field that an older fingerprint lacks', () => {
    const { whole, fields } = fingerprintOf(assessment(), salt);
    const { email: _, ...older } = fields;
    const after = fingerprintOf(assessment(), 'another salt');
    expect(changedFields({ whole: `${whole}-old`, fields: older }, { ...after, fields })).toEqual(
      [],
    );
  });

  it('gives two people of one name different hashes, and one person different hashes per salt', () => {
    const one = fingerprintOf(assessment({ id: 1, ...named }), salt);
    const namesake = assessment({ id: 2, ...named });
    expect(fingerprintOf(namesake, salt).fields.name).not.toBe(one.fields.name);
    const salted = fingerprintOf(assessment({ id: 1, ...named }), 'other');
    expect(salted.fields.name).not.toBe(one.fields.name);
  });

  it("equals the ledger's in every release", () => {
    const { whole, fields } = fingerprintOf(assessment({ id: 1, ...named }), salt);
    expect([whole, fields.name, fields.results]).toEqual([
      'V_8jKovwBcGu2EdjtzAD',
      'ptr3Xjd-j24E',
      'he4I-A-zALKA',
    ]);
  });

  it('of a complete record never changes, in any field', () => {
    const part = (n: number) => ({
      assessment_id: 51_876 + n,
      assessment_name: `Knots ${n}`,
      certified_on: '2026-11-18',
      proctor_id: 900 + n,
      proctor_name: `Proctor ${n}`,
    });
    // These were recorded before records with nulls were announced.
    expect(
      [
        assessment({ id: 1, ...named }),
        assessment({ id: 2, seid: null, results: [part(2), part(1)] }),
        assessment({
          ...{ id: 3, results: [], email: '', organization_id: 308 },
          assessment_name: 'First Aid',
        }),
      ].map((record) => {
        const { whole, fields } = fingerprintOf(record, salt);
        return [whole, ...Object.values(fields)].join(' ');
      }),
    ).toEqual([
      'V_8jKovwBcGu2EdjtzAD 3FVumDRYF4BC ptr3Xjd-j24E qjNaBtPW4TMN vorVvl2j7PZw _N1JswwgVdHF BCUycOCXhysF 3F14kPHEY1ih M1tZQECsWNX4 ER3u7PGzaByd he4I-A-zALKA',
      'rvqAyYaez1byke8odvVx xvALm2n_H-_W rOaXM_Dro-NA KzNKHbVf7Dxy IFiO3yQcZKu- NoOrpfk-I1Ya Ckvx71bV3M5j rQu1HK62W7Mu 7ldroRB5uoOR rCEFGDjVyJFy HPNOPwptlc8R',
      'EkPEWzkjwEmeO8ee85fx O-vOB-gjm3at Dw2LxIvsQNpg fjAJl0OPcLZB zoWOvErI4DjB KA5cvyi9dPPK tiVQYRtF4P3P sZsR4qfF672z OfUSKUiGbpuW YmYOm60aXFBp 2nw3ZwaWuKeP',
    ]);
  });

  it.each([...plainFields.filter((field) => field !== 'certified_on'), 'results'] as const)(
    'is the same whether %s is null or absent, and different with a value',
    (field) => {
      const whole = assessment();
      const { [field]: _, ...absent } = whole;
      const withNull = fingerprintOf({ ...whole, [field]: null }, salt);
      const without: Assessment = { organization_id: null, assessment_name: null, ...absent };
      expect(fingerprintOf(without, salt)).toEqual(withNull);
      expect(changedFields(fingerprintOf(whole, salt), withNull)).toEqual([field]);
    },
  );

  it('is the same whether a field of a part is null or absent', () => {
    const whole = assessment();
    for (const field of [
      'assessment_name',
      'certified_on',
      'proctor_id',
      'proctor_name',
    ] as const) {
      const [part] = whole.results;
      if (part === undefined) throw new Error('the fixture has one part');
      const { [field]: _, ...absent } = part;
      const withNull = fingerprintOf({ ...whole, results: [{ ...part, [field]: null }] }, salt);
      expect(fingerprintOf({ ...whole, results: [absent] }, salt)).toEqual(withNull);
      expect(changedFields(fingerprintOf(whole, salt), withNull)).toEqual(['results']);
    }
  });

  it('is the same when computed again, and differs by salt', () => {
    fc.assert(
      fc.property(anyAssessment, (one) => {
        const first = fingerprintOf(one, salt);
        expect(fingerprintOf(one, 'another')).not.toEqual(first);
        expect(fingerprintOf(one, salt)).toEqual(first);
        expect(fingerprintOf(structuredClone(one), salt)).toEqual(first);
      }),
    );
  });
});
