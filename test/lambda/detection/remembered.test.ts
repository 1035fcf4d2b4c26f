import { describe, expect, it } from 'vitest';
import { remembered } from '../../../lambda/detection/remembered.ts';

function counting(limit: number) {
  const made: string[] = [];
  const value = remembered<string>(limit);
  const ask = (key: string) =>
    value(key, () => {
      made.push(key);
      return `value of ${key}`;
    });
  return { ask, made };
}

describe('remembered values', () => {
  it('are made once for each key', () => {
    const { ask, made } = counting(3);
    expect(['a', 'b', 'a', 'b', 'a'].map(ask)).toEqual(
      ['a', 'b', 'a', 'b', 'a'].map((key) => `value of ${key}`),
    );
    expect(made).toEqual(['a', 'b']);
  });

  it('are kept as long as they are among the latest that were asked for', () => {
    const { ask, made } = counting(3);
    for (const key of ['a', 'b', 'c', 'a', 'd', 'a']) ask(key);
    expect(made).toEqual(['a', 'b', 'c', 'd']);
    made.length = 0;
    for (const key of ['c', 'd', 'b', 'a']) ask(key);
    expect(made).toEqual(['b', 'a']);
  });
});
