import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { TickJournal } from '../lambda/journal.ts';
import type { TickReport } from '../lambda/tick/report.ts';
import { ManualClock } from '../test/scaffold/clock.ts';
import { awsReady, partnerReady, startChild } from './child.ts';
import { type CostMeasured, type TickUnits, tickUnits } from './cost-measured.ts';
import { IndexWrites } from './index-writes.ts';
import { Meter } from './meter.ts';
import { spreadAudits } from './seed.ts';
import { integration, now, today } from './settings.ts';
import { Subscriber } from './subscriber.ts';
import { createTicker } from './ticker.ts';

/**
 * Measures the figures that docs/measured/cost.md calculates with: `node bench/cost.ts`, a few minutes. The
 * embedded DynamoDB counts units of the ledger, with AWS's rules for indexes. The clients count calls, and the
 * function's journal counts log bytes. Then `npm run generate` writes the page.
 */
const file = fileURLToPath(new URL('cost-measured.json', import.meta.url));
/** More than a tick finds under any schedule here, so the gate holds nothing. */
const holdAbove = 10_000;
const rounds = 3;

const aws = await startChild('aws-process.ts', {}, awsReady, ['--max-old-space-size=8000']);
const reader = new DynamoDBClient({
  endpoint: aws.ready.dynamodb,
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
});

/**
 * @param perDay new certifications; half of today's exist already, as at noon
 * @param daysBefore full days of the world before today
 */
async function inWorld(
  perDay: number,
  daysBefore: number,
  act: (world: {
    tick(): Promise<TickUnits>;
    add(count: number): Promise<void>;
    hourOfAudits(): Promise<TickUnits>;
  }) => Promise<void>,
) {
  const name = `${integration}-${perDay}`;
  const yesterday = '2026-11-19';
  const partner = await startChild(
    'partner-process.ts',
    { records: Math.max(1_000, Math.round(perDay * daysBefore)), until: yesterday },
    partnerReady,
  );
  const meter = new Meter(aws.ready);
  const indexWrites = new IndexWrites(meter.dynamodb, reader, aws.ready.table);
  const clock = new ManualClock(now);
  const topic = async (what: string) =>
    (await Subscriber.to(`${name}-${what}`, meter.sns, aws.ready.messaging)).topic;
  let requests = 0;
  const ticker = createTicker({
    partner: partner.ready,
    world: name,
    clock,
    dynamodb: meter.dynamodb,
    sns: meter.sns,
    table: aws.ready.table,
    topics: {
      events: await topic('events'),
      alerts: await topic('alerts'),
      operations: await topic('operations'),
    },
    holdAbove,
    onRequest: () => {
      requests += 1;
    },
  });
  const add = async (count: number, certified_on = today) => {
    for (let left = count; left > 0; left -= 1_000) {
      const response = await fetch(`${partner.ready.url}/_sandbox/assessments`, {
        method: 'POST',
        body: JSON.stringify({ count: Math.min(left, 1_000), certified_on }),
      });
      if (!response.ok) throw new Error(`The sandbox refuses: ${await response.text()}`);
      await response.arrayBuffer();
    }
  };
  const tick = async (): Promise<TickUnits> => {
    meter.take();
    indexWrites.take();
    requests = 0;
    const began = performance.now();
    const report = await ticker.tick();
    const durationMs = performance.now() - began;
    const { readUnits, writeUnits, publishes, calls } = meter.take();
    return {
      news: report.created,
      requests,
      readUnits,
      tableWriteUnits: writeUnits,
      indexWriteUnits: indexWrites.take(),
      ledgerCalls: Object.values(calls).reduce((sum, count) => sum + count, 0),
      publishes,
      logBytes: logBytesOf(report, requests, durationMs),
    };
  };
  await add(Math.round(perDay / 2));
  for (;;) {
    await ticker.tick();
    const state = await ticker.ledger.state();
    if (state.baseline.status === 'completed' && state.dirtySince === undefined) break;
    clock.advance({ minutes: 1 });
  }
  const settled = async () => {
    await spreadAudits(ticker.ledger, clock);
    await ticker.tick();
    await ticker.tick();
  };
  await settled();
  await act({
    tick,
    add,
    hourOfAudits: async () => {
      await spreadAudits(ticker.ledger, clock);
      const ticks: TickUnits[] = [];
      for (let minute = 0; minute < 60; minute++) {
        clock.advance({ minutes: 1 });
        ticks.push(await tick());
      }
      return sumOf(ticks);
    },
  });
  await ticker.close();
  await partner.stop();
  meter.close();
}

