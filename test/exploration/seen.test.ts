import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Budget, kinds, nothing, Seen, type State } from './seen.ts';

const most: Budget = { moves: 2, faults: 1, deaths: 1, overlaps: 2, waits: 1 };

const budget: fc.Arbitrary<Budget> = fc.record({
  ...{ moves: fc.nat(2), faults: fc.nat(1), deaths: fc.nat(1) },
  ...{ overlaps: fc.nat(2), waits: fc.nat(1) },
});
const state: fc.Arbitrary<State> = fc.record({ key: fc.bigInt(1n, 5n), budget });

describe('the memory of states', () => {
  it('calls a state new unless it was met with at least the same budget of each kind', () => {
    fc.assert(
      fc.property(fc.array(state, { maxLength: 60 }), (met) => {
        const seen = new Seen(most, 20);
        for (const [nth, state] of met.entries()) {
          const covers = ({ key, budget: before }: State) =>
            key === state.key && kinds.every((kind) => before[kind] >= state.budget[kind]);
          expect(seen.isNew(state)).toBe(!met.slice(0, nth).some(covers));
        }
      }),
    );
  });

  it('is one memory for all users of its buffer', () => {
    const seen = new Seen(most, 20);
    const other = new Seen(most, seen.buffer);
    expect(seen.isNew({ key: 7n, budget: nothing })).toBe(true);
    expect(other.isNew({ key: 7n, budget: nothing })).toBe(false);
  });

  it('says so when it is full', () => {
    const seen = new Seen(nothing, 2);
    const fill = () => {
      for (let key = 1n; key < 10n; key++) seen.isNew({ key, budget: nothing });
    };
    expect(fill).toThrow(RangeError);
  });
});
