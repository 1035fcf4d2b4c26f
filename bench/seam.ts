import { MovingHost, type WorldShape } from '../test/lambda/partner/proven/moving-host.ts';
import { HOST_ORDERS, POOLS, readOnce, SIZES } from '../test/lambda/partner/proven/simulation.ts';

/** Proven reads of a world that changes: `node bench/seam.ts [reads per line]`. */
const reads = Number(process.argv[2] ?? 1000);
const usualReads = Math.min(reads, 100);

const table: Record<string, Record<string, string | number>> = {};
for (const { records, perDay } of SIZES) {
  for (const hostOrder of HOST_ORDERS) {
    for (const [poolName, pool] of Object.entries(POOLS)) {
      const line = {
        accepted: 0,
        lost: 0,
        'lost movers': 0,
        split: 0,
        mean: 0,
        max: 0,
        'over 1.3': 0,
      };
      let usualClientLost = 0;
      for (let seed = 1; seed <= reads; seed++) {
        const shape = { records, perDay, pool, hostOrder, churn: 0.3 };
        const { accepted, kind, lost, lostMovers, ratio } = await readOnce(shape, seed);
        if (accepted) line.lost += lost;
        if (accepted) line['lost movers'] += lostMovers;
        if (accepted) line.accepted += 1;
        if (kind === 'split') line.split += 1;
        line.mean += ratio / reads;
        if (ratio > 1.3) line['over 1.3'] += 1;
        if (seed <= usualReads && (await lostByUsualClient(shape, seed)) > 0) usualClientLost += 1;
        line.max = Math.max(line.max, ratio);
      }
      const name = `${records}, ${perDay} a day, ${hostOrder}, ${poolName}`;
      const row = {
        ...line,
        mean: line.mean.toFixed(3),
        max: line.max.toFixed(3),
        'usual client loses': `${usualClientLost} of ${usualReads}`,
      };
      table[name] = row;
      // The run takes long. If it is stopped, the finished rows have been shown.
      console.error(`${name}: ${JSON.stringify(row)}`);
    }
  }
}
console.table(table);

/** Number of stable records that the usual client misses, page after page until `offset >= count`. */
async function lostByUsualClient(shape: WorldShape, seed: number): Promise<number> {
  const host = new MovingHost(shape, seed);
  const { from, to } = host.range;
  const returned = new Set<number>();
  for (let offset = 0, count = 1; offset < count; offset += 100) {
    const filter = { start_date: from.toString(), end_date: to.toString() };
    const page = await host.list({ sort: 'certified_on', order: 'ASC', page: 100, offset, filter });
    for (const { id } of page.assessments) returned.add(id);
    count = page.meta.count;
  }
  return [...host.stable].filter((id) => !returned.has(id) && !host.movers.has(id)).length;
}