function sumOf(ticks: readonly TickUnits[]): TickUnits {
  const total = (of: (tick: TickUnits) => number) => ticks.reduce((sum, one) => sum + of(one), 0);
  return {
    news: total(({ news }) => news),
    requests: total(({ requests }) => requests),
    readUnits: total(({ readUnits }) => readUnits),
    tableWriteUnits: total(({ tableWriteUnits }) => tableWriteUnits),
    indexWriteUnits: total(({ indexWriteUnits }) => indexWriteUnits),
    ledgerCalls: total(({ ledgerCalls }) => ledgerCalls),
    publishes: total(({ publishes }) => publishes),
    logBytes: total(({ logBytes }) => logBytes),
  };
}

/** The size of the log lines that the deployed function writes for a tick, with its Lambda context. */
function logBytesOf(report: TickReport, requests: number, durationMs: number): number {
  const ledgerName = 'certification-notifier-NotifierLedgerTableB61FFCC6-1A2B3C4D5E6F';
  const journal = new TickJournal(integration, ledgerName);
  const functionName = 'certification-notifier-NotifierdistrictaPoll1A2B3C4D-aB1cD2eF3gH4';
  journal.begin({
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:us-east-1:111122223333:function:${functionName}`,
    memoryLimitInMB: '512',
    awsRequestId: 'c6af9ac6-7b61-11e6-9a41-93e812345678',
    logGroupName: '',
    logStreamName: '',
    getRemainingTimeInMillis: () => 0,
    done: () => {},
    fail: () => {},
    succeed: () => {},
  });
  const write = process.stdout.write;
  let bytes = 0;
  process.stdout.write = (text: string | Uint8Array) => {
    bytes += Buffer.byteLength(text);
    return true;
  };
  try {
    journal.completed({ ...report, requests, durationMs });
  } finally {
    process.stdout.write = write;
  }
  return bytes;
}

/** The mean size of a delivered certification's item, as DynamoDB counts it: names and values. */
async function itemBytes(): Promise<number> {
  const { Items = [] } = await reader.send(
    new ScanCommand({ TableName: aws.ready.table, Limit: 1_000 }),
  );
  const certifications = Items.map((item) => unmarshall(item)).filter(({ pk }) =>
    String(pk).startsWith('CERT#'),
  );
  const sizes = certifications.map((item) => Buffer.byteLength(JSON.stringify(item)));
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / sizes.length);
}

const mean = (ticks: readonly TickUnits[]): TickUnits => {
  const { length } = ticks;
  const sum = Object.entries(sumOf(ticks)).map(([name, value]) => [name, value / length]);
  return tickUnits.parse(Object.fromEntries(sum));
};

const worlds: CostMeasured['worlds'] = [];
for (const { perDay, daysBefore, news } of [
  { perDay: 10, daysBefore: 365, news: [1] },
  { perDay: 1_000, daysBefore: 20, news: [1, 3, 10] },
  { perDay: 50_000, daysBefore: 0.5, news: [35, 174, 521] },
])
  await inWorld(perDay, daysBefore, async ({ tick, add, hourOfAudits }) => {
    const quiet = await tick();
    const withNews: TickUnits[] = [];
    for (const count of news) {
      const ticks: TickUnits[] = [];
      for (let round = 0; round < rounds; round++) {
        await add(count);
        ticks.push(await tick());
        await tick();
      }
      withNews.push(mean(ticks));
      console.error(`${perDay} a day, ${count} new: ${JSON.stringify(withNews.at(-1))}`);
    }
    worlds.push({ perDay, quiet, news: withNews, hourOfAudits: await hourOfAudits() });
    console.error(JSON.stringify(worlds.at(-1)));
  });
const on = new Date().toISOString().slice(0, 10);
const measured: CostMeasured = { on, itemBytes: await itemBytes(), worlds };
writeFileSync(file, `${JSON.stringify(measured, null, 2)}\n`);
await aws.stop();
reader.destroy();
