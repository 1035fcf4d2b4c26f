import pMap from 'p-map';
import * as z from 'zod/mini';
import type { FanOutLedger } from '../fan-out/parts.ts';
import { ledgerTable } from '../names.ts';
import { type Stretch, stretch, stretchProgress } from '../ports/stretch.ts';
import { baselineItem } from './certification-item.ts';
import { isFree, isOurs } from './integration-state.ts';
import { asAttributes, asFields, parse, renamed, schemaVersion } from './item.ts';
import type { Plain, Table } from './table.ts';

/** DynamoDB has no condition for a batch; a new connection for each of these is cheap. */
const writesAtOnce = 32;

const planItem = z.object({
  begunAt: z.number(),
  stretches: z.array(z.omit(stretch.def.innerType, { begunAt: true })),
});

/**
 * What the fan-out of an integration's baseline keeps: one item for the plan, and one a stretch,
 * so that tasks that run at the same time never write to the same item.
 *
 *   plan     condition: there is none yet
 *   stretch  condition: nobody's, or run out; then: still ours
 */
export function dynamoFanOutLedger(table: Table, integration: string): FanOutLedger {
  const planKey = (begunAt: number) => `FANOUT#${integration}#${begunAt}`;
  /** No two stretches of a plan end on the same day. */
  const keyOf = ({ begunAt, to }: Stretch) => `STRETCH#${integration}#${begunAt}#${to}`;
  const plan = async (begunAt: number) => {
    const item = await table.get(planKey(begunAt));
    if (item === undefined) return undefined;
    const { stretches } = parse(planItem, item, renamed(item, asFields));
    return stretches.map((planned) => ({ begunAt, ...planned }));
  };
  return {
    plan,
    async keepPlan(begunAt, stretches) {
      const planned = z.encode(planItem, { begunAt, stretches: [...stretches] });
      const isFirst = await table.create({
        [ledgerTable.partitionKey]: planKey(begunAt),
        // At most about a thousand stretches of 60 bytes each: far below an item's 400 KB.
        ...renamed(planned, asAttributes),
        schema: schemaVersion,
      });
      return isFirst ? stretches : ((await plan(begunAt)) ?? stretches);
    },
    async progressOf(stretches) {
      const keys = stretches.map(keyOf);
      const items = await table.getAll(keys);
      const byKey = new Map(items.map((item) => [item[ledgerTable.partitionKey], item]));
      return keys.map((key) => progressIn(byKey.get(key) ?? {}));
    },
    async takeStretch(stretch, lease, now) {
      const { owner, until } = lease;
      const item = await table.update(keyOf(stretch), {
        set: { lease_owner: owner, lease_until: until.epochMilliseconds, schema: schemaVersion },
        ...isFree(lease, now),
        returns: 'ALL_NEW',
      });
      return item && progressIn(item);
    },
    async keepProgress(stretch, lease, progress) {
      const encoded = z.encode(stretchProgress, { ...progress, bookmark: progress.bookmark });
      const set = renamed(encoded, asAttributes);
      return (await table.update(keyOf(stretch), { set, ...isOurs(lease) })) !== undefined;
    },
    async giveBackStretch(stretch, lease) {
      const set = { lease_owner: undefined, lease_until: undefined };
      await table.update(keyOf(stretch), { set, ...isOurs(lease) });
    },
    async recordNew(sightings, now) {
      const at = now.toString();
      const written = await pMap(
        sightings,
        (sighting) => table.create(baselineItem(integration, sighting, at)),
        { concurrency: writesAtOnce },
      );
      return sightings.filter((_, index) => written[index]);
    },
  };
}

const progressIn = (item: Plain) => parse(stretchProgress, item, renamed(item, asFields));
