import { randomBytes } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import { ledgerTable } from '../names.ts';
import type { Lease, LeasedState, Pause, State, StateChanges } from '../ports/state.ts';
import { updateOf } from './expressions.ts';
import { schemaVersion } from './item.ts';
import {
  memoryAttributes,
  memoryKey,
  parseLeased,
  parseState,
  stateAttributes,
  stateKey,
} from './state-item.ts';
import type { Plain, Table } from './table.ts';

const saltBytes = 16;

/** What a write rests on, and what it answers. */
interface Condition {
  readonly ConditionExpression?: string;
  readonly values?: Plain;
  readonly ReturnValues?: 'ALL_OLD' | 'ALL_NEW';
}

/**
 * What a tick leaves for the next one, the lease, and whether ops have stopped it. Each is one write of
 * one item; under a lease, its condition is that it is still ours. Of two items, each has its lease:
 *
 *   taken       the state's, then the memory's: from here on, nobody before us writes any more
 *   meanwhile   the state, then the memory: when the next look is due is known before what it is for
 *   given back  the memory, then the state with its lease
 */
export class IntegrationState {
  readonly #table: Table;
  readonly #stateKey: string;
  readonly #memoryKey: string;

  constructor(table: Table, integration: string) {
    this.#table = table;
    this.#stateKey = stateKey(integration);
    this.#memoryKey = memoryKey(integration);
  }

  async read(): Promise<State> {
    const item = (await this.#table.get(this.#stateKey)) ?? (await this.#createState());
    return parseState(item);
  }

  async readRecorded(): Promise<State | undefined> {
    const item = await this.#table.get(this.#stateKey);
    return item && parseState(item);
  }

  async takeLease(lease: Lease, now: Temporal.Instant): Promise<LeasedState | undefined> {
    const { owner, until } = lease;
    const before = await this.#updateState(
      { leaseOwner: owner, leaseUntil: until, dirtySince: now },
      {
        // Ours already: the answer to this very write was lost, and the SDK has sent it again.
        ConditionExpression:
          'attribute_not_exists(lease_owner) OR lease_until < :now OR lease_owner = :owner',
        values: { ':owner': owner, ':now': now.epochMilliseconds },
        ReturnValues: 'ALL_OLD',
      },
    );
    return before && parseLeased(before, await this.#takeMemory(lease));
  }

  async #takeMemory(lease: Lease): Promise<Plain> {
    try {
      const claim = { schema: schemaVersion, lease_owner: lease.owner };
      return (await this.#update(this.#memoryKey, claim, { ReturnValues: 'ALL_NEW' })) ?? {};
    } catch (error) {
      await this.giveBackLease(lease);
      throw error;
    }
  }

  async save(changes: StateChanges, lease?: Lease): Promise<boolean> {
    const isKept = (await this.#updateState(changes, lease && ours(lease))) !== undefined;
    return isKept && this.#saveMemory(changes, lease);
  }

  async complete(lease: Lease, now: Temporal.Instant, changes: StateChanges): Promise<boolean> {
    if (!(await this.#saveMemory(changes, lease))) return false;
    const end = { ...changes, heartbeat: now.toString(), ...noLease };
    return (await this.#updateState(end, ours(lease))) !== undefined;
  }

  async giveBackLease(lease: Lease): Promise<void> {
    await this.#updateState(noLease, ours(lease));
  }

  async #saveMemory(changes: StateChanges, lease: Lease | undefined): Promise<boolean> {
    const attributes = memoryAttributes(changes);
    return (await this.#update(this.#memoryKey, attributes, lease && ours(lease))) !== undefined;
  }

  /**
   * Under the name of the call: when an answer is lost, the SDK writes again, and what it then finds is
   * its own.
   */
  async pause(pause: Pause, call: string): Promise<boolean> {
    const changed = await this.#updateState(
      { paused: true, pause, steeredBy: call },
      {
        ConditionExpression:
          'attribute_exists(salt) AND (attribute_not_exists(paused) OR paused = :no OR steered_by = :call)',
        values: { ':no': false, ':call': call },
      },
    );
    return changed !== undefined;
  }

  async resume(call: string): Promise<boolean> {
    const changed = await this.#updateState(
      { paused: false, pause: undefined, steeredBy: call },
      {
        ConditionExpression: 'paused = :yes OR steered_by = :call',
        values: { ':yes': true, ':call': call },
      },
    );
    return changed !== undefined;
  }

  async addYears(years: readonly number[]): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'ADD years :years',
      values: { ':years': new Set(years) },
    });
  }

  #updateState(changes: StateChanges, condition?: Condition): Promise<Plain | undefined> {
    return this.#update(this.#stateKey, stateAttributes(changes), condition);
  }

  /** @returns `undefined` if the condition does not hold; where nothing changes, it is not asked. */
  async #update(key: string, attributes: Plain, condition?: Condition): Promise<Plain | undefined> {
    if (Object.keys(attributes).length === 0) return {};
    const { values, ...update } = updateOf(attributes);
    return this.#table.update(key, {
      ...update,
      ...condition,
      values: { ...values, ...condition?.values },
    });
  }

  async #createState() {
    const fresh = {
      [ledgerTable.partitionKey]: this.#stateKey,
      salt: randomBytes(saltBytes).toString('base64url'),
      schema: schemaVersion,
    };
    const created = await this.#table.put(fresh, {
      ConditionExpression: 'attribute_not_exists(pk)',
    });
    // Lost against another first tick: its salt counts, not ours.
    return created ? fresh : ((await this.#table.get(this.#stateKey)) ?? fresh);
  }
}

const ours = ({ owner }: Lease): Condition => ({
  ConditionExpression: 'lease_owner = :owner',
  values: { ':owner': owner },
});

const noLease = { leaseOwner: undefined, leaseUntil: undefined };
