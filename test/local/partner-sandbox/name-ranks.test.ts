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

function expectOrder(ranks: NameRanks, rows: readonly string[]): void {
  for (let left = 0; left < rows.length; left++) {
    for (let right = 0; right < left; right++) {
      expect(Math.sign(ranks.rank(left) - ranks.rank(right))).toBe(
        Math.sign(compare(rows[left] ?? '', rows[right] ?? '')),
      );
    }
  }
}

describe('ranks', () => {
  it('compare as the names do, whatever rows come later or get another name', () => {
    const name = fc.oneof(
      fc.constantFrom('Öl', 'O\u0308l', 'öl', 'Ol', '', "O'l", '例'),
      fc.string({ maxLength: 3 }),
    );
    const step = fc.record({ at: fc.nat(), name });
    fc.assert(
      fc.property(fc.array(name, { maxLength: 5 }), fc.array(step), (rows, steps) => {
        const ranks = ranked(rows);
        for (const { at, name } of steps) {
          if (at % 3 === 0 || rows.length === 0) rows.push(name);
          else {
            rows[at % rows.length] = name;
            ranks.forget(at % rows.length);
          }
          ranks.rank(rows.length - 1);
        }
        expectOrder(ranks, rows);
      }),
    );
  });

  it('still have room after many names that fall between the same two', () => {
    const rows = ['a', 'b'];
    const ranks = ranked(rows);
    expectOrder(ranks, rows);
    for (let length = 1; length <= 120; length++) {
      rows.push(`a${'a'.repeat(120 - length)}`);
      ranks.rank(rows.length - 1);
    }
    expectOrder(ranks, rows);
  });
});
