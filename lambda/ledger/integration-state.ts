import { randomBytes } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import type { ConditionName, OpenCondition } from '../detection/conditions.ts';
import type { GateMemory } from '../detection/gate.ts';
import type { Missing } from '../detection/missing.ts';
import type { Pace } from '../detection/pace.ts';
import { ledgerTable } from '../names.ts';
import type { BackOff, Baseline, Lease, State, StateChanges } from '../ports/state.ts';
import { assignments } from './expressions.ts';
import { schemaVersion } from './item.ts';
import {
  conditionAttribute,
  paceAttributes,
  parseState,
  stateAttributes,
  stateKey,
} from './state-item.ts';
import type { Table } from './table.ts';

const saltBytes = 16;

/**
 * What a tick leaves for the next one, and the lease.
 *
 *   lease     condition: nobody's, or run out
 *   complete  condition: still ours
 *   missing, gate  condition: still ours
 *   baseline  condition: not completed
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

  async takeLease(lease: Lease, now: Temporal.Instant): Promise<State | undefined> {
    const before = await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET lease_owner = :owner, lease_until = :until, dirty_since = :now',
      // Ours already: the answer to this very write was lost, and the SDK has sent it again.
      ConditionExpression:
        'attribute_not_exists(lease_owner) OR lease_until < :now OR lease_owner = :owner',
      values: {
        ':owner': lease.owner,
        ':until': lease.until.epochMilliseconds,
        ':now': now.epochMilliseconds,
      },
      ReturnValues: 'ALL_OLD',
    });
    return before && parseState(before);
  }

  async completeQuietly(now: Temporal.Instant): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET heartbeat = :now',
      values: { ':now': now.toString() },
    });
  }

  async complete(lease: Lease, now: Temporal.Instant, changes: StateChanges): Promise<boolean> {
    const { dirty, dirtySince, ...learned } = changes;
    const { set, names, values } = assignments({
      heartbeat: now.toString(),
      ...(dirty && dirtySince && { dirty_since: dirtySince.epochMilliseconds }),
      ...stateAttributes(learned),
    });
    const written = await this.#table.update(this.#stateKey, {
      UpdateExpression: `SET ${set} REMOVE lease_owner, lease_until${dirty ? '' : ', dirty_since'}`,
      ConditionExpression: 'lease_owner = :owner',
      ExpressionAttributeNames: names,
      values: { ...values, ':owner': lease.owner },
    });
    return written !== undefined;
  }

  async giveBackLease(lease: Lease): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'REMOVE lease_owner, lease_until',
      ConditionExpression: 'lease_owner = :owner',
      values: { ':owner': lease.owner },
    });
  }

  /** A save that arrives after another tick has completed the baseline does not open it again. */
  async saveBaseline(baseline: Baseline): Promise<void> {
    const { set, names, values } = assignments(stateAttributes({ baseline }));
    await this.#table.update(this.#stateKey, {
      UpdateExpression: `SET ${set}`,
      ConditionExpression: 'attribute_not_exists(baseline) OR baseline.#status <> :completed',
      ExpressionAttributeNames: { ...names, '#status': 'status' },
      values: { ...values, ':completed': 'completed' },
    });
  }

  saveMissing(lease: Lease, missing: Missing): Promise<boolean> {
    return this.#save(lease, { missing });
  }

  saveGate(lease: Lease, gate: GateMemory): Promise<boolean> {
    return this.#save(lease, { gate });
  }

  async #save(lease: Lease, changes: Pick<StateChanges, 'missing' | 'gate'>): Promise<boolean> {
    const { set, names, values } = assignments(stateAttributes(changes));
    const written = await this.#table.update(this.#stateKey, {
      UpdateExpression: `SET ${set}`,
      ConditionExpression: 'lease_owner = :owner',
      ExpressionAttributeNames: names,
      values: { ...values, ':owner': lease.owner },
    });
    return written !== undefined;
  }

  async backOff(backOff: BackOff | undefined): Promise<void> {
    if (backOff === undefined)
      await this.#table.update(this.#stateKey, { UpdateExpression: 'REMOVE back_off' });
    else
      await this.#table.update(this.#stateKey, {
        UpdateExpression: 'SET back_off = :back_off',
        values: {
          ':back_off': { until: backOff.until.epochMilliseconds, failures: backOff.failures },
        },
      });
  }

  async keepPace(pace: Pace | undefined): Promise<void> {
    if (pace === undefined)
      await this.#table.update(this.#stateKey, { UpdateExpression: 'REMOVE pace' });
    else
      await this.#table.update(this.#stateKey, {
        UpdateExpression: 'SET pace = :pace',
        values: { ':pace': paceAttributes(pace) },
      });
  }

  async saveConditions(
    changes: ReadonlyMap<ConditionName, OpenCondition | undefined>,
  ): Promise<void> {
    const entries = [...changes].map(([name, open]) => [conditionAttribute(name), open] as const);
    const { set, names, values } = assignments(
      Object.fromEntries(entries.filter(([, open]) => open !== undefined)),
    );
    const gone = entries.filter(([, open]) => open === undefined).map(([name]) => name);
    const removed = gone.map((_, index) => `#r${index}`);
    await this.#table.update(this.#stateKey, {
      UpdateExpression: [
        ...(set === '' ? [] : [`SET ${set}`]),
        ...(gone.length === 0 ? [] : [`REMOVE ${removed.join(', ')}`]),
      ].join(' '),
      ExpressionAttributeNames: {
        ...names,
        ...Object.fromEntries(gone.map((name, index) => [`#r${index}`, name])),
      },
      ...(set !== '' && { values }),
    });
  }

  async addYears(years: readonly number[]): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'ADD years :years',
      values: { ':years': new Set(years) },
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
