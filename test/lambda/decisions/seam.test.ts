import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tieMarks } from '../../../lambda/decisions/names-tied.ts';
import {
  anchorsOf,
  holdsAnchor,
  lastBelow,
  nextOffset,
  type SeamRow,
} from '../../../lambda/decisions/seam.ts';
import { assessment } from '../../support/assessments.ts';
import { forAll } from '../../support/for-all.ts';

function row(id: number, ...marks: string[]): SeamRow {
  return { id, sortedBy: marks.join(), marks };
}

const name = fc.constantFrom('Ana', 'ANA', 'Bo', 'Célia', 'Celia', 'Dov', "D'ov", 'Ilse');
/** Some rows lack a name by which the host may still sort them. */
const person = fc.record({ first: name, last: name, isNameless: fc.constantFrom(false, true) });

/** The keys that a host may compare, and how. */
const hostKeys = fc.constantFrom<(first: string, last: string) => string>(
  (first, last) => `${first} ${last}`,
  (_, last) => last,
  (first) => first,
  (first, last) => `${last}, ${first}`,
);
const collations = fc.constantFrom(
  new Intl.Collator('en', { sensitivity: 'base', ignorePunctuation: true }).compare,
  new Intl.Collator('en').compare,
  (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0),
);

describe('lastBelow', () => {
  it('is strictly below the last row, by any key and collation of the host', () =>
    forAll(fc.array(person, { maxLength: 30 }), hostKeys, collations, (people, keyOf, compare) => {
      const keyed = people.map((one) => ({ ...one, key: keyOf(one.first, one.last) }));
      keyed.sort((a, b) => compare(a.key, b.key));
      const rows = keyed.map(({ first, last, isNameless }, id): SeamRow | undefined => {
        const name = `${first} ${last}`;
        const names = { name, first_name: first, last_name: isNameless ? null : last };
        const marks = tieMarks({ ...assessment(), ...names }, 'user_name');
        return marks && { id, sortedBy: name, marks };
      });
      const [below, end] = [keyed[lastBelow(rows)], keyed.at(-1)];
      if (below && end) expect(compare(below.key, end.key)).toBeLessThan(0);
    }));

  const [a, b, c, tied] = [row(1, 'a'), row(2, 'b'), row(3, 'c'), row(4, 'c')];
  const oneBlock = [row(1, 'a', 'b'), row(2, 'b', 'c'), row(3, 'a', 'c')];
  it.each([
    ['is the row before the last block of possible ties', [a, b, c, tied], 1],
    ['may share a mark if a row without that mark follows it', [tied, b, c], 1],
    ['does not exist in an empty page', [], -1],
    ['does not exist in a page of one row', [a], -1],
    ['does not exist in a page that may be one block', oneBlock, -1],
    ['does not exist in a page with one readable row', [a, undefined], -1],
    ['does not exist after unreadable rows', [undefined, a], -1],
    ['ignores unreadable rows', [a, undefined, b, undefined], 0],
  ])('%s', (_, rows, expected) => {
    expect(lastBelow(rows)).toBe(expected);
  });
});

describe('a seam', () => {
  const anchors = new Map(
    anchorsOf([row(1, 'a'), undefined, row(2, 'b'), row(3, 'c'), row(4, 'c')]).map((anchor) => [
      anchor.id,
      anchor.sortedBy,
    ]),
  );

  it('is made from the rows below, and from no others', () => {
    expect([...anchors.keys()]).toEqual([1, 2]);
  });

  it.each([
    ['holds if an anchor is anywhere on the page', [row(9, 'aa'), undefined, row(2, 'b')], true],
    ['does not hold by rows that may be tied with the end', [row(3, 'c'), row(4, 'c')], false],
    ['does not hold by a changed name, nor by an unreadable row', [row(2, 'x'), undefined], false],
  ])('%s', (_, rows, expected) => {
    expect(holdsAnchor(rows, anchors)).toBe(expected);
  });
});

describe('nextOffset', () => {
  it('begins at the last row below, minus the slack', () => {
    const rows = [row(1, 'a'), row(2, 'b'), row(3, 'c'), row(4, 'd'), row(5, 'd')];
    expect(nextOffset(200, rows, 0)).toBe(202);
    expect(nextOffset(200, rows, 1)).toBe(201);
  });

  it('stays at the same offset if it would make no progress', () => {
    expect(nextOffset(200, [row(1, 'a'), row(2, 'b'), row(3, 'b')], 2)).toBe(200);
    expect(nextOffset(200, [row(1, 'a'), row(2, 'a')], 0)).toBe(200);
  });
});
