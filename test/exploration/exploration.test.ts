import { describe, expect, it } from 'vitest';
import { breakParts, intact, mutants } from '../simulation/mutants.ts';
import { begin, replay } from './explore.ts';
import { everyFinding, within } from './hunt.ts';

const never = Number.POSITIVE_INFINITY;

describe('the executions of a small world', () => {
  it.each([
    ['two moves', within(1, { moves: 2 })],
    ['a move until an audit is due', within(1, { moves: 1, waits: 1 })],
    ['a move, a fault and a death', within(1, { moves: 1, faults: 1, deaths: 1 })],
    ['a move and two overlapping ticks', within(1, { moves: 1, overlaps: 2 })],
    ['a move during the baseline', within(1, { moves: 1 }, true)],
    ['a fault and a death during the baseline', within(1, { faults: 1, deaths: 1 }, true)],
  ])('keep each promise: %s', async (_, rung) => {
    expect(await everyFinding(rung, intact, never)).toMatchObject({ findings: [], left: 0 });
  });

  it('show the effect of a broken part, and show it again from its choices', async () => {
    const { ledgerRules: _, ...parts } = mutants.lease ?? {};
    const broken = breakParts(mutants.lease ?? {});
    const rung = within(1, { moves: 1, overlaps: 1 });
    const { findings } = await everyFinding(rung, broken, never);
    const trail = findings[0]?.trail ?? '';
    const again = await replay(await begin(rung, broken), trail, broken);
    expect(again.findings).not.toEqual([]);
    const real = await replay(await begin(rung), trail, breakParts(parts));
    expect(real.findings).toEqual([]);
  });
});
