import pMap from 'p-map';
import * as z from 'zod/mini';
import type { FanOutLedger } from '../fan-out/parts.ts';
import { ledgerTable } from '../names.ts';
import { type PlannedRange, plannedRange, rangeProgress } from '../ports/planned-range.ts';
import { baselineItem } from './certification-item.ts';
import { isFree, isOurs } from './integration-state.ts';
import { parse, renamed, schemaVersion } from './item.ts';
import type { Plain, Table } from './table.ts';

/** DynamoDB has no condition for a batch; a new connection for each of these is cheap. */
const writesAtOnce = 32;

const planItem = z.object({
  begunAt: z.number(),
  stretches: z.array(z.omit(plannedRange.def.innerType, { begunAt: true })),
});

/**
 * What the fan-out of an integration's baseline keeps: one item for the plan, and one a range,
 * so that tasks that run at the same time never write to the same item.
 *
 *   plan     condition: there is none yet
 *   range    condition: nobody's, or run out; then: still ours
 */
export function dynamoFanOutLedger(table: Table, integration: string): FanOutLedger {
  const planKey = (begunAt: number) => `FANOUT#${integration}#${begunAt}`;
  /** No two ranges of a plan end on the same day. Items go on to say "stretch", as the first version did. */
  const keyOf = ({ begunAt, to }: PlannedRange) => `STRETCH#${integration}#${begunAt}#${to}`;
  const plan = async (begunAt: number) => {
    const item = await table.get(planKey(begunAt));
    if (item === undefined) return undefined;
    const { stretches } = parse(planItem, item, renamed(item));
    return stretches.map((planned) => ({ begunAt, ...planned }));
  };
  return {
    plan,
    async keepPlan(begunAt, ranges) {
      const planned = z.encode(planItem, { begunAt, stretches: [...ranges] });
      const isFirst = await table.create({
        [ledgerTable.partitionKey]: planKey(begunAt),
        // At most about a thousand ranges of 60 bytes each: far below an item's 400 KB.
        ...renamed(planned),
        schema: schemaVersion,
      });
      return isFirst ? ranges : ((await plan(begunAt)) ?? ranges);
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
        ...isFree(lease, now),
        returns: 'ALL_NEW',
      });
      return item && progressIn(item);
    },
    async keepProgress(range, lease, progress) {
      const encoded = z.encode(rangeProgress, { ...progress, bookmark: progress.bookmark });
      const set = renamed(encoded);
      return (await table.update(keyOf(range), { set, ...isOurs(lease) })) !== undefined;
    },
    async giveBackRange(range, lease) {
      const set = { lease_owner: undefined, lease_until: undefined };
      await table.update(keyOf(range), { set, ...isOurs(lease) });
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

const progressIn = (item: Plain) => parse(rangeProgress, item, renamed(item));
