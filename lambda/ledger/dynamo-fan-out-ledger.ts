import pMap, { pMapSkip } from 'p-map';
import * as z from 'zod/mini';
import type { Sighting } from '../detection/compare.ts';
import type { FanOutLedger } from '../fan-out/parts.ts';
import { ledgerKeys, ledgerTable } from '../names.ts';
import { type PlannedRange, plannedRange, rangeProgress } from '../ports/planned-range.ts';
import { type Lease, noLease } from '../ports/state.ts';
import { baselineItem } from './certification-item.ts';
import { isFree, isOurs } from './integration-state.ts';
import { parse, renamed, schemaVersion } from './item.ts';
import type { Plain, Table } from './table.ts';

/** DynamoDB has no condition in a batch, so items are written one by one, this many at once. */
const writesAtOnce = 32;

const planItem = z.object({
  begunAt: z.number(),
  stretches: z.array(z.omit(plannedRange.def.innerType, { begunAt: true })),
});

/**
 * The fan-out's items of an integration's baseline: one for the plan, and one for each range, so that
 * tasks that run at the same time never write to the same item.
 *
 *   plan     condition: there is none yet
 *   range    condition: its lease is free or has ended; then: the lease is still ours
 */
export function dynamoFanOutLedger(table: Table, integration: string): FanOutLedger {
  const planKey = (begunAt: number) => ledgerKeys.plan(integration, begunAt);
  /** No two ranges of a plan end on the same day. */
  const keyOf = ({ begunAt, to }: PlannedRange) =>
    ledgerKeys.range(integration, `${begunAt}#${to}`);
  const planIn = (item: Plain | undefined) => {
    if (item === undefined) return undefined;
    const { begunAt, stretches } = parse(planItem, item, renamed(item));
    return stretches.map((planned) => ({ begunAt, ...planned }));
  };
  const keep = async (range: PlannedRange, { owner }: Lease, set: Plain) => {
    const condition = { where: isOurs, values: { ':owner': owner } };
    return (await table.update(keyOf(range), { set, ...condition })) !== undefined;
  };
  return {
    plan: async (begunAt) => planIn(await table.get(planKey(begunAt))),
    async keepPlan(begunAt, ranges) {
      const planned = z.encode(planItem, { begunAt, stretches: [...ranges] });
      // At most about a thousand ranges of 60 bytes each: far below an item's 400 KB.
      const initial = { ...renamed(planned), schema: schemaVersion };
      const item = await table.update(planKey(begunAt), { initial, returns: 'ALL_NEW' });
      return planIn(item) ?? ranges;
    },
    async progressOf(ranges) {
      const keys = ranges.map(keyOf);
      const items = await table.getAll(keys);
      const byKey = new Map(items.map((item) => [item[ledgerTable.partitionKey], item]));
      return keys.map((key) => progressIn(byKey.get(key) ?? {}));
    },
    async takeRange(range, lease, now) {
      const { owner, until } = lease;
      const item = await table.update(keyOf(range), {
        set: { lease_owner: owner, lease_until: until.epochMilliseconds, schema: schemaVersion },
        where: isFree,
        values: { ':owner': owner, ':now': now.epochMilliseconds },
        returns: 'ALL_NEW',
      });
      return item && progressIn(item);
    },
    async keepProgress(range, lease, progress) {
      const encoded = z.encode(rangeProgress, { ...progress, bookmark: progress.bookmark });
      return keep(range, lease, renamed(encoded));
    },
    async giveBackRange(range, lease) {
      await keep(range, lease, renamed(noLease));
    },
    async recordNew(sightings, now) {
      const at = now.toString();
      const record = async (sighting: Sighting) => {
        const { [ledgerTable.partitionKey]: key, ...set } = baselineItem(integration, sighting, at);
        const where = `attribute_not_exists(${ledgerTable.partitionKey})`;
        return (await table.update(String(key), { set, where })) ? sighting : pMapSkip;
      };
      return pMap(sightings, record, { concurrency: writesAtOnce });
    },
  };
}

const progressIn = (item: Plain) => parse(rangeProgress, item, renamed(item));
