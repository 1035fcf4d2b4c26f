import { fileURLToPath } from 'node:url';
import { loadConfig } from '../infra/load-config.ts';
import { systemClock } from '../lambda/clock.ts';
import type { HostInput } from '../ops/host.ts';
import { calendarZone, showsColours } from '../ops/terminal.ts';
import { assemblyFor } from './assembly-cache.ts';
import { startEmbeddedAws } from './aws/index.ts';
import { type Flags, parseFlags } from './flags.ts';
import { withSettings } from './function-settings.ts';
import { claimInstance, localDirectory } from './instance.ts';
import { paced } from './pace.ts';
import {
  certifyEveryMs,
  flagsFor,
  partnerHost,
  type Watched,
  watchedIntegrations,
} from './partner-host.ts';
import { runProgram } from './program.ts';
import { Screen } from './screen.ts';
import { watch } from './watch.ts';

const configFile = fileURLToPath(new URL('../notifier.config.ts', import.meta.url));

/** What `npm start` takes from its process; a test hands over something else. */
type Host = Pick<HostInput, 'streams' | 'environment' | 'timeZone' | 'stopping' | 'clock'>;

/**
 * `npm start`: everything on this machine, told on the terminal.
 *
 * @returns the exit code, once everything that was told is written: 1 when a tick failed, or nothing
 *   could be started
 */
export function run(argv: readonly string[], host: Host): Promise<number> {
  return runProgram(host, () => start(parseFlags(argv, host), host));
}

/** @returns the exit code: 1 when a tick failed */
async function start(
  flags: Flags,
  { streams, environment, timeZone, stopping, clock = systemClock }: Host,
): Promise<number> {
  const { signal: stop } = stopping;
  const screen = new Screen({
    timeOfDay: () =>
      clock
        .now()
        .toZonedDateTimeISO(calendarZone(timeZone))
        .toPlainTime()
        .toString({ smallestUnit: 'second' }),
    write: (line) => streams.output.write(`${line}\n`),
    isColoured: showsColours(streams.output, environment),
  });
  await using cleanup = new AsyncDisposableStack();

  const config = await loadConfig(flags.config ?? configFile);
  const integrations = watchedIntegrations(config, flags);
  const instance = await claimInstance(localDirectory(environment), clock.now());
  cleanup.defer(() => instance.remove());
  const watched: Watched[] = [];
  for (const [index, integration] of integrations.entries()) {
    const host = await partnerHost(flagsFor(flags, index), integration, clock);
    cleanup.defer(() => host.close());
    watched.push({ integration, host });
  }
  const every = flags.every ?? Math.min(...watched.map(({ host }) => host.every));
  const urls = new Map(watched.map(({ integration, host }) => [integration.name, host.url]));
  const assembly = await assemblyFor(
    { ...config, integrations: [...integrations] },
    instance.assembly,
    stop,
  );
  const aws = await startEmbeddedAws(assembly, {
    adjust: (plan) =>
      paced(
        withSettings(plan, ({ name, baseUrl }) => ({ baseUrl: urls.get(name) ?? baseUrl })),
        every,
      ),
    onOutput: (line) => screen.output(line),
  });
  cleanup.defer(() => aws.close());
  await instance.publish({
    region: aws.region,
    endpoints: { ...aws.endpoints },
    functions: Object.fromEntries(
      [...aws.functions].map(([name, { environment }]) => [name, { ...environment }]),
    ),
  });

  screen.heading(`${config.stackName} on this machine`, [
    ...watched.flatMap(({ integration, host }): [string, string][] => [
      ['integration', `${integration.name}, days in ${integration.timeZone}`],
      [
        'partner',
        host.isSandbox
          ? `${host.url}  sandbox: invented people, a new assessment every ${certifyEveryMs / 1000} s`
          : `${host.url}, with the credentials in ${flags.credentials}`,
      ],
    ]),
    [
      'commands',
      'in another terminal: npm run ops -- status --local (or explain ID, watch, --help)',
    ],
    ['DynamoDB', `${aws.endpoints.dynamodb}  ${aws.tables.join(', ')}`],
    ['SNS and SQS', aws.endpoints.sns],
    ['schedule', `a tick every ${every} s; Ctrl-C ends it, and nothing is kept`],
  ]);
  if (watched.some(({ host }) => !host.isSandbox)) {
    screen.warning('This is a real host: real personal data will be shown on this terminal.\n');
  }
  await watch({
    aws,
    credentials: new Map(
      watched.map(({ integration, host }) => [integration.name, host.credentials]),
    ),
    screen,
    everyMs: every * 1000,
    clock,
    ticks: flags.ticks,
    stop,
  });
  screen.summary();
  return screen.tally.failedTicks > 0 ? 1 : 0;
}
