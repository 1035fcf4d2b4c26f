import { Option } from 'commander';
import * as z from 'zod';
import { parseConfig, problemWith } from '../../infra/config.ts';
import { NotifierError } from '../../lambda/errors.ts';
import type { ProcessHost } from '../../ops/host.ts';
import { showsColours } from '../../ops/terminal.ts';
import { partnerHost, watchedIntegration } from '../partner-host.ts';
import { filePath, newCommandLine, runProgram } from '../program.ts';
import { errorToJson, toJson, toText } from './report.ts';
import { checkHost, exitCode } from './suite.ts';

type Host = Pick<ProcessHost, 'streams' | 'environment' | 'stopping'>;

const forms = ['form', 'basic', 'json'] as const;

const flagsSchema = z.object({
  baseUrl: z.string(),
  credentials: z.string(),
  tokenRequest: z.enum(forms).optional(),
  json: z.boolean().default(false),
});

type Flags = z.output<typeof flagsSchema>;

/** The suite could not be carried out. Commander's own code for a bad flag is 1, which means a contradiction here. */
const notCarriedOut = () => 2;

/** `npm run conformance`: see docs/partner.md#conformance. @returns the exit code */
export function run(argv: readonly string[], host: Host): Promise<number> {
  return runProgram(host, () => check(parseFlags(argv, host), host), notCarriedOut);
}

/** @throws CommanderError when the help or one line about the mistake has been written */
function parseFlags(argv: readonly string[], { streams, environment }: Host): Flags {
  const program = newCommandLine('npm run conformance --', streams)
    .description(
      "Checks a partner's host against the document of the API: reading only, under 200 requests, printing nobody's data.",
    )
    .requiredOption('--base-url <url>', 'the host, such as https://partner.example.org')
    .requiredOption(
      '--credentials <file>',
      'JSON file {"client_id": "…", "client_secret": "…"} for it',
      filePath(environment),
    )
    .addOption(
      new Option('--token-request <form>', 'try this form only (default: each of them)').choices(
        forms,
      ),
    )
    .option('--json', 'print one JSON object instead of the table')
    .addHelpText(
      'after',
      `
Exit status: 0 nothing contradicts the document; 1 something does; 2 it could not be carried out,
or not in full (bad flags, unreachable host, credentials refused, nothing assigned).`,
    );
  program.parse([...argv], { from: 'user' });
  const parsed = flagsSchema.parse(program.opts());
  const problem = problemWith('baseUrl', parsed.baseUrl);
  if (problem) program.error(`error: option '--base-url': ${problem}`);
  return parsed;
}

async function check(flags: Flags, { streams, environment }: Host): Promise<number> {
  try {
    const { url, credentials } = await hostOf(flags);
    const report = await checkHost({
      baseUrl: url,
      credentials: {
        clientId: credentials.client_id,
        clientSecret: credentials.client_secret,
      },
      forms: flags.tokenRequest === undefined ? forms : [flags.tokenRequest],
    });
    const isColoured = showsColours(streams.output, environment);
    streams.output.write(`${flags.json ? toJson(url, report) : toText(report, isColoured)}\n`);
    return exitCode(report);
  } catch (error) {
    if (!flags.json || !(error instanceof NotifierError)) throw error;
    streams.output.write(`${errorToJson(error)}\n`);
    return notCarriedOut();
  }
}

/**
 * The host and its credentials, under the same rules as for `npm start`.
 *
 * @throws {StartError} for a file without credentials
 */
async function hostOf({ baseUrl, credentials }: Flags) {
  const config = parseConfig({ integrations: [{ name: 'conformance', baseUrl, timeZone: 'UTC' }] });
  const started = { baseUrl, credentials, port: 0, records: 0, seed: 0 };
  return await partnerHost(started, watchedIntegration(config, started));
}
