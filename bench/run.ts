import { Command } from 'commander';
import { Temporal } from 'temporal-polyfill';
import { type Arena, openArena, type WorldWanted } from './arena.ts';
import {
  auditsOfAnHour,
  backdated,
  historyEdits,
  minutesOf,
  newToday,
  quietTick,
  randomDays,
  removed,
  settle,
  slowPartner,
} from './cases.ts';
import { awsReady, startChild } from './child.ts';
import { baselineCase, pendingDelivered } from './memory-cases.ts';
import { type ScoreRow, tableOf } from './score.ts';
import { seedLedger } from './seed.ts';
import { today } from './settings.ts';

const program = new Command('npm run bench --')
  .description('The tick on invented worlds: the changes that it finds, and its costs.')
  .option('--quick', 'smaller sizes, in less than a minute')
  .allowExcessArguments(false)
  .parse();
const { quick = false }: { quick?: boolean } = program.opts();

const small = 1_000;
const sizes = quick
  ? { middle: 3_000, large: 6_000, fewer: 1_000, window: 600, places: 4, pending: 1_000 }
  : { middle: 100_000, large: 1e6, fewer: 20_000, window: 10_000, places: 8, pending: 10_000 };
const aws = await startChild('aws-process.ts', {}, awsReady, ['--max-old-space-size=16000']);
const began = performance.now();
const rows: ScoreRow[] = [];
const size = (records: number) => records.toLocaleString('en');

function found(...more: readonly ScoreRow[]): void {
  rows.push(...more);
  const seconds = Math.round((performance.now() - began) / 1000);
  for (const { case: name } of more) console.error(`${seconds} s: ${name}`);
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

/** In a world that the tick knows, and whose ledger owes nothing. */
const inKnownWorld: typeof inWorld = (name, wanted, act) =>
  inWorld(name, wanted, async (arena) => {
    await settle(arena);
    await arena.measure();
    await act(arena);
  });

await inKnownWorld('small', { records: small, until: today }, async (arena) => {
  found(await quietTick(arena, size(small)), await auditsOfAnHour(arena, size(small)));
});

let smaller: ScoreRow | undefined;
await inWorld('fewer', { records: sizes.fewer, until: today }, async (arena) => {
  smaller = await baselineCase(arena, sizes.fewer);
  found(smaller);
});

await inWorld('middle', { records: sizes.middle, until: today }, async (arena) => {
  found(await baselineCase(arena, sizes.middle, quick ? undefined : smaller));
  await settle(arena);
  const label = size(sizes.middle);
  found(await quietTick(arena, label), await auditsOfAnHour(arena, label));
});

const fullDays = { records: 1_000, until: '2026-11-16' };
for (const [last, label] of [
  ['2026-11-19', 'none of them today'],
  [today, 'a quarter of them today'],
] as const) {
  const wanted = { ...fullDays, further: { records: sizes.window, last } };
  await inKnownWorld(`new-until-${last}`, wanted, async (arena) => {
    for (const count of [1, 10, 100]) {
      found(await newToday(arena, count, `${size(sizes.window)} in the window, ${label}`));
      await arena.measure();
    }
  });
}

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
  const { ledger, client } = arena.ticker;
  const read = [...days.slice(0, 170), ...places.flatMap(near), ...days.slice(-14)];
  await seedLedger({ ledger, client, clock: arena.clock }, days, new Set(quick ? days : read));
  await settle(arena);
  const label = size(sizes.large);
  found(
    await quietTick(arena, label),
    await backdated(arena, `ten years of ${label}`, places),
    await removed(arena, label, tenYearsBack),
    await auditsOfAnHour(arena, label),
  );
});

await inKnownWorld('delivery', { records: 100, until: today }, async (arena) => {
  const half = await pendingDelivered(arena, sizes.pending / 2);
  found(half, await pendingDelivered(arena, sizes.pending, half));
});

await inKnownWorld('edits', { records: sizes.window, until: today }, async (arena) => {
  // The first pass of the audits begins when all of the history is as old as the baseline.
  await minutesOf(arena, 120);
  found(await historyEdits(arena, size(sizes.window), 10));
});

found(await slowPartner(aws.ready, 3_000, 12));

await aws.stop();
console.log(tableOf(rows));
if (rows.some(({ target }) => !target.passed)) process.exitCode = 1;

function daysOf(first: string, last: string): string[] {
  const from = Temporal.PlainDate.from(first);
  const length = from.until(last, { largestUnit: 'days' }).days + 1;
  return Array.from({ length }, (_, after) => from.add({ days: after }).toString());
}
