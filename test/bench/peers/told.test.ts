import { describe, expect, it } from 'vitest';
import { learned } from '../../../bench/peers/told.ts';

const row = (id: number, digest = 'a') => ({ id, digest });
const told = (heard: ReturnType<typeof learned>) =>
  heard.map(({ type, subject }) => `${subject} ${type.replace('certification.', '')}`);

describe('what a consumer of a peer learns', () => {
  it('tells new and changed rows, and rows told before not again', () => {
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

  it('takes rows for gone only where the sync has read all there is', () => {
    const known = new Map([
      [1, 'a'],
      [2, 'a'],
    ]);
    expect(learned(known, [row(1)], false)).toEqual([]);
    expect(told(learned(known, [row(1)], true))).toEqual(['2 withdrawn']);
    expect([...known.keys()]).toEqual([1]);
  });

  it('gives what it tells again the id that it had', () => {
    const [first] = learned(new Map(), [row(1)], false);
    const [again] = learned(new Map(), [row(1)], false);
    expect(again?.id).toBe(first?.id);
  });
});
