import { randomBytes } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { conditionNames } from '../detection/conditions.ts';
import { nothingMissing } from '../detection/missing.ts';
import { ledgerTable } from '../names.ts';
import type { OpsLedger } from '../operations/ops-ledger.ts';
import type { Ledger } from '../ports/ledger.ts';
import { type Lease, memory, type State, type StateChanges, state } from '../ports/state.ts';
import { parse, renamed, schemaVersion } from './item.ts';
import type { Condition, Plain, Table } from './table.ts';

const saltBytes = 16;

const stateKey = (integration: string) => `STATE#${integration}`;

/** A top-level attribute each, so that ticks that overlap do not undo each other's. */
const conditionPrefix = 'condition:';

/** Of changes, each takes its own. */
const ofState = z.partial(state);
const ofMemory = z.partial(memory);

const noLease = { leaseOwner: undefined, leaseUntil: undefined };

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
  /** As the last look has shown them, and what was added since. */
  const years = new Set<number>();
  const read = (item: Plain) => {
    const known = parseState(item);
    years.clear();
    for (const year of known.years) years.add(year);
    return known;
  };
  const giveBackLease = async (lease: Lease) => {
    await table.update(key, { set: stateAttributes(noLease), ...isOurs(lease) });
  };
  return {
    async state() {
      return read((await table.get(key)) ?? (await created(table, key)));
    },
    async recordedState() {
      const item = await table.get(key);
      return item && parseState(item);
    },
    async takeLease(lease, now) {
      const taken = { leaseOwner: lease.owner, leaseUntil: lease.until, dirtySince: now };
      const before = await table.update(key, {
        set: stateAttributes(taken),
        ...isFree(lease, now),
        returns: 'ALL_OLD',
      });
      if (before === undefined) return undefined;
      try {
        const claim = { schema: schemaVersion, lease_owner: lease.owner };
        const kept = (await table.update(memoryKey, { set: claim, returns: 'ALL_NEW' })) ?? {};
        const { missing, ...known } = read(before);
        const { missing: noted, gate } = parse(memory, kept, renamed(kept));
        return {
          ...known,
          gate,
          ...(missing && { missing: { ...nothingMissing, ...noted, ...missing } }),
        };
      } catch (error) {
        await giveBackLease(lease);
        throw error;
      }
    },
    async saveState(changes, lease) {
      const condition = lease && isOurs(lease);
      const isKept = await table.update(key, { set: stateAttributes(changes), ...condition });
      if (isKept === undefined) return false;
      const kept = await table.update(memoryKey, {
        set: renamed(z.encode(ofMemory, changes)),
        ...condition,
      });
      return kept !== undefined;
    },
    async complete(lease, now, changes) {
      const condition = isOurs(lease);
      const kept = await table.update(memoryKey, {
        set: renamed(z.encode(ofMemory, changes)),
        ...condition,
      });
      if (kept === undefined) return false;
      const end = { ...changes, heartbeat: now.toString(), ...noLease };
      return (await table.update(key, { set: stateAttributes(end), ...condition })) !== undefined;
    },
    giveBackLease,
    async addYears(wanted: Iterable<number>) {
      const added = new Set([...wanted].filter((year) => !years.has(year)));
      if (added.size === 0) return;
      await table.update(key, { add: { years: added } });
      for (const year of added) years.add(year);
    },
  } satisfies Partial<Ledger> & Record<'addYears', unknown>;
}

/**
 * Whether ops have stopped the integration. Under the name of the call: when an answer is lost, the SDK
 * writes again, and what it then finds is its own.
 */
export function steering(table: Table, integration: string) {
  const steer = async (paused: boolean, changes: StateChanges, call: string, isSo: string) => {
    const changed = await table.update(stateKey(integration), {
      set: stateAttributes({ ...changes, paused, steeredBy: call }),
      where: `attribute_exists(salt) AND (${isSo} OR steered_by = :call)`,
      values: { ':call': call, ':before': !paused },
    });
    return changed !== undefined;
  };
  const isRunning = 'attribute_not_exists(paused) OR paused = :before';
  return {
    pause: (pause, call) => steer(true, { pause }, call, isRunning),
    resume: (call) => steer(false, { pause: undefined }, call, 'paused = :before'),
  } satisfies Partial<OpsLedger>;
}

async function created(table: Table, key: string): Promise<Plain> {
  const fresh = {
    [ledgerTable.partitionKey]: key,
    salt: randomBytes(saltBytes).toString('base64url'),
    schema: schemaVersion,
  };
  // Lost against another first tick: its salt counts, not ours.
  return (await table.create(fresh)) ? fresh : ((await table.get(key)) ?? fresh);
}

/** @throws LedgerCorruptError */
function parseState(item: Plain): State {
  const conditions = conditionNames
    .map((name) => [name, item[conditionPrefix + name]] as const)
    .filter(([, open]) => open !== undefined);
  return parse(state, item, { ...renamed(item), conditions: new Map(conditions) });
}

function stateAttributes({ conditions = new Map(), ...fields }: StateChanges): Plain {
  return {
    ...renamed(z.encode(ofState, fields)),
    ...Object.fromEntries([...conditions].map(([name, open]) => [conditionPrefix + name, open])),
  };
}
