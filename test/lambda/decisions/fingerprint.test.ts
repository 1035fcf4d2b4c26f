import { describe, expect, it } from 'vitest';
import { changedFields, fingerprintOf } from '../../../lambda/decisions/fingerprint.ts';
import { anyAssessment, anyRecord, assessment } from '../../support/assessments.ts';
import { forAll } from '../../support/for-all.ts';

const salt = 'salt-of-the-tests';
const plainFields = [
  ...(['seid', 'name', 'first_name', 'last_name', 'email'] as const),
  ...(['organization_id', 'organization_name', 'assessment_name', 'certified_on'] as const),
];

const named = { name: 'Odalys Quillfeather', first_name: 'Odalys', last_name: 'Quillfeather' };

describe('the fingerprint of an assessment', () => {
  it('is the same for the same content in any order of its parts and names', () =>
    forAll(anyAssessment, (one) => {
      const turned = (part: object) => Object.fromEntries(Object.entries(part).reverse());
      const results = one.results.map(turned).reverse();
      const other = { ...one, ...turned(one), results };
      expect(fingerprintOf(other, salt)).toEqual(fingerprintOf(one, salt));
    }));

  it('names exactly the differing fields', () =>
    forAll(anyAssessment, anyAssessment, (before, drawn) => {
      const after = { ...drawn, id: before.id, results: before.results };
      const differing = plainFields.filter((field) => before[field] !== after[field]);
      const changed = changedFields(fingerprintOf(before, salt), fingerprintOf(after, salt));
      expect(changed).toEqual(differing);
    }));

  const { results: parts } = assessment();
  const partsWith = (more: object) => parts.map((part) => ({ ...part, ...more }));
  it.each([
    ['a changed proctor', partsWith({ proctor_name: 'Someone Else' })],
    ['an added part', [...parts, ...partsWith({ assessment_id: 99 })]],
    ['a removed part', []],
  ])('treats %s as changed results', (_, results) => {
    const after = fingerprintOf({ ...assessment(), results }, salt);
    expect(changedFields(fingerprintOf(assessment(), salt), after)).toEqual(['results']);
  });

  it('ignores fields that the API document does not name', () => {
    const before = assessment();
    const after = { ...before, last_seen_at: '2026-11-21T08:00:00Z' };
    expect(fingerprintOf(after, salt)).toEqual(fingerprintOf(before, salt));
  });

  it('ignores a field that an older fingerprint lacks', () => {
    const { whole, fields } = fingerprintOf(assessment(), salt);
    const { email: _, ...older } = fields;
    const after = { ...fingerprintOf(assessment(), 'another salt'), fields };
    expect(changedFields({ whole: `${whole}-old`, fields: older }, after)).toEqual([]);
  });

  it.each([
    ['another person of one name', 2, salt],
    ['one person with another salt', 1, 'other'],
  ])('has other hashes for %s', (_, id, salted) => {
    const hashOf = (id: number, salt: string) =>
      fingerprintOf(assessment({ id, ...named }), salt).fields.name;
    expect(hashOf(id, salted)).not.toBe(hashOf(1, salt));
  });

  it('of a complete record never changes, in any field', () => {
    const empty = { results: [], email: '', organization_id: 308 };
    const part = (n: number) => ({
      assessment_id: 51_876 + n,
      assessment_name: `Knots ${n}`,
      certified_on: '2026-11-18',
      proctor_id: 900 + n,
      proctor_name: `Proctor ${n}`,
    });
    const records = [
      assessment({ id: 1, ...named }),
      assessment({ id: 2, seid: null, results: [part(2), part(1)] }),
      { ...assessment({ id: 3, assessment_name: 'First Aid' }), ...empty },
    ];
    const hashes = records.map((record) => {
      const { whole, fields } = fingerprintOf(record, salt, 1);
      return [whole, ...Object.values(fields)].join(' ');
    });
    // These were recorded before records with nulls were announced, and before there were rules.
    expect(hashes).toEqual([
      'V_8jKovwBcGu2EdjtzAD 3FVumDRYF4BC ptr3Xjd-j24E qjNaBtPW4TMN vorVvl2j7PZw _N1JswwgVdHF BCUycOCXhysF 3F14kPHEY1ih M1tZQECsWNX4 ER3u7PGzaByd he4I-A-zALKA',
      'rvqAyYaez1byke8odvVx xvALm2n_H-_W rOaXM_Dro-NA KzNKHbVf7Dxy IFiO3yQcZKu- NoOrpfk-I1Ya Ckvx71bV3M5j rQu1HK62W7Mu 7ldroRB5uoOR rCEFGDjVyJFy HPNOPwptlc8R',
      'EkPEWzkjwEmeO8ee85fx O-vOB-gjm3at Dw2LxIvsQNpg fjAJl0OPcLZB zoWOvErI4DjB KA5cvyi9dPPK tiVQYRtF4P3P sZsR4qfF672z OfUSKUiGbpuW YmYOm60aXFBp 2nw3ZwaWuKeP',
    ]);
  });

  it('is the same whether a field of a record or a part is null or absent', () =>
    forAll(anyRecord, (record) => {
      const absent = JSON.stringify(record, (_, value) => value ?? undefined);
      expect(fingerprintOf(JSON.parse(absent), salt)).toEqual(fingerprintOf(record, salt));
    }));

  it.each([...plainFields.filter((field) => field !== 'certified_on'), 'results'] as const)(
    'differs if %s becomes null',
    (field) => {
      const changed = { ...assessment(), [field]: null };
      const of = [assessment(), changed].map((one) => fingerprintOf(one, salt));
      expect(of[0] && of[1] && changedFields(of[0], of[1])).toEqual([field]);
    },
  );
});
