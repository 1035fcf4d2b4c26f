import { describe, expect, it } from 'vitest';
import { idOf } from '../../lambda/detection/compare.ts';
import type { MemoryLedger } from '../support/memory-ledger.ts';
import { type Mutation, simulate } from './run.ts';

/** Seeds whose lives end with a broken promise. */
async function broken(seeds: number, mutation?: Mutation): Promise<Map<number, readonly string[]>> {
  const found = new Map<number, readonly string[]>();
  for (let seed = 1; seed <= seeds; seed++) {
    const findings = await simulate(seed, mutation);
    if (findings.length > 0) found.set(seed, findings);
  }
  return found;
}

/** The ledger with one of its methods replaced. */
function altered(ledger: MemoryLedger, replaced: Partial<MemoryLedger>): MemoryLedger {
  return Object.assign(ledger, replaced);
}

describe('a simulated life', () => {
  it('keeps every promise, whatever happens between any two requests', async () => {
    expect(await broken(60)).toEqual(new Map());
  }, 120_000);

  it('keeps them when ticks overlap and leases are lost all the time', async () => {
    expect(await broken(20, { rough: true })).toEqual(new Map());
  }, 120_000);

  it('is the same for the same seed', async () => {
    const told: string[][] = [];
    for (let n = 0; n < 2; n++) {
      const commits: string[] = [];
      await simulate(3, {
        ledger: (ledger) => {
          const commit = ledger.commit.bind(ledger);
          return altered(ledger, {
            commit: (change, event, now, destiny) => {
              commits.push(`${event.id} ${event.time} ${destiny}`);
              return commit(change, event, now, destiny);
            },
          });
        },
      });
      told.push(commits);
    }
    expect(told[0]).not.toEqual([]);
    expect(told[1]).toEqual(told[0]);
  });
});

describe('the simulation bites', () => {
  it('when no canary is asked for before a withdrawal', async () => {
    const found = await broken(40, {
      switches: { singleRecordsBroken: true },
      partner: (partner, host) => ({
        ...partner,
        // The canary always sings, even where the single-record endpoint is broken.
        get: async (id, deadline) =>
          (await partner.get(id, deadline)) ??
          (host.lastPulse === id ? host.entries.get(id)?.assessment : undefined),
      }),
    });
    expect([...found.values()].flat().join()).toContain('false withdrawal');
  }, 120_000);

  it('when a commit has no condition', async () => {
    const found = await broken(25, {
      rough: true,
      ledger: (ledger) => {
        const commit = ledger.commit.bind(ledger);
        return altered(ledger, {
          commit: (change, event, now, destiny) => {
            const item = ledger.items.get(idOf(change));
            if (change.kind === 'created') ledger.items.delete(idOf(change));
            else if (item !== undefined)
              item.certification = { ...item.certification, revision: change.revision - 1 };
            return commit(change, event, now, destiny);
          },
        });
      },
    });
    expect([...found.values()].flat().join()).toContain('two events with the id');
  }, 120_000);

  it('when the outbox is emptied before it is delivered', async () => {
    const found = await broken(20, {
      ledger: (ledger) => {
        const commit = ledger.commit.bind(ledger);
        return altered(ledger, {
          commit: async (change, event, now, destiny) => {
            const owed = await commit(change, event, now, destiny);
            if (owed !== undefined && destiny === 'pending') await ledger.settle([owed], 'nothing');
            return owed;
          },
        });
      },
    });
    expect([...found.values()].flat().join()).toContain('no event');
  }, 120_000);
});
