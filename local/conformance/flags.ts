import { Option } from 'commander';
import * as z from 'zod';
import { problemWith } from '../../infra/config.ts';
import type { ProcessHost } from '../../ops/host.ts';
import { filePath, newCommandLine } from '../program.ts';

const forms = ['form', 'basic', 'json'] as const;

const flags = z.object({
  baseUrl: z.string(),
  credentials: z.string(),
  tokenRequest: z.enum(forms).optional(),
  json: z.boolean().default(false),
});

export type ConformanceFlags = Readonly<z.output<typeof flags>>;

/**
 * Reads the command line.
 *
 * @throws CommanderError when the help or one line about the mistake has been written
 */
export function parseConformanceFlags(
  argv: readonly string[],
  { streams, environment }: Pick<ProcessHost, 'streams' | 'environment'>,
): ConformanceFlags {
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
  const parsed = flags.parse(program.opts());
  const problem = problemWith('baseUrl', parsed.baseUrl);
  if (problem) program.error(`error: option '--base-url': ${problem}`);
  return parsed;
}

/** The forms of the token request that `--token-request` allows. */
export function formsOf({ tokenRequest }: ConformanceFlags): readonly (typeof forms)[number][] {
  return tokenRequest === undefined ? forms : [tokenRequest];
}
