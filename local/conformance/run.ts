import { parseConfig } from '../../infra/config.ts';
import { NotifierError } from '../../lambda/errors.ts';
import type { ProcessHost } from '../../ops/host.ts';
import { showsColours } from '../../ops/terminal.ts';
import { partnerHost, watchedIntegration } from '../partner-host.ts';
import { runProgram } from '../program.ts';
import { type ConformanceFlags, formsOf, parseConformanceFlags } from './flags.ts';
import { errorToJson, toJson, toText } from './report.ts';
import { checkHost, exitCode } from './suite.ts';

type Host = Pick<ProcessHost, 'streams' | 'environment' | 'stopping'>;

/** The suite could not be carried out. Commander's own code for a bad flag is 1, which means a contradiction here. */
const notCarriedOut = () => 2;

/** `npm run conformance`: see docs/partner.md#conformance. @returns the exit code */
export function run(argv: readonly string[], host: Host): Promise<number> {
  return runProgram(host, () => check(parseConformanceFlags(argv, host), host), notCarriedOut);
}

async function check(flags: ConformanceFlags, { streams, environment }: Host): Promise<number> {
  try {
    const { url, credentials } = await hostOf(flags);
    const report = await checkHost({
      baseUrl: url,
      credentials: {
        clientId: credentials.client_id,
        clientSecret: credentials.client_secret,
      },
      forms: formsOf(flags),
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
async function hostOf({ baseUrl, credentials }: ConformanceFlags) {
  const config = parseConfig({ integrations: [{ name: 'conformance', baseUrl, timeZone: 'UTC' }] });
  const started = { baseUrl, credentials, port: 0, records: 0, seed: 0 };
  return await partnerHost(started, watchedIntegration(config, started));
}
