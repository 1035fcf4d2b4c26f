import { expect, it } from 'vitest';
import { fitting } from '../../../ops/mcp/fitting.ts';

const lines = (many: number) => Array.from({ length: many }, (_, n) => `line ${n}`).join('\n');

it('leaves an answer as it is that an assistant can take', () => {
  const told = { text: lines(10), structured: { ok: true, result: [1, 2] } };
  expect(fitting(told)).toEqual(told);
});

it('cuts a text off at the end of a line, and says how many are left out', () => {
  const { text } = fitting({ text: lines(20_000), structured: { ok: true } });
  const [kept = '', note = ''] = text.split('\n\n');
  const all = kept.split('\n');
  expect(lines(20_000).startsWith(`${kept}\n`)).toBe(true);
  expect(note).toMatch(/^[\d,]+ more lines are left out here\. Ask for less/);
  expect(Number(note.split(' ')[0]?.replace(',', ''))).toBe(20_000 - all.length);
  expect(text.length).toBeLessThan(61_000);
});

it('cuts one line that is too long by itself', () => {
  expect(fitting({ text: 'x'.repeat(10 ** 6), structured: {} }).text.length).toBeLessThan(61_000);
});
