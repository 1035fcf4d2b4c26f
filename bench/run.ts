import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { Temporal } from 'temporal-polyfill';
import { type Arena, openArena, type WorldWanted } from './arena.ts';
import {
  auditsOfAnHour,
  backdated,
  newToday,
  quietTick,
  randomDays,
  removed,
  settle,
  unrest,
} from './cases.ts';
import { awsReady, startChild } from './child.ts';
import { coldStart } from './cold-start-case.ts';
import { endBySignals } from './deployed.ts';
import { baselineCase, pendingDelivered } from './memory-cases.ts';
import { type ScoreRow, tableOf } from './score.ts';
import { seedLedger } from './seed.ts';
import { today } from './settings.ts';
import { crashLoop, historyEdits, minutes, slowPartner } from './trouble-cases.ts';

const program = new Command('npm run bench --')
  .description('This tick against two usual pollers, on one world, counted by the other side.')
  .option('--quick', 'smaller sizes, in less than a minute')
  .option('--whole-ledger', 'seed every certification of the largest history, not only those read')
  .option('--json <file>', 'write the rows there as well')
  .allowExcessArguments(false)
  .parse();
const options: { quick?: boolean; wholeLedger?: boolean; json?: string } = program.opts();

const small = 1_000;
const sizes = options.quick
  ? { middle: 3_000, large: 6_000, fewer: 1_000, window: 600, places: 4, pending: 1_000 }
  : { middle: 100_000, large: 1e6, fewer: 20_000, window: 10_000, places: 8, pending: 10_000 };
endBySignals();
const aws = await startChild('aws-process.ts', {}, awsReady, ['--max-old-space-size=16000']);
const began = performance.now();
const rows: ScoreRow[] = [];
const size = (records: number) => records.toLocaleString('en');

function found(...more: readonly ScoreRow[]): void {
  rows.push(...more);
  const seconds = Math.round((performance.now() - began) / 1000);
  for (const { case: name } of more.slice(0, 1)) console.error(`${seconds} s: ${name}`);
}

/** All contenders know the world, and the ledger owes nothing. */
async function begin(arena: Arena): Promise<void> {
  await settle(arena);
  await arena.startPollers();
  await arena.run('ours');
}

async function inWorld(
  name: string,
  wanted: WorldWanted,
  act: (arena: Arena) => Promise<void>,
): Promise<void> {
  const arena = await openArena(name, wanted, aws.ready);
  try {
    await act(arena);
    for (const warning of arena.ticker.warnings) console.error(`warning in ${name}: ${warning}`);
  } finally {
    await arena.close();
  }
}

await inWorld('small', { records: small, until: today }, async (arena) => {
  found(...(await coldStart(arena, options.quick ? 5 : 21)));
  await begin(arena);
  found(...(await quietTick(arena, size(small))));
  found(...(await auditsOfAnHour(arena, size(small))));
});

let smaller: ScoreRow | undefined;
await inWorld('fewer', { records: sizes.fewer, until: today }, async (arena) => {
  smaller = await baselineCase(arena, sizes.fewer);
  found(smaller);
});

await inWorld('middle', { records: sizes.middle, until: today }, async (arena) => {
  found(await baselineCase(arena, sizes.middle, options.quick ? undefined : smaller));
  await arena.startPollers();
  await settle(arena);
  found(...(await quietTick(arena, size(sizes.middle))));
  found(...(await auditsOfAnHour(arena, size(sizes.middle))));
});

const lastDays = { records: sizes.window, last: '2026-11-19' };
for (const count of [1, 10, 100])
  await inWorld(
    `new-${count}`,
    { records: 1_000, until: '2026-11-16', further: lastDays },
    async (arena) => {
      await begin(arena);
      const label = `${size(sizes.window)} in the window, none of them today`;
      found(...(await newToday(arena, count, label)));
    },
  );
await inWorld(
  'new-on-full-day',
  { records: 1_000, until: '2026-11-16', further: { records: sizes.window, last: today } },
  async (arena) => {
    await begin(arena);
    const label = `${size(sizes.window)} in the window, a quarter of them today`;
    for (const count of [1, 100]) {
      found(...(await newToday(arena, count, label)));
      await arena.run('ours');
    }
  },
);

const largeWorld = {
  records: sizes.large / 5,
  until: '2018-11-20',
  further: { records: (sizes.large * 4) / 5, last: today },
};
await inWorld('large', largeWorld, async (arena) => {
  const days = daysOf('2016-11-21', today);
  const places = randomDays(days, sizes.places);
  const tenYearsBack = days.slice(3, 3 + Math.ceil(sizes.places / 2));
  const near = (place: string) => {
    const at = days.indexOf(place);
    return days.slice(Math.max(0, at - 7), at + 8);
  };
  const recorded =
    options.wholeLedger || options.quick
      ? days
      : [...days.slice(0, 170), ...places.flatMap(near), ...days.slice(-14)];
  await seedLedger(
    { ledger: arena.ticker.ledger, client: arena.ticker.client, clock: arena.clock },
    days,
    new Set(recorded),
  );
  await arena.startPollers();
  await settle(arena);
  const label = size(sizes.large);
  found(...(await quietTick(arena, label)));
  found(...(await backdated(arena, `ten years of ${label}`, places)));
  found(...(await removed(arena, `${label}`, tenYearsBack)));
  found(...(await auditsOfAnHour(arena, label)));
});

await inWorld('unrest', { records: 2_000, until: today, unstableTies: true }, async (arena) => {
  await settle(arena);
  await arena.startPollers();
  found(...(await unrest(arena, options.quick ? 30 : 60)));
});

await inWorld('delivery', { records: 100, until: today }, async (arena) => {
  await settle(arena);
  const smaller = await pendingDelivered(arena, sizes.pending / 2);
  found(...smaller);
  found(...(await pendingDelivered(arena, sizes.pending, smaller)));
});

await inWorld('edits', { records: sizes.window, until: today }, async (arena) => {
  await settle(arena);
  await arena.startPollers();
  // The first pass of the audits begins when all of the history is as old as the baseline.
  await minutes(arena, 120);
  found(...(await historyEdits(arena, size(sizes.window), 10)));
});

await inWorld('deaths', { records: 100, until: today }, async (arena) => {
  await settle(arena);
  found(...(await crashLoop(arena, 400, 20)));
});

found(await slowPartner(aws.ready, 3_000, 12));

await aws.stop();
console.log(tableOf(rows));
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(rows, null, 2)}\n`);
if (rows.some(({ target }) => target?.passed === false)) process.exitCode = 1;

function daysOf(first: string, last: string): string[] {
  const from = Temporal.PlainDate.from(first);
  const length = from.until(last, { largestUnit: 'days' }).days + 1;
  return Array.from({ length }, (_, after) => from.add({ days: after }).toString());
}
