import { randomBytes } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { conditionNames } from '../detection/conditions.ts';
import { nothingMissing } from '../detection/missing.ts';
import type { OpsLedger } from '../operations/ops-ledger.ts';
import type { Ledger } from '../ports/ledger.ts';
import {
  type Lease,
  memory,
  noLease,
  type Pause,
  type State,
  state as stateItem,
} from '../ports/state.ts';
import { parse, renamed, schemaVersion } from './item.ts';
import type { Condition, Plain, Table, Update } from './table.ts';

const saltBytes = 16;

const stateKey = (integration: string) => `STATE#${integration}`;

/** A top-level attribute each, so that ticks that overlap do not undo each other's. */
const conditionPrefix = 'condition:';

/** Of two first ticks, the salt of the first counts. */
const made = (): Update => ({
  initial: { salt: randomBytes(saltBytes).toString('base64url'), schema: schemaVersion },
  returns: 'ALL_NEW',
});

/** Of changes, each takes its own. */
const stateChanges = z.partial(stateItem);
const memoryChanges = z.partial(memory);

/** Nobody has the lease, or no longer. Ours already: the answer to this very write was lost, and the SDK has sent it again. */
export const isFree = ({ owner }: Lease, now: Temporal.Instant): Condition => ({
  where: 'attribute_not_exists(lease_owner) OR lease_until < :now OR lease_owner = :owner',
  values: { ':owner': owner, ':now': now.epochMilliseconds },
});

export const isOurs = ({ owner }: Lease): Condition => ({
  where: 'lease_owner = :owner',
  values: { ':owner': owner },
});

/**
 * What a tick leaves for the next one, and the lease. Each is one write of one item; under a lease, its
 * condition is that it is still ours. Of two items, each has its lease:
 *
 *   taken       the state's, then the memory's: from here on, nobody before us writes any more
 *   meanwhile   the state, then the memory: when the next look is due is known before what it is for
 *   given back  the memory, then the state with its lease
 */
export function integrationState(table: Table, integration: string) {
  const key = stateKey(integration);
  const memoryKey = `MEMORY#${integration}`;
  /** Of the calendar, as the last look has shown them, and what was added since. */
  let years: ReadonlySet<number> = new Set();
  /** @param shown by a write; absent: as it is now */
  const state = async (shown?: Plain): Promise<State> => {
    const item = shown ?? (await table.get(key)) ?? (await table.update(key, made())) ?? {};
    const conditions = conditionNames.flatMap((name) => {
      const open = item[conditionPrefix + name];
      return open === undefined ? [] : [[name, open] as const];
    });
    const known = parse(stateItem, item, { ...renamed(item), conditions: new Map(conditions) });
    years = known.years;
    return known;
  };
  return {
    state: () => state(),
    async recordedState() {
      const item = await table.get(key);
      return item && state(item);
    },
    async takeLease(lease, now) {
      const { owner, until } = lease;
      const taken = { lease_owner: owner, lease_until: until.epochMilliseconds };
      const before = await table.update(key, {
        set: { ...taken, dirty_since: now.epochMilliseconds },
        ...isFree(lease, now),
        returns: 'ALL_OLD',
      });
      if (before === undefined) return undefined;
      try {
        const claim = { schema: schemaVersion, lease_owner: owner };
        const kept = (await table.update(memoryKey, { set: claim, returns: 'ALL_NEW' })) ?? {};
        const { missing, ...known } = await state(before);
        const { missing: noted, gate } = parse(memory, kept, renamed(kept));
        return {
          ...known,
          gate,
          ...(missing && { missing: { ...nothingMissing, ...noted, ...missing } }),
        };
      } catch (error) {
        await table.update(key, { set: renamed(noLease), ...isOurs(lease) });
        throw error;
      }
    },
    async saveState({ conditions = new Map(), ...changes }, lease) {
      const open = [...conditions].map(([name, one]) => [conditionPrefix + name, one]);
      const ofState = renamed(z.encode(stateChanges, changes));
      const writes = [
        [key, { ...ofState, ...Object.fromEntries(open) }],
        [memoryKey, renamed(z.encode(memoryChanges, changes))],
      ] as const;
      for (const [item, set] of 'leaseOwner' in changes ? writes.toReversed() : writes)
        if (!(await table.update(item, { set, ...(lease && isOurs(lease)) }))) return false;
      return true;
    },
    async addYears(wanted: Iterable<number>) {
      const added = new Set([...wanted].filter((year) => !years.has(year)));
      if (added.size === 0) return;
      await table.update(key, { add: { years: added } });
      years = new Set([...years, ...added]);
    },
  } satisfies Partial<Ledger> & Record<'addYears', unknown>;
}

/**
 * Whether ops have stopped the integration. Under the name of the call: when an answer is lost, the SDK
 * writes again, and what it then finds is its own.
 */
export function steering(table: Table, integration: string) {
  const steer = async (paused: boolean, pause: Pause | undefined, call: string, isSo: string) => {
    const noted = pause && { ...pause, since: pause.since.epochMilliseconds };
    const changed = await table.update(stateKey(integration), {
      set: { paused, pause: noted, steered_by: call },
      where: `attribute_exists(salt) AND (${isSo} OR steered_by = :call)`,
      values: { ':call': call, ':before': !paused },
    });
    return changed !== undefined;
  };
  const isRunning = 'attribute_not_exists(paused) OR paused = :before';
  return {
    pause: (pause, call) => steer(true, pause, call, isRunning),
    resume: (call) => steer(false, undefined, call, 'paused = :before'),
  } satisfies Partial<OpsLedger>;
}
