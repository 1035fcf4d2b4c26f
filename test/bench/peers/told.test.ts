import { describe, expect, it } from 'vitest';
import { learned } from '../../../bench/peers/told.ts';

const row = (id: number, digest = 'a') => ({ id, digest });
const told = (heard: ReturnType<typeof learned>) =>
  heard.map(({ type, subject }) => `${subject} ${type.replace('certification.', '')}`);

describe("the changes that a peer's consumer learns", () => {
  it('include new and changed rows, and repeat none', () => {
    const known = new Map([
      [1, 'a'],
      [2, 'a'],
    ]);
    expect(told(learned(known, [row(1), row(2, 'b'), row(3)], false))).toEqual([
      '2 updated',
      '3 created',
    ]);
    expect(learned(known, [row(1), row(2, 'b'), row(3)], false)).toEqual([]);
  });

  it('include removed rows only if the sync has read all rows', () => {
    const known = new Map([
      [1, 'a'],
      [2, 'a'],
    ]);
    expect(learned(known, [row(1)], false)).toEqual([]);
    expect(told(learned(known, [row(1)], true))).toEqual(['2 withdrawn']);
    expect([...known.keys()]).toEqual([1]);
  });

  it('keep their id when they are repeated', () => {
    const [first] = learned(new Map(), [row(1)], false);
    const [again] = learned(new Map(), [row(1)], false);
    expect(again?.id).toBe(first?.id);
  });
});
