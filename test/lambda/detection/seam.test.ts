import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tieMarks } from '../../../lambda/detection/names-tied.ts';
import {
  anchorsOf,
  holdsAnchor,
  lastBelow,
  nextOffset,
  type SeamRow,
} from '../../../lambda/detection/seam.ts';
import { assessment } from '../../support/assessments.ts';

function row(id: number, ...marks: string[]): SeamRow {
  return { id, sortedBy: marks.join(), marks };
}

const name = fc.constantFrom('Ana', 'ANA', 'Bo', 'Célia', 'Celia', 'Dov', "D'ov", 'Ilse');
/** Some rows lack a name by which the host may still sort them. */
const person = fc.record({
  first: name,
  last: name,
  isNameless: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
});

/** The keys that a host may compare. */
const hostKeys = [
  ({ first, last }) => `${first} ${last}`,
  ({ last }) => last,
  ({ first }) => first,
  ({ first, last }) => `${last}, ${first}`,
] satisfies ((person: { first: string; last: string }) => string)[];

const collations = [
  new Intl.Collator('en', { sensitivity: 'base', ignorePunctuation: true }).compare,
  new Intl.Collator('en').compare,
  (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0),
];

describe('lastBelow', () => {
  it('is strictly below the last row, by any key and collation of the host', () => {
    fc.assert(
      fc.property(
        fc.array(person, { minLength: 1, maxLength: 30 }),
        fc.constantFrom(...hostKeys),
        fc.constantFrom(...collations),
        (people, keyOf, compare) => {
          const sorted = people.toSorted((a, b) => compare(keyOf(a), keyOf(b)));
          const rows = sorted.map(({ first, last, isNameless }, id): SeamRow | undefined => {
            const named = { name: `${first} ${last}`, first_name: first, last_name: last };
            const nameless = { ...named, last_name: null };
            const record = { ...assessment(), ...(isNameless ? nameless : named) };
            const marks = tieMarks(record, 'user_name');
            return marks && { id, sortedBy: `${first} ${last}`, marks };
          });
          const [below, end] = [sorted[lastBelow(rows)], sorted.at(-1)];
          if (below && end) expect(compare(keyOf(below), keyOf(end))).toBeLessThan(0);
        },
      ),
    );
  });

  it('is the row before the last block of possible ties', () => {
    expect(lastBelow([row(1, 'a'), row(2, 'b'), row(3, 'c'), row(4, 'c')])).toBe(1);
  });

  it('may share a mark with the last row if a row without that mark follows it', () => {
    expect(lastBelow([row(1, 'c'), row(2, 'b'), row(3, 'c')])).toBe(1);
  });

  it('does not exist in a page that may be one block, nor in an unreadable one', () => {
    expect(lastBelow([])).toBe(-1);
    expect(lastBelow([row(1, 'a')])).toBe(-1);
    expect(lastBelow([row(1, 'a', 'b'), row(2, 'b', 'c'), row(3, 'a', 'c')])).toBe(-1);
    expect(lastBelow([row(1, 'a'), undefined])).toBe(-1);
    expect(lastBelow([undefined, row(1, 'a')])).toBe(-1);
  });

  it('ignores unreadable rows', () => {
    expect(lastBelow([row(1, 'a'), undefined, row(2, 'b'), undefined])).toBe(0);
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

  it('holds if an anchor is anywhere on the page', () => {
    expect(holdsAnchor([row(9, 'aa'), undefined, row(2, 'b')], anchors)).toBe(true);
  });

  it('does not hold by a row that may be tied with the end of the page before', () => {
    expect(holdsAnchor([row(3, 'c'), row(4, 'c'), row(5, 'd')], anchors)).toBe(false);
  });

  it('does not hold by an anchor with a changed name, nor by an unreadable row', () => {
    expect(holdsAnchor([row(2, 'x'), undefined], anchors)).toBe(false);
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
