import { expect, it } from 'vitest';
import { fitting } from '../../../ops/mcp/fitting.ts';

const lines = (many: number) => Array.from({ length: many }, (_, n) => `line ${n}`).join('\n');

it('a text that is too long is cut at the end of a line, with the number of omitted lines', () => {
  const { text } = fitting({ text: lines(20_000), structured: { ok: true } });
  const [kept = '', note = ''] = text.split('\n\n');
  const all = kept.split('\n');
  expect(lines(20_000).startsWith(`${kept}\n`)).toBe(true);
  expect(note).toMatch(/^[\d,]+ more lines are left out here\. Ask for less/);
  expect(Number(note.split(' ')[0]?.replace(',', ''))).toBe(20_000 - all.length);
  expect(text.length).toBeLessThan(61_000);
});

it('a single line that is too long is cut', () => {
  expect(fitting({ text: 'x'.repeat(10 ** 6), structured: {} }).text.length).toBeLessThan(61_000);
});
