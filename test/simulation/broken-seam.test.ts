import { describe, expect, it, vi } from 'vitest';
import { simulate } from './run.ts';

// The rule of the seam, broken: pages follow each other as the API document says, unchecked.
vi.mock('../../lambda/detection/seam.ts', async (original) => ({
  ...(await original<typeof import('../../lambda/detection/seam.ts')>()),
  holdsAnchor: () => true,
  nextOffset: (offset: number, rows: readonly unknown[]) => offset + rows.length,
}));

describe('the simulation bites', () => {
  it('when pages are joined without a seam', async () => {
    const findings: string[] = [];
    for (let seed = 1; seed <= 30; seed++) findings.push(...(await simulate(seed)));
    expect(findings.join()).toContain('a proven read lost');
  }, 120_000);
});
