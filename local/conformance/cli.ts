/** The program of `npm run conformance`: see docs/conformance.md. */
import { parseConfig } from '../../infra/config.ts';
import { NotifierError } from '../../lambda/errors.ts';
import { partnerHost, watchedIntegration } from '../partner-host.ts';
import { type Flags, formsOf, parseFlags } from './flags.ts';
import { errorToJson, toJson, toText } from './report.ts';
import { checkHost, exitCode } from './suite.ts';

const flags = parseFlags(process.argv.slice(2));

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
  console.log(flags.json ? toJson(url, report) : toText(report));
  process.exitCode = exitCode(report);
} catch (error) {
  if (!(error instanceof NotifierError)) throw error;
  if (flags.json) console.log(errorToJson(error));
  else console.error(`error: ${error.message} ${error.whatToDo}`);
  process.exitCode = 2;
}

/**
 * The host and its credentials, on the conditions that `npm start` has for a real one.
 *
 * @throws {StartError} for a file without credentials
 */
async function hostOf({ baseUrl, credentials }: Flags) {
  const config = parseConfig({ integrations: [{ name: 'conformance', baseUrl, timeZone: 'UTC' }] });
  const started = { baseUrl, credentials, port: 0, records: 0, seed: 0 };
  return await partnerHost(started, watchedIntegration(config, started));
}
