import { writeFileSync } from 'node:fs';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type Arena, openArena } from './arena.ts';
import { addOn, settle } from './cases.ts';
import { awsReady, startChild } from './child.ts';
import { clientOptions } from './meter.ts';
import { spreadAudits } from './seed.ts';
import { integration, today } from './settings.ts';

/**
 * Measures the figures that docs/measured/cost.md calculates with: `node bench/cost.ts`, a few minutes. The
 * embedded DynamoDB counts units of the table, and the clients count calls. Then `npm run generate` writes the page.
 */

/** New certifications a day, full days before today, and the news of ticks. */
const wanted = [
  { perDay: 10, daysBefore: 365, news: [1] },
  { perDay: 1_000, daysBefore: 20, news: [1, 3, 10] },
  { perDay: 50_000, daysBefore: 0.5, news: [35, 174, 521] },
];

const aws = await startChild('aws-process.ts', {}, awsReady, ['--max-old-space-size=8000']);
const reader = new DynamoDBClient({ ...clientOptions, endpoint: aws.ready.dynamodb });
const worlds = [];
for (const { perDay, daysBefore, news } of wanted) {
  const records = Math.max(1_000, Math.round(perDay * daysBefore));
  const world = { records, until: '2026-11-19' };
  // More than a tick finds under any schedule here, so the gate holds nothing.
  const gate = { holdAbove: 10_000 };
  const arena = await openArena(`${integration}-${perDay}`, world, aws.ready, gate);
  // Half of today's exist already, as at noon.
  await add(arena, perDay / 2);
  await settle(arena);
  await spreadAudits(arena.ticker.ledger, arena.clock);
  for (let tick = 0; tick < 2; tick++) await minute();
  const quiet = await minute();
  const withNews = [];
  for (const count of news) {
    const ticks = [];
    for (let round = 0; round < 3; round++) {
      await add(arena, count);
      ticks.push(await minute());
      await minute();
    }
    withNews.push(sumOf(ticks, ticks.length));
  }
  await spreadAudits(arena.ticker.ledger, arena.clock);
  const hour = [];
  for (let count = 0; count < 60; count++) hour.push(await minute(1));
  worlds.push({ perDay, quiet, news: withNews, hourOfAudits: sumOf(hour) });
  console.error(JSON.stringify(worlds.at(-1)));
  await arena.close();

  /** A tick, so many minutes after the one before. */
  async function minute(minutes = 0) {
    arena.clock.advance({ minutes });
    const { requests, readUnits, writeUnits, publishes, calls, heard } = await arena.measure();
    return {
      ...{ news: heard.length, requests, readUnits, tableWriteUnits: writeUnits },
      ...{ ledgerCalls: calls, publishes },
    };
  }
}
const on = new Date().toISOString().slice(0, 10);
const text = JSON.stringify({ on, itemBytes: await itemBytes(), worlds }, null, 2);
writeFileSync(new URL('cost-measured.json', import.meta.url), `${text}\n`);
await aws.stop();
reader.destroy();

async function add(arena: Arena, count: number): Promise<void> {
  for (let left = Math.round(count); left > 0; left -= 1_000)
    await addOn(arena, today, Math.min(left, 1_000));
}

/** The sums of each unit, or a part of them. */
function sumOf(ticks: readonly Readonly<Record<string, number>>[], parts = 1) {
  const total = (unit: string) => ticks.reduce((sum, one) => sum + (one[unit] ?? 0), 0) / parts;
  return Object.fromEntries(Object.keys(ticks[0] ?? {}).map((unit) => [unit, total(unit)]));
}

/** The mean size of a delivered certification's item, as DynamoDB counts it: names and values. */
async function itemBytes(): Promise<number> {
  const { Items = [] } = await reader.send(
    new ScanCommand({ TableName: aws.ready.table, Limit: 1_000 }),
  );
  const sizes = Items.map((item) => unmarshall(item))
    .filter(({ pk }) => String(pk).startsWith('CERT#'))
    .map((item) => Buffer.byteLength(JSON.stringify(item)));
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / sizes.length);
}
