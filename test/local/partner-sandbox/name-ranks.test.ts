import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameRanks } from '../../../local/partner-sandbox/name-ranks.ts';

const { compare } = new Intl.Collator('en');

function ranked(rows: string[]): NameRanks {
  return new NameRanks({
    get size() {
      return rows.length;
    },
    at: (row) => rows[row] ?? '',
  });
}

/** The pairs of names that the ranks order differently from the collation. */
function disordered(ranks: NameRanks, rows: readonly string[]): string[][] {
  return rows.flatMap((left, row) =>
    rows
      .filter(
        (right, other) =>
          Math.sign(ranks.rank(row) - ranks.rank(other)) !== Math.sign(compare(left, right)),
      )
      .map((right) => [left, right]),
  );
}

describe('ranks', () => {
  it('compare as the names do, for any later rows and changed names', () => {
    const name = fc.oneof(
      fc.constantFrom('Öl', 'O\u0308l', 'öl', 'Ol', '', "O'l", '例'),
      fc.string({ maxLength: 3 }),
    );
    const step = fc.record({ at: fc.nat(), name });
    fc.assert(
      fc.property(
        fc.array(name, { maxLength: 5 }),
        fc.array(step, { maxLength: 12 }),
        (first, steps) => {
          const rows = [...first];
          const ranks = ranked(rows);
          for (const { at, name } of steps) {
            if (at % 3 === 0 || rows.length === 0) rows.push(name);
            else {
              rows[at % rows.length] = name;
              ranks.forget(at % rows.length);
            }
            ranks.rank(rows.length - 1);
          }
          expect(disordered(ranks, rows)).toEqual([]);
        },
      ),
    );
  });

  it('still have room after many names that fall between the same two', () => {
    const rows = ['a', 'b'];
    const ranks = ranked(rows);
    expect(disordered(ranks, rows)).toEqual([]);
    for (let length = 1; length <= 120; length++) {
      rows.push(`a${'a'.repeat(length)}`);
      ranks.rank(rows.length - 1);
    }
    expect(disordered(ranks, rows)).toEqual([]);
  });
});
