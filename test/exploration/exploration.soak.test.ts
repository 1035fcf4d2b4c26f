import { describe, expect, it } from 'vitest';
import { intact } from '../simulation/mutants.ts';
import { everyFinding, within } from './hunt.ts';

describe('the executions of a small world', () => {
  it.each([
    ['a fault and a death, in two ticks', within(2, { moves: 1, faults: 1, deaths: 1 })],
    ['a death amid overlapping ticks', within(1, { moves: 1, deaths: 1, overlaps: 2 })],
    ['a fault during the baseline', within(1, { moves: 1, faults: 1 }, true)],
  ])('keep each promise after a move and %s', async (_, rung) => {
    expect(await everyFinding(rung, intact, Number.POSITIVE_INFINITY)).toMatchObject({
      findings: [],
      left: 0,
    });
  });
});
