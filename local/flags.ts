import { Option } from 'commander';
import * as z from 'zod';
import { problemWith } from '../infra/config.ts';
import type { ProcessHost } from '../ops/host.ts';
import { firstPort } from './ports.ts';
import { filePath, newCommandLine, number } from './program.ts';

const flags = z.object({
  every: z.number().optional(),
  ticks: z.number().optional(),
  port: z.number().optional(),
  records: z.number(),
  seed: z.number(),
  baseUrl: z.string().optional(),
  credentials: z.string().optional(),
  timeZone: z.string().optional(),
  config: z.string().optional(),
  demo: z.boolean().optional(),
});

/** Checked here and not by the option, because commander quotes a refused value. */
const hostFlags = [
  ['--base-url', 'baseUrl'],
  ['--time-zone', 'timeZone'],
] as const;

export type StartFlags = Readonly<z.output<typeof flags>>;

/**
 * Reads the command line.
 *
 * @throws CommanderError when the help or one line about the mistake has been written
 */
export function parseStartFlags(
  argv: readonly string[],
  { streams, environment }: Pick<ProcessHost, 'streams' | 'environment'>,
): StartFlags {
  const file = filePath(environment);
  const program = newCommandLine('npm start --', streams)
    .description(
      'Runs the notifier on this machine: invented partner, embedded AWS, the real function.',
    )
    .option(
      '--ticks <number>',
      'end after this many ticks, with a summary; with 1 if a tick failed that nobody provoked',
      number('a whole number from 1', z.int().min(1)),
    )
    .option(
      '--every <seconds>',
      'from one tick to the next (default: 3; with a real host as configured)',
      number('seconds, from 0.2 to 3600', z.number().min(0.2).max(3600)),
    )
    .option(
      '--port <number>',
      `the first of five ports: console, sandbox, SNS and SQS, DynamoDB, Lambda (default: ${firstPort}, or ten higher …); 0 is any free ones`,
      number('a port, from 0 to 65531', z.int().min(0).max(65_531)),
    )
    .option('--config <file>', 'another configuration than notifier.config.ts', file)
    .addOption(
      new Option(
        '--demo',
        'the stack of `npx cdk deploy -c demo=true`, with its invented partner in it',
      ).conflicts(['config', 'baseUrl', 'records', 'seed']),
    )
    .addHelpText(
      'after',
      `
Every integration of the configuration is watched, each at an invented partner of its own.
With --base-url and --credentials it asks a real partner host instead, for the first integration
only, with the same embedded AWS: real personal data then appears on this terminal, and nothing is deployed or sent.`,
    );
  const sandboxOnly = [
    new Option('--records <number>', 'assessments that the sandbox starts with')
      .argParser(number('a whole number from 0 to 1000000', z.int().min(0).max(1_000_000)))
      .default(300),
    new Option('--seed <number>', "another seed invents another sandbox's people")
      .argParser(number('a whole number from 0', z.int().min(0)))
      .default(1),
  ];
  for (const option of sandboxOnly) program.addOption(option.conflicts('baseUrl'));
  program
    .option('--base-url <url>', "a real partner's host, such as https://partner.example.org")
    .option(
      '--credentials <file>',
      'JSON file {"client_id": "…", "client_secret": "…"} for it',
      file,
    )
    .option('--time-zone <name>', "that host's IANA time zone (default: as configured)");
  program.parse([...argv], { from: 'user' });

  const parsed = flags.parse(program.opts());
  if ((parsed.baseUrl === undefined) !== (parsed.credentials === undefined)) {
    program.error("error: options '--base-url' and '--credentials' need each other");
  }
  if (parsed.timeZone !== undefined && parsed.baseUrl === undefined) {
    program.error("error: option '--time-zone' needs '--base-url'; the sandbox has its own");
  }
  for (const [flag, setting] of hostFlags) {
    const problem = parsed[setting] !== undefined && problemWith(setting, parsed[setting]);
    if (problem) program.error(`error: option '${flag}': ${problem}`);
  }
  return parsed;
}
