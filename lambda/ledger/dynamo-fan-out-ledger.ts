import type { FanOutLedger } from '../fan-out/parts.ts';
import { ledgerTable } from '../names.ts';
import type { Journal } from '../ports/journal.ts';
import type { Stretch } from '../ports/stretch.ts';
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
export function dynamoFanOutLedger(
  table: Table,
  integration: string,
  journal: Journal,
): FanOutLedger {
  const certifications = new Certifications(table, integration, journal);
  const keyOf = (stretch: Stretch) => stretchKey(integration, stretch);
  const plan = async (begunAt: number) => {
    const item = await table.get(planKey(integration, begunAt));
    return item && parsePlan(item);
  };
  return {
    plan,
    keepPlan: async (begunAt, stretches) => {
      const isFirst = await table.put(
        {
          [ledgerTable.partitionKey]: planKey(integration, begunAt),
          ...planAttributes(begunAt, stretches),
          schema: schemaVersion,
        },
        { ConditionExpression: 'attribute_not_exists(pk)' },
      );
      return isFirst ? stretches : ((await plan(begunAt)) ?? stretches);
    },
    progressOf: async (stretches) => {
      const keys = stretches.map(keyOf);
      const items = await table.getAll(keys);
      const byKey = new Map(
        items.map((item) => [item[ledgerTable.partitionKey], parseProgress(item)]),
      );
      return keys.map((key) => byKey.get(key) ?? { isDone: false, recorded: 0 });
    },
    takeStretch: async (stretch, { owner, until }, now) => {
      const item = await table.update(keyOf(stretch), {
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
    },
    keepProgress: async (stretch, { owner }, progress) => {
      const { values, ...update } = updateOf(progressAttributes(progress));
      const written = await table.update(keyOf(stretch), {
        ...update,
        ConditionExpression: 'lease_owner = :owner',
        values: { ...values, ':owner': owner },
      });
      return written !== undefined;
    },
    giveBackStretch: async (stretch, { owner }) => {
      await table.update(keyOf(stretch), {
        UpdateExpression: 'REMOVE lease_owner, lease_until',
        ConditionExpression: 'lease_owner = :owner',
        values: { ':owner': owner },
      });
    },
    recordNew: (sightings, now) => certifications.recordNew(sightings, now),
  };
}
