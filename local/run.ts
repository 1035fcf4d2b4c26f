import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DeploymentDoor, serveConsole } from '../console/index.ts';
import { parseConfig } from '../infra/config.ts';
import { demoConfig } from '../infra/demo.ts';
import { loadConfig } from '../infra/load-config.ts';
import { environment as names } from '../lambda/names.ts';
import { type HostInput, hostOf, type OpsHost } from '../ops/host.ts';
import { calendarZone, showsColours } from '../ops/terminal.ts';
import type { EmbeddedAws } from './aws/index.ts';
import type { LocalPlan } from './aws/interpret.ts';
import { parseStartFlags, type StartFlags } from './flags.ts';
import { settingsIn, withSettings } from './function-settings.ts';
import { claimInstance, localDirectory } from './instance.ts';
import { paced } from './pace.ts';
import {
  certifyEveryMs,
  flagsFor,
  hostOfTheStack,
  partnerHost,
  type Watched,
  watchedIntegrations,
} from './partner-host.ts';
import { portsFor } from './ports.ts';
import { runProgram } from './program.ts';
import { Screen } from './screen.ts';
import { Seen } from './seen.ts';

const configFile = fileURLToPath(new URL('../notifier.config.ts', import.meta.url));

/** `npm start` takes these from its process; a test passes others. */
type LocalHost = Pick<HostInput, 'streams' | 'environment' | 'timeZone' | 'stopping' | 'clock'>;

/**
 * `npm start`: the whole system on this machine, shown on the terminal and in the console.
 *
 * @returns the exit code, once all output is written: 1 when a tick failed, or nothing could be started
 */
export function run(argv: readonly string[], host: LocalHost): Promise<number> {
  return runProgram(host, () => start(parseStartFlags(argv, host), hostOf(host)));
}

/** @returns the exit code: 1 when a tick failed */
async function start(flags: StartFlags, host: OpsHost): Promise<number> {
  const { environment, stopping, clock } = host;
  const screen = screenOf(host);
  await using cleanup = new AsyncDisposableStack();

  const config = flags.demo
    ? parseConfig(demoConfig)
    : await loadConfig(flags.config ?? configFile);
  const integrations = watchedIntegrations(config, flags);
  const directory = localDirectory(environment);
  const instance = await claimInstance(directory, clock.now());
  cleanup.defer(() => instance.remove());
  const ports = await portsFor(flags.port);

  // The console starts first, since everything else takes long to load. Its page shows the present step.
  const seen = new Seen({ clock, isReal: flags.baseUrl !== undefined });
  const door = cleanup.use(
    new DeploymentDoor({ local: true, title: config.stackName }, asNpmScript(host), seen),
  );
  seen.begin('reading the configuration');
  const served = cleanup.use(await serveConsole(door, ports.console));
  seen.tell(served.changed);
  screen.heading(`${config.stackName} on this machine`, [
    ['console', `${served.url}  to be opened in a browser`],
  ]);
  const step = async <Result>(what: string, act: () => Promise<Result>): Promise<Result> => {
    stopping.signal.throwIfAborted();
    screen.step(what);
    seen.begin(what);
    // Loading blocks the event loop, so requests are answered before the next module is loaded.
    await turn();
    return act();
  };

  const watched = await step('starting the partner', () =>
    Array.fromAsync(integrations.entries(), async ([index, integration]): Promise<Watched> => {
      const at = { port: index === 0 ? ports.partner : 0, clock };
      const host = flags.demo
        ? hostOfTheStack
        : await partnerHost(flagsFor(flags, index), integration, at);
      cleanup.defer(() => host.close());
      return { integration, host };
    }),
  );
  const every = flags.every ?? Math.min(...watched.map(({ host }) => host.every));
  const assembly = await step('synthesizing the stack, if it has changed', async () => {
    const { assemblyFor } = await import('./assembly-cache.ts');
    const watchedOnly = { ...config, integrations: [...integrations] };
    const { signal } = stopping;
    return assemblyFor(watchedOnly, join(directory, 'assemblies'), { signal, demo: flags.demo });
  });
  const { Faults } = await import('./provoking/faults.ts');
  const faults = cleanup.use(new Faults());
  const aws = await step('starting DynamoDB, SNS, SQS and the functions', async () => {
    const { startEmbeddedAws } = await import('./aws/index.ts');
    return startEmbeddedAws(assembly, {
      ports,
      adjust: (plan) => paced(atTheirHosts(plan, watched), every, clock.now()),
      endpointOverrides: (endpoints) => faults.open(endpoints),
      onOutput: (line) => screen.output(line),
    });
  });
  cleanup.defer(() => aws.close());
  // The addresses for other programs of this checkout.
  await instance.publish({
    region: aws.region,
    endpoints: { ...aws.endpoints },
    functions: Object.fromEntries(
      [...aws.functions].map(([name, { environment }]) => [name, { ...environment }]),
    ),
  });
  const { watchSchedules } = await step('subscribing to the topics', async () => {
    await served.load();
    return import('./watch.ts');
  });

  screen.heading('Everything is ready', factsOf(watched, flags, aws, every));
  if (flags.baseUrl !== undefined)
    screen.warning('This is a real host: real personal data will be shown on this terminal.\n');
  await watchSchedules({
    aws,
    hosts: new Map(watched.map(({ integration, host }) => [integration.name, host])),
    faults,
    screen,
    seen,
    everyMs: every * 1000,
    clock,
    ticks: flags.ticks,
    stop: stopping.signal,
  });
  screen.summary();
  return screen.tally.failedTicks > 0 ? 1 : 0;
}

