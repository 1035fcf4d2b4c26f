import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { breakParts, mutants } from '../simulation/mutants.ts';
import { nothing } from './budget.ts';
import { begin, replay, verdictOn } from './explore.ts';

const page = readFileSync(new URL('../../docs/measured/exploration.md', import.meta.url), 'utf8');
/** The rows of the page's table: the mutant, the budgets, the choices, and the finding. */
const rows = [
  ...page.matchAll(
    /^\| `(\w+)` \| [^|]+ \| (\d[^|]*) \| (?:`([^`]*)`|nothing happens) \| (.+) \|$/gm,
  ),
];

describe('the page of the exploration', () => {
  it('has mutants, each once', () => {
    expect(rows.length).toBeGreaterThan(10);
    expect(new Set(rows.map(([, name]) => name)).size).toBe(rows.length);
  });

  it.each(
    rows.map(([, name = '', budgets = '', trail = '', noticed = '']) => ({
      name,
      budgets,
      trail,
      noticed,
    })),
  )('has an execution in which $name is noticed', async ({ name, budgets, trail, noticed }) => {
    const spent = budgets.matchAll(/(\w+) (\d)/g);
    const budget = {
      ...nothing,
      ...Object.fromEntries([...spent].map(([, kind, n]) => [kind, Number(n)])),
    };
    const isNew = budgets.includes('a new ledger');
    const broken = breakParts(mutants[name] ?? {});
    const begun = await begin({ isNew, born: [0, 0], rowsOfPage: 2, budget }, broken);
    const { situation, findings, end } = await replay(begun, trail, broken);
    const verdict = end === 'calm' ? [] : await verdictOn(situation, broken);
    expect([...findings, ...verdict]).toContain(noticed);
  });
});
