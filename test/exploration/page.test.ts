import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { breakParts, mutants } from '../simulation/mutants.ts';
import { findingsOf } from './explore.ts';
import { within } from './hunt.ts';

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
    rows.map(
      ([, name = '', budgets = '', trail = '', noticed = '']) =>
        [...([name, budgets, trail, noticed] as const)] as const,
    ),
  )('has an execution in which %s is noticed', async (name, budgets, trail, noticed) => {
    const spent = budgets.matchAll(/(\w+) (\d)/g);
    const budget = Object.fromEntries([...spent].map(([, kind, n]) => [kind, Number(n)]));
    const isNew = budgets.includes('a new ledger');
    const broken = breakParts(mutants[name] ?? {});
    expect(await findingsOf(within(0, budget, isNew), trail, broken)).toContain(noticed);
  });
});