function screenOf({ streams, environment, timeZone, clock }: OpsHost): Screen {
  return new Screen({
    timeOfDay: () =>
      clock
        .now()
        .toZonedDateTimeISO(calendarZone(timeZone))
        .toPlainTime()
        .toString({ smallestUnit: 'second' }),
    write: (line) => streams.output.write(`${line}\n`),
    isColoured: showsColours(streams.output, environment),
  });
}

/** A page shows commands as they can be typed in this checkout. */
function asNpmScript(host: OpsHost): OpsHost {
  return { ...host, environment: { ...host.environment, npm_lifecycle_event: 'ops' } };
}

/** The stack, with the partners of this machine in the functions' settings. */
function atTheirHosts(plan: LocalPlan, watched: readonly Watched[]): LocalPlan {
  const urls = new Map(watched.map(({ integration, host }) => [integration.name, host.url]));
  return withSettings(plan, ({ name, baseUrl }) => ({ baseUrl: urls.get(name) ?? baseUrl }));
}

function factsOf(
  watched: readonly Watched[],
  flags: StartFlags,
  aws: EmbeddedAws,
  every: number,
): [name: string, value: string][] {
  const partner = ({ url, sandbox }: Watched['host']) => {
    if (flags.demo)
      return `${partnerAskedBy(aws)}  a function of the stack: invented people, a change every ${2 * every} s`;
    return sandbox
      ? `${url}  sandbox: invented people, a new assessment every ${certifyEveryMs / 1000} s`
      : `${url}, with the credentials in ${flags.credentials}`;
  };
  const facts: [string, string][] = [
    ...watched.flatMap(({ integration, host }): [string, string][] => [
      ['integration', `${integration.name}, days in ${integration.timeZone}`],
      ['partner', partner(host)],
    ]),
    [
      'commands',
      'in another terminal: npm run ops -- status --local (or explain ID, watch, --help)',
    ],
    ['DynamoDB', `${aws.endpoints.dynamodb}  ${aws.tables.join(', ')}`],
    ['SNS and SQS', aws.endpoints.sns],
    ['Lambda', aws.endpoints.lambda],
    ['schedule', `a tick every ${every} s; Ctrl-C ends it, and nothing is kept`],
  ];
  if (watched.some(({ host }) => host.sandbox))
    facts.push(['Provoke', 'a page of the console: try to make it lose an event']);
  return facts;
}

/** The URL in the settings of the first integration's function. */
function partnerAskedBy({ functions }: EmbeddedAws): string | undefined {
  const told = [...functions.values()].find(({ environment }) => names.integration in environment);
  return told && settingsIn(told.environment).baseUrl;
}
