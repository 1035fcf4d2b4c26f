import { Command } from 'commander';
import { Temporal } from 'temporal-polyfill';

const program = new Command('npm run test:at --')
  .description('Runs the tests as if they were started at another moment, in another time zone.')
  .argument('<moment>', '2026-11-22T00:01:00Z, or without the Z by the clocks of the zone')
  .argument('[files...]', 'test files, as for vitest; without them all tests')
  .option('--zone <zone>', 'of all processes', 'UTC')
  .parse();
const [moment = '', ...files] = program.args;
const { zone }: { zone: string } = program.opts();

const start = /(?:Z|[+-]\d\d:\d\d)$/.test(moment)
  ? Temporal.Instant.from(moment)
  : Temporal.PlainDateTime.from(moment).toZonedDateTime(zone).toInstant();
const shift = new URLSearchParams({
  by: String(start.epochMilliseconds - Date.now()),
  zone,
});

process.env.TZ = zone;
// Before Vitest, which keeps the Date that it finds.
await import(`./preload/shifted-clock.mjs?${shift}`);
console.log(`It is ${new Date()}`);
const { startVitest } = await import('vitest/node');
const vitest = await startVitest('test', files, { run: true, project: ['quick'] });
await vitest.close();
