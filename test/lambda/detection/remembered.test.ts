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

  it('outlive as many others as the limit, and no more than twice as many', () => {
    const { ask, made } = counting(3);
    for (const key of ['a', 'b', 'c', 'd', 'a']) ask(key);
    expect(made).toEqual(['a', 'b', 'c', 'd']);
    for (const key of ['e', 'f', 'g', 'h', 'i', 'j']) ask(key);
    made.length = 0;
    ask('a');
    expect(made).toEqual(['a']);
  });
});
