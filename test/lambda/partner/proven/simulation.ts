import { Temporal } from 'temporal-polyfill';
import { proveRange } from '../../../../lambda/partner/proven/proven-read.ts';
import type { UserNameOrder } from '../../../../local/partner-sandbox/list.ts';
import { MovingHost, type WorldShape } from './moving-host.ts';
import type { PoolShape } from './name-pool.ts';

export const POOLS = {
  small: { firsts: 150, lasts: 200, skew: 0 },
  'small, skewed': { firsts: 150, lasts: 200, skew: 0.8 },
  large: { firsts: 1500, lasts: 5000, skew: 0.8 },
  'one name of 5 %': { firsts: 500, lasts: 2000, skew: 0.8, common: 0.05 },
} as const satisfies Record<string, PoolShape>;

export const SIZES = [
  { records: 250, perDay: 250 },
  { records: 1000, perDay: 17 },
  { records: 3000, perDay: 75 },
  { records: 2000, perDay: 250 },
] as const;

export const HOST_ORDERS = ['name', 'last_name'] as const satisfies UserNameOrder[];

const instant = Temporal.Instant.from('2026-11-21T08:00:00Z');

export async function readOnce(shape: WorldShape, seed: number) {
  const host = new MovingHost(shape, seed);
  const read = await proveRange(host, host.range, instant.add({ hours: 1 }));
  const returned = new Set(read.assessments.map(({ id }) => id));
  const missing = [...host.stable].filter((id) => !returned.has(id));
  return {
    accepted: read.proof !== undefined,
    kind: read.proof ?? 'unproven',
    /** Records that were present throughout, on one day, and not returned. */
    lost: missing.filter((id) => !host.movers.has(id)).length,
    /** The same, on more than one day. */
    lostMovers: missing.filter((id) => host.movers.has(id)).length,
    /** Requests over the least possible number. */
    ratio: host.requests / Math.max(1, Math.ceil(shape.records / 100)),
  };
}
