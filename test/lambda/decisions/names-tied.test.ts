import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldName, tieMarks } from '../../../lambda/decisions/names-tied.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';
import { forAll } from '../../support/for-all.ts';

function named(first_name: string, last_name: string, name = `${first_name} ${last_name}`) {
  return assessment({ name, first_name, last_name });
}

/** The marks of a record that has all its names. */
function marksOf(...given: Parameters<typeof tieMarks>): readonly string[] {
  const marks = tieMarks(...given);
  if (marks === undefined) throw new Error('it may be tied with every record');
  return marks;
}

const share = (a: readonly string[], b: readonly string[]) => a.some((mark) => b.includes(mark));

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
    ['GROẞ', 'groß'],
    ['Α Σ', 'ΑΣ'],
  ])('treats %s and %s as equal', (a, b) => {
    expect(foldName(a)).toBe(foldName(b));
  });

  it('keeps different names apart, in any script', () => {
    const names = ['Ana', 'Anna', '李', '王', 'Ольга', 'Олег', 'J2'];
    expect(new Set(names.map(foldName)).size).toBe(names.length);
  });
});

describe('tieMarks', () => {
  const none = { first_name: false, last_name: false };
  const last = { first_name: false, last_name: true };
  it.each([
    ['by the first name', ['Ada', 'Quill'], ['ADA', 'Moss'], undefined, true],
    ['by the last name', ['Ada', 'Quill'], ['Ivo', 'Quíll'], undefined, true],
    ['by the full name', ['Ada', 'Quill', 'A.Q.'], ['Ivo', 'Moss', 'aq'], undefined, true],
    ['by no name', ['Ada', 'Quill'], ['Ivo', 'Moss'], undefined, false],
    ['not by a name that is not compared alone', ['Ada', 'Quill'], ['Ada', 'Moss'], last, false],
    ['by the one that is', ['Ada', 'Quill'], ['Ivo', 'Quill'], last, true],
    ['by neither', ['Ada', 'Quill'], ['Ivo', 'Quill'], none, false],
    ['by both', ['Ada', 'Quill'], ['ada', 'quill', 'x'], none, true],
  ] as const)('ties people %s', (_, one, other, ties, expected) => {
    const marks = ([first, last, name]: readonly [string, string, string?]) =>
      marksOf(named(first, last, name), 'user_name', ties);
    expect(share(marks(one), marks(other))).toBe(expected);
  });

  it('ties records that share a proctor, by name or by id, among all parts', () => {
    const by = (...proctors: [number, string][]) => {
      const results = proctors.map(([proctor_id, proctor_name]) => ({ proctor_id, proctor_name }));
      return marksOf({ ...assessment(), results }, 'proctor_name');
    };
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

  it('ties every record with itself, by every key', () =>
    forAll(
      anyAssessment,
      fc.constantFrom('user_name', 'product_name', 'proctor_name'),
      (record, key) => {
        expect(marksOf(record, key).length).toBeGreaterThan(0);
        expect(tieMarks(record, key)).toEqual(tieMarks(structuredClone(record), key));
      },
    ));
});
