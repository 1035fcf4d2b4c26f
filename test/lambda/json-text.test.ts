import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseExactly } from '../../lambda/json-text.ts';
import { forAll } from '../support/for-all.ts';

const number = fc.stringMatching(/^-?(0|[1-9]\d{0,22})(\.\d{1,9})?([eE][+-]?\d{1,3})?$/);

it('JSON is written in the digits in which it was read', () =>
  forAll(number, number, fc.string(), (one, other, text) => {
    const written = `{"":${one},${JSON.stringify(`_${text}`)}:["\\",]:1.0",${other},{"b":${one}}]}`;
    expect(JSON.stringify(parseExactly(written))).toBe(written);
    expect(parseExactly(`[ ${one} ,\n${other}]`)).toEqual(parseExactly(`[${one},${other}]`));
  }));

it('JSON that is deeper than the stack hides no digits beside it', () => {
  const [opening, closing] = ['{"a":['.repeat(5_000), ']}'.repeat(5_000)];
  const read = parseExactly(`{"deep":${opening}1.0${closing},"after":"]}","digits":1.0}`);
  expect(JSON.stringify(read)).toMatch(/null[\]}]+,"after":"\]}","digits":1\.0}$/);
});
