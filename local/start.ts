/** The program of `npm start`: everything on this machine, told on the terminal. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Temporal } from 'temporal-polyfill';
import { parseConfig } from '../infra/config.ts';
import { systemClock as clock } from '../lambda/clock.ts';
import { NotifierError } from '../lambda/errors.ts';
import configured from '../notifier.config.ts';
import { startEmbeddedAws } from './aws/index.ts';
import { StoppedError } from './errors.ts';
import { type Flags, parseFlags } from './flags.ts';
import { claimInstance } from './instance.ts';
import { certifyEveryMs, partnerHost, watchedIntegration } from './partner-host.ts';
import { Screen } from './screen.ts';
import { synthesize } from './synthesize.ts';
import { watch } from './watch.ts';

const flags = parseFlags(process.argv.slice(2));
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // Asked twice: whoever asks does not want to wait for a clean end.
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort(new StoppedError());
  });
}

// Whoever reads the output (`| head`) has seen enough.
process.stdout.on('error', () => stopping.abort(new StoppedError()));

try {
  process.exitCode = await start(flags, stopping.signal);
} catch (error) {
  if (!(error instanceof NotifierError)) throw error;
  if (!(error instanceof StoppedError)) {
    console.error(`error: ${error.message} ${error.whatToDo}`);
    process.exitCode = 1;
  }
}

/** @returns the exit code: 1 when a tick failed */
async function start(flags: Flags, stop: AbortSignal): Promise<number> {
  const screen = new Screen(() => Temporal.Now.plainTimeISO().toString({ smallestUnit: 'second' }));
  await using cleanup = new AsyncDisposableStack();

  const config = parseConfig(configured);
  const integration = watchedIntegration(config, flags);
  const instanceFile = resolve('.local/instance.json');
  const instance = await claimInstance(instanceFile, clock.now().toString());
  cleanup.defer(() => instance.remove());
  const host = await partnerHost(flags, integration);
  cleanup.defer(() => host.close());
  const every = flags.every ?? host.every;
  const assembly = await mkdtemp(join(tmpdir(), 'certification-notifier-'));
  cleanup.defer(() => rm(assembly, { recursive: true, force: true }));
  await synthesize(
    { ...config, integrations: [{ ...integration, baseUrl: host.url }] },
    assembly,
    stop,
  );
  const aws = await startEmbeddedAws(assembly, { onOutput: (line) => screen.output(line) });
  cleanup.defer(() => aws.close());
  await instance.publish({
    region: aws.region,
    endpoints: { ...aws.endpoints },
    functions: Object.fromEntries(
      [...aws.functions].map(([name, { environment }]) => [name, { ...environment }]),
    ),
  });

  screen.heading(`${config.stackName} on this machine`, [
    [
      'partner',
      host.isSandbox
        ? `${host.url}  sandbox: invented people, a new assessment every ${certifyEveryMs / 1000} s`
        : host.url,
    ],
    ['integration', `${integration.name}, days in ${integration.timeZone}`],
    ['DynamoDB', `${aws.endpoints.dynamodb}  ${aws.tables.join(', ')}`],
    ['SNS and SQS', aws.endpoints.sns],
    ['schedule', `a tick every ${every} s; Ctrl-C ends it, and nothing is kept`],
  ]);
  if (!host.isSandbox) {
    screen.warning('This is a real host: real personal data will be shown on this terminal.\n');
  }
  await watch({
    aws,
    credentials: host.credentials,
    screen,
    everyMs: every * 1000,
    ticks: flags.ticks,
    stop,
  });
  screen.summary();
  return screen.tally.failedTicks > 0 ? 1 : 0;
}
