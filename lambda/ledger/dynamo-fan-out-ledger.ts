import type { Temporal } from 'temporal-polyfill';
import type { Sighting } from '../detection/compare.ts';
import type { FanOutLedger } from '../fan-out/parts.ts';
import { ledgerTable } from '../names.ts';
import type { Journal } from '../ports/journal.ts';
import type { Lease } from '../ports/state.ts';
import type { Stretch, StretchProgress } from '../ports/stretch.ts';
import { Certifications } from './certifications.ts';
import { updateOf } from './expressions.ts';
import {
  parsePlan,
  parseProgress,
  planAttributes,
  planKey,
  progressAttributes,
  stretchKey,
} from './fan-out-item.ts';
import { schemaVersion } from './item.ts';
import type { Table } from './table.ts';

/**
 * What the fan-out of an integration's baseline keeps: one item for the plan, and one a stretch,
 * so that tasks that run at the same time never write to the same item.
 *
 *   plan     condition: there is none yet
 *   stretch  condition: nobody's, or run out; then: still ours
 */
export class DynamoFanOutLedger implements FanOutLedger {
  readonly #table: Table;
  readonly #integration: string;
  readonly #certifications: Certifications;

  constructor(table: Table, integration: string, journal: Journal) {
    this.#table = table;
    this.#integration = integration;
    this.#certifications = new Certifications(table, integration, journal);
  }

  async plan(begunAt: number): Promise<readonly Stretch[] | undefined> {
    const item = await this.#table.get(planKey(this.#integration, begunAt));
    return item && parsePlan(item);
  }

  async keepPlan(begunAt: number, stretches: readonly Stretch[]): Promise<readonly Stretch[]> {
    const isFirst = await this.#table.put(
      {
        [ledgerTable.partitionKey]: planKey(this.#integration, begunAt),
        ...planAttributes(begunAt, stretches),
        schema: schemaVersion,
      },
      { ConditionExpression: 'attribute_not_exists(pk)' },
    );
    return isFirst ? stretches : ((await this.plan(begunAt)) ?? stretches);
  }

  async progressOf(stretches: readonly Stretch[]): Promise<readonly StretchProgress[]> {
    const keys = stretches.map((stretch) => stretchKey(this.#integration, stretch));
    const items = await this.#table.getAll(keys);
    const byKey = new Map(
      items.map((item) => [item[ledgerTable.partitionKey], parseProgress(item)]),
    );
    return keys.map((key) => byKey.get(key) ?? { isDone: false, recorded: 0 });
  }

  async takeStretch(
    stretch: Stretch,
    { owner, until }: Lease,
    now: Temporal.Instant,
  ): Promise<StretchProgress | undefined> {
    const item = await this.#table.update(stretchKey(this.#integration, stretch), {
      UpdateExpression: 'SET lease_owner = :owner, lease_until = :until, #schema = :schema',
      ConditionExpression:
        'attribute_not_exists(lease_owner) OR lease_until < :now OR lease_owner = :owner',
      ExpressionAttributeNames: { '#schema': 'schema' },
      values: {
        ':owner': owner,
        ':until': until.epochMilliseconds,
        ':now': now.epochMilliseconds,
        ':schema': schemaVersion,
      },
      ReturnValues: 'ALL_NEW',
    });
    return item && parseProgress(item);
  }

  async keepProgress(stretch: Stretch, lease: Lease, progress: StretchProgress): Promise<boolean> {
    const { values, ...update } = updateOf(progressAttributes(progress));
    const written = await this.#table.update(stretchKey(this.#integration, stretch), {
      ...update,
      ConditionExpression: 'lease_owner = :owner',
      values: { ...values, ':owner': lease.owner },
    });
    return written !== undefined;
  }

  async giveBackStretch(stretch: Stretch, lease: Lease): Promise<void> {
    await this.#table.update(stretchKey(this.#integration, stretch), {
      UpdateExpression: 'REMOVE lease_owner, lease_until',
      ConditionExpression: 'lease_owner = :owner',
      values: { ':owner': lease.owner },
    });
  }

  recordNew(sightings: readonly Sighting[], now: Temporal.Instant): Promise<readonly Sighting[]> {
    return this.#certifications.recordNew(sightings, now);
  }
}
