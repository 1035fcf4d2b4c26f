/** The program of `npm start`: everything on this machine, told on the terminal. */
import { fileURLToPath } from 'node:url';
import { Temporal } from 'temporal-polyfill';
import { loadConfig } from '../infra/load-config.ts';
import { systemClock as clock } from '../lambda/clock.ts';
import { NotifierError } from '../lambda/errors.ts';
import { assemblyFor } from './assembly-cache.ts';
import { startEmbeddedAws } from './aws/index.ts';
import { isSystemError, StartError, StoppedError } from './errors.ts';
import { type Flags, fromCaller, parseFlags } from './flags.ts';
import { withSettings } from './function-settings.ts';
import { claimInstance, localDirectory } from './instance.ts';
import { paced } from './pace.ts';
import {
  adviceOnFlags,
  certifyEveryMs,
  flagsFor,
  partnerHost,
  type Watched,
  watchedIntegrations,
} from './partner-host.ts';
import { Screen } from './screen.ts';
import { watch } from './watch.ts';

const configFile = fileURLToPath(new URL('../notifier.config.ts', import.meta.url));
const flags = parseFlags(process.argv.slice(2));
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // Asked twice: whoever asks does not want to wait for a clean end.
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort(new StoppedError());
  });
}

process.stdout.on('error', (cause) => {
  stopping.abort(
    // Whoever reads the output (`| head`) has seen enough.
    isSystemError(cause, 'EPIPE')
      ? new StoppedError()
      : new StartError(
          `The output cannot be written (${Object(cause).code}).`,
          'Make room for it, or send it elsewhere.',
          { cause },
        ),
  );
});

try {
  process.exitCode = await start(flags, stopping.signal);
} catch (error) {
  if (!(error instanceof NotifierError)) throw error;
  if (!(error instanceof StoppedError)) {
    const separator = error.message.includes('\n') ? '\n' : ' ';
    console.error(`error: ${error.message}${separator}${error.whatToDo}`);
    process.exitCode = 1;
  }
}

/** @returns the exit code: 1 when a tick failed */
async function start(flags: Flags, stop: AbortSignal): Promise<number> {
  const screen = new Screen({
    timeOfDay: () => Temporal.Now.plainTimeISO().toString({ smallestUnit: 'second' }),
    whatToDo: (code) => adviceOnFlags(flags, code),
  });
  await using cleanup = new AsyncDisposableStack();

  const config = await loadConfig(
    flags.config === undefined ? configFile : fromCaller(flags.config),
  );
  const integrations = watchedIntegrations(config, flags);
  const instance = await claimInstance(localDirectory(process.env), clock.now());
  cleanup.defer(() => instance.remove());
  const watched: Watched[] = [];
  for (const [index, integration] of integrations.entries()) {
    const host = await partnerHost(flagsFor(flags, index), integration);
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
          : host.url,
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
    ticks: flags.ticks,
    stop,
  });
  if (stop.reason instanceof StartError) throw stop.reason;
  screen.summary();
  return screen.tally.failedTicks > 0 ? 1 : 0;
}
