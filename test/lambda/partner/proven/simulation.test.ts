import { describe, expect, it } from 'vitest';
import type { UserNameOrder } from '../../../../local/partner-sandbox/list.ts';
import { HOST_ORDERS, POOLS, readOnce, SIZES } from './simulation.ts';

/** There are few reads here. `node bench/seam.ts` makes a thousand of each. */
const READS = 5;

const seeds = Array.from({ length: READS }, (_, index) => index + 1);
const worlds = SIZES.flatMap((size) =>
  HOST_ORDERS.flatMap((hostOrder) =>
    (['small', 'large', 'one name of 5 %'] as const).map((pool) => ({ ...size, hostOrder, pool })),
  ),
);

describe('a proven read of a changing world', () => {
  it.each(worlds)(
    'is accepted, loses nothing and costs at most 1.3 times the least: $records records, $perDay a day, ordered by $hostOrder, names: $pool',
    async ({ pool, ...size }) => {
      for (const seed of seeds) {
        const outcome = await readOnce({ ...size, pool: POOLS[pool], churn: 0.3 }, seed);
        expect({ seed, ...outcome }).toMatchObject({ accepted: true, lost: 0 });
        expect(outcome.ratio, `seed ${seed}`).toBeLessThanOrEqual(1.3);
      }
    },
  );

  it.each<[UserNameOrder, number]>([
    ['name', 0],
    ['last_name', 0],
    ['first_name', 0],
    ['last_then_first', 0],
    ['ignored', 0],
    // The host hides the names of some records.
    ['last_name', 0.2],
  ])(
    'never calls an incomplete range complete, even if the host is in uproar, orders by %s, and hides a share of %d of the names',
    async (hostOrder, nameless) => {
      const size = { records: 600, perDay: 150, pool: POOLS.small, hostOrder, nameless };
      for (const seed of seeds) {
        const { accepted, lost } = await readOnce({ ...size, churn: 0.8, burst: 25 }, seed);
        expect(accepted ? lost : 0, `seed ${seed}`).toBe(0);
      }
    },
  );

  it('loses no record that changes its day, unless it is split by days', async () => {
    for (const seed of seeds) {
      const size = { records: 1000, perDay: 17, pool: POOLS.large };
      const outcome = await readOnce({ ...size, hostOrder: 'last_name', churn: 1 }, seed);
      expect(outcome).toMatchObject({ kind: 'key-seam', lost: 0, lostMovers: 0 });
    }
  });
});
