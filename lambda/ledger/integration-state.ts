import { randomBytes } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import { ledgerTable } from '../names.ts';
import type { Lease, Pause, State, StateChanges } from '../ports/state.ts';
import { schemaVersion } from './item.ts';
import { parseState, stateKey, stateUpdate } from './state-item.ts';
import type { Plain, Table } from './table.ts';

const saltBytes = 16;

/** What a write rests on, and what it answers. */
interface Condition {
  readonly ConditionExpression: string;
  readonly values: Plain;
  readonly ReturnValues?: 'ALL_OLD';
}

/**
 * What a tick leaves for the next one, the lease, and whether ops have stopped it. Each is one write of
 * one item; under a lease, its condition is that it is still ours.
 */
export class IntegrationState {
  readonly #table: Table;
  readonly #stateKey: string;

  constructor(table: Table, integration: string) {
    this.#table = table;
    this.#stateKey = stateKey(integration);
  }

  async read(): Promise<State> {
    const item = (await this.#table.get(this.#stateKey)) ?? (await this.#createState());
    return parseState(item);
  }

  async readRecorded(): Promise<State | undefined> {
    const item = await this.#table.get(this.#stateKey);
    return item && parseState(item);
  }

  async takeLease({ owner, until }: Lease, now: Temporal.Instant): Promise<State | undefined> {
    const before = await this.#update(
      { leaseOwner: owner, leaseUntil: until, dirtySince: now },
      {
        // Ours already: the answer to this very write was lost, and the SDK has sent it again.
        ConditionExpression:
          'attribute_not_exists(lease_owner) OR lease_until < :now OR lease_owner = :owner',
        values: { ':owner': owner, ':now': now.epochMilliseconds },
        ReturnValues: 'ALL_OLD',
      },
    );
    return before && parseState(before);
  }

  async save(changes: StateChanges, lease?: Lease): Promise<boolean> {
    const isOurs = lease && {
      ConditionExpression: 'lease_owner = :owner',
      values: { ':owner': lease.owner },
    };
    return (await this.#update(changes, isOurs)) !== undefined;
  }

  complete(lease: Lease, now: Temporal.Instant, changes: StateChanges): Promise<boolean> {
    return this.save({ ...changes, heartbeat: now.toString(), ...noLease }, lease);
  }

  async giveBackLease(lease: Lease): Promise<void> {
    await this.save(noLease, lease);
  }

  /**
   * Under the name of the call: when an answer is lost, the SDK writes again, and what it then finds is
   * its own.
   */
  async pause(pause: Pause, call: string): Promise<boolean> {
    const changed = await this.#update(
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
    const changed = await this.#update(
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

  #update(changes: StateChanges, condition?: Condition): Promise<Plain | undefined> {
    const { values, ...update } = stateUpdate(changes);
    return this.#table.update(this.#stateKey, {
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

const noLease = { leaseOwner: undefined, leaseUntil: undefined };
