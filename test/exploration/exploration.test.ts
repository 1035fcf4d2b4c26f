import { describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../lambda/ledger/errors.ts';
import { breakParts, intact, mutants } from '../simulation/mutants.ts';
import { begin, replay, verdictOn } from './explore.ts';
import { everyFinding, hunt, within } from './hunt.ts';
import { search } from './search.ts';
import { type Memory, Seen, unseen } from './seen.ts';
import { stateOf } from './situation.ts';

const never = Number.POSITIVE_INFINITY;

describe('every execution of a small world', () => {
  it.each([
    ['two moves', within(1, { moves: 2 })],
    ['a move until an audit is due', within(1, { moves: 1, waits: 1 })],
    ['a move, a fault and a death, in two ticks', within(2, { moves: 1, faults: 1, deaths: 1 })],
    ['a move and two overlapping ticks', within(1, { moves: 1, deaths: 1, overlaps: 2 })],
    [
      'a move and a fault while all is read for the first time',
      within(1, { moves: 1, faults: 1 }, true),
    ],
  ])(
    'keeps every promise: %s',
    async (_, rung) => {
      expect(await everyFinding(rung, intact, never)).toEqual({ findings: [], left: 0 });
    },
    60_000,
  );

  it('shows what a broken part does, and shows it again by its choices', async () => {
    const { ledgerRules: _, ...parts } = mutants.lease ?? {};
    const broken = breakParts(mutants.lease ?? {});
    const rung = within(1, { moves: 1, overlaps: 1 });
    const {
      findings: [finding],
    } = await everyFinding(rung, broken, never);
    const again = await replay(await begin(rung, broken), finding?.trail ?? '', broken);
    expect(again.findings).not.toEqual([]);
    const real = await replay(await begin(rung), finding?.trail ?? '', breakParts(parts));
    expect(real.findings).toEqual([]);
  });

  it('says of which budgets the time was too short', async () => {
    const { kill, unfinished } = await hunt(breakParts(mutants.lease ?? {}), 0);
    expect(kill).toBeUndefined();
    expect(unfinished).toBeGreaterThan(0);
  });

  it('is told of by its findings with and without the memory of states', async () => {
    const rung = within(1, { moves: 1, overlaps: 1 });
    const texts = async (seen?: Memory) => {
      const found = await everyFinding(rung, breakParts(mutants.lease ?? {}), never, seen);
      return new Set(found.findings.flatMap(({ findings }) => findings));
    };
    const all = await texts(unseen);
    expect(all.size).toBeGreaterThan(0);
    expect(await texts()).toEqual(all);
  }, 60_000);

  it('excuses no repeat because of what another execution has gone through', async () => {
    const begun = await begin(within(1, { moves: 1 }));
    const unsettled = breakParts({
      ledger: () => ({
        settle: () => Promise.reject(new LedgerUnavailableError('settle', {})),
      }),
    });
    const { situation } = await replay(begun, '0:edit-1 1:tick', unsettled);
    const troubled = { ...situation, told: { ...situation.told, mayRepeat: true } };
    const seen = new Seen(begun.budget, 1_000);
    expect(await verdictOn(troubled, intact, seen)).toEqual([]);
    expect(await verdictOn(situation, intact, seen)).toEqual(['sim/1/2 is told twice']);
  });

  it.each([
    [
      'a commit lands after the outboxes were read',
      within(1, { moves: 1, deaths: 1, overlaps: 1 }),
      '0:tick 2:appear-3-on-0 10:late 14:land',
      'after 1',
    ],
    [
      'a third tick after two that others reach by three',
      within(3, { faults: 1, waits: 1 }),
      '0:wait 15:fail / 0:tick',
      'after 2',
    ],
  ])(
    'meets the end of each execution: %s',
    async (_, rung, trail, place) => {
      const seen = new Seen(rung.budget, 100_000);
      await everyFinding(rung, intact, never, seen);
      const { situation } = await replay(await begin(rung), trail, intact);
      expect(seen.isNew(stateOf(situation, place))).toBe(false);
    },
    60_000,
  );

  it('is run once, however many workers share the tree', async () => {
    const rung = within(1, { moves: 1 });
    const shared = (workers: number) =>
      search({ beginning: rung, ticks: 1, workers, room: 100_000, endsAfterMs: never }, () => true);
    const [one, two] = await Promise.all([shared(1), shared(2)]);
    expect(one).toMatchObject({ left: 0, findings: [] });
    expect(two).toMatchObject({ left: 0, findings: [], states: one.states });
  }, 60_000);
});
