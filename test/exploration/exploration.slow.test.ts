import { describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../lambda/ledger/errors.ts';
import { breakParts, intact, mutants } from '../simulation/mutants.ts';
import { begin, replay, verdictOn } from './explore.ts';
import { everyFinding, hunt, within } from './hunt.ts';
import { search } from './search.ts';
import { type Memory, Seen, unseen } from './seen.ts';
import { stateOf } from './situation.ts';

const never = Number.POSITIVE_INFINITY;

describe('the executions of a small world', () => {
  it('count the budgets without enough time', async () => {
    const { kill, unfinished } = await hunt(breakParts(mutants.lease ?? {}), 0);
    expect(kill).toBeUndefined();
    expect(unfinished).toBeGreaterThan(0);
  });

  it('have the same findings with and without the memory of states', async () => {
    const rung = within(1, { moves: 1, overlaps: 1 });
    const texts = async (seen?: Memory) => {
      const found = await everyFinding(rung, breakParts(mutants.lease ?? {}), never, seen);
      return new Set(found.findings.flatMap(({ findings }) => findings));
    };
    const all = await texts(unseen);
    expect(all.size).toBeGreaterThan(0);
    expect(await texts()).toEqual(all);
  });

  it("excuse no repeat because of another execution's trouble", async () => {
    const begun = await begin(within(1, { moves: 1 }));
    const settle = () => Promise.reject(new LedgerUnavailableError('settle', {}));
    const unsettled = breakParts({ ledger: () => ({ settle }) });
    const { situation } = await replay(begun, '0:edit-1 1:tick', unsettled);
    const troubled = { ...situation, told: { ...situation.told, mayRepeat: true } };
    const seen = new Seen(begun.budget, 1_000);
    expect(await verdictOn(troubled, intact, seen)).toEqual([]);
    expect(await verdictOn(situation, intact, seen)).toEqual(['sim/1/2 is told twice']);
  });

  it.each([
    // A commit lands after the outboxes were read.
    [
      ...['0:tick 2:appear-3-on-0 10:late 14:land', 'after 1'],
      within(1, { moves: 1, deaths: 1, overlaps: 1 }),
    ],
    // A third tick after two that others reach by three.
    ['0:wait 15:fail / 0:tick', 'after 2', within(3, { faults: 1, waits: 1 })],
  ] as const)('include the end of each execution: %s', async (trail, place, rung) => {
    const seen = new Seen(rung.budget, 100_000);
    await everyFinding(rung, intact, never, seen);
    const { situation } = await replay(await begin(rung), trail, intact);
    expect(seen.isNew(stateOf(situation, place))).toBe(false);
  });

  it('run once each, for any number of workers with one tree', async () => {
    const rung = within(1, { moves: 1 });
    const shared = (workers: number) =>
      search({ beginning: rung, ticks: 1, workers, room: 100_000, endsAfterMs: never }, () => true);
    const [one, two] = await Promise.all([shared(1), shared(2)]);
    expect(one).toMatchObject({ left: 0, findings: [] });
    expect(two).toMatchObject({ left: 0, findings: [], states: one.states });
  });
});
