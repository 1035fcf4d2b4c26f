import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldName, tieMarks } from '../../../lambda/detection/names-tied.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';

function named(first_name: string, last_name: string, name = `${first_name} ${last_name}`) {
  return assessment({ name, first_name, last_name });
}

function share(a: readonly string[], b: readonly string[]): boolean {
  return a.some((mark) => b.includes(mark));
}

/** The marks of a record that has all its names. */
function marksOf(...given: Parameters<typeof tieMarks>): readonly string[] {
  const marks = tieMarks(...given);
  if (marks === undefined) throw new Error('it may be tied with every record');
  return marks;
}

function tied(
  a: Assessment,
  b: Assessment,
  ...rest: [key: 'user_name', ties?: Parameters<typeof tieMarks>[2]]
) {
  return share(marksOf(a, ...rest), marksOf(b, ...rest));
}

describe('foldName', () => {
  it.each([
    ['Zoë', 'ZOE'],
    ["O'Brien", 'OBrien'],
    ['Mary-Ann', 'mary ann'],
    ['Straße', 'STRASSE'],
    ['Søren', 'Soren'],
    ['Łukasz', 'lukasz'],
    ['Æsa', 'aesa'],
    ['Ａｎａ', 'ana'],
    ['İpek', 'ipek'],
    ['ΟΔΟΣ', 'οδος'],
  ])('treats %s and %s as equal', (a, b) => {
    expect(foldName(a)).toBe(foldName(b));
  });

  it('keeps different names apart, in any script', () => {
    const names = ['Ana', 'Anna', '李', '王', 'Ольга', 'Олег', 'J2'];
    expect(new Set(names.map(foldName)).size).toBe(names.length);
  });

  it('treats the small and the capital sharp s as equal', () => {
    expect(foldName('GROẞ')).toBe(foldName('groß'));
  });

  it('treats all forms of sigma as equal', () => {
    expect(foldName('Α Σ')).toBe(foldName('ΑΣ'));
  });

  it('does not change folded text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        expect(foldName(foldName(name))).toBe(foldName(name));
      }),
    );
  });
});

describe('tieMarks', () => {
  it('ties people who share the full, the first or the last name', () => {
    expect(tied(named('Ada', 'Quill'), named('ADA', 'Moss'), 'user_name')).toBe(true);
    expect(tied(named('Ada', 'Quill'), named('Ivo', 'Quíll'), 'user_name')).toBe(true);
    expect(tied(named('Ada', 'Quill', 'A.Q.'), named('Ivo', 'Moss', 'aq'), 'user_name')).toBe(true);
    expect(tied(named('Ada', 'Quill'), named('Ivo', 'Moss'), 'user_name')).toBe(false);
  });

  it('does not tie people by a name that the host is known not to compare alone', () => {
    const ties = { first_name: false, last_name: true };
    expect(tied(named('Ada', 'Quill'), named('Ada', 'Moss'), 'user_name', ties)).toBe(false);
    expect(tied(named('Ada', 'Quill'), named('Ivo', 'Quill'), 'user_name', ties)).toBe(true);
    const neither = { first_name: false, last_name: false };
    expect(tied(named('Ada', 'Quill'), named('Ivo', 'Quill'), 'user_name', neither)).toBe(false);
    expect(tied(named('Ada', 'Quill'), named('ada', 'quill', 'x'), 'user_name', neither)).toBe(
      true,
    );
  });

  it('ties records that share a proctor, by name or by id, among all parts', () => {
    const [part] = assessment().results;
    if (part === undefined) throw new Error('an assessment has parts');
    const by = (...proctors: [number, string][]) =>
      marksOf(
        assessment({
          results: proctors.map(([proctor_id, proctor_name]) => ({
            ...part,
            proctor_id,
            proctor_name,
          })),
        }),
        'proctor_name',
      );
    expect(share(by([1, 'Ann'], [2, 'Bo']), by([3, 'Cy'], [4, 'bo']))).toBe(true);
    expect(share(by([1, 'Ann']), by([1, 'Anne']))).toBe(true);
    expect(share(by([1, 'Ann']), by([2, 'Bo']))).toBe(false);
    expect(share(by(), by())).toBe(true);
  });

  it.each([null, undefined])('ties a record with every other where a name is %s', (none) => {
    const whole = assessment();
    const [part] = whole.results;
    for (const name of ['name', 'first_name', 'last_name'] as const) {
      const record = { ...whole, [name]: none };
      expect(tieMarks(record, 'user_name')).toBeUndefined();
      expect(tieMarks(record, 'product_name')).toEqual(tieMarks(whole, 'product_name'));
      expect(tieMarks(record, 'proctor_name')).toEqual(tieMarks(whole, 'proctor_name'));
    }
    expect(tieMarks({ ...whole, assessment_name: null }, 'product_name')).toBeUndefined();
    for (const results of [
      none,
      [{ ...part, proctor_name: none }],
      [{ ...part }, { ...part, proctor_id: none }],
      [{}],
    ])
      expect(tieMarks({ ...whole, results }, 'proctor_name')).toBeUndefined();
  });

  it('ties every record with itself, by every key', () => {
    fc.assert(
      fc.property(
        anyAssessment,
        fc.constantFrom('user_name', 'product_name', 'proctor_name'),
        (record, key) => {
          expect(marksOf(record, key).length).toBeGreaterThan(0);
          expect(tieMarks(record, key)).toEqual(tieMarks(structuredClone(record), key));
        },
      ),
    );
  });
});
