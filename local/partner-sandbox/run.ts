import { once } from 'node:events';
import { InvalidArgumentError, Option } from 'commander';
import type { ProcessHost } from '../../ops/host.ts';
import { newCommandLine, runProgram } from '../program.ts';
import { deviationNames, deviations } from './deviations.ts';
import { faultKinds } from './faults.ts';
import { type FaultOrder, startPartnerSandbox } from './index.ts';

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value))
    throw new InvalidArgumentError('Not a number.');
  return value;
}

/** `kind[:times[:milliseconds]]`, as in `slow-body:3:5000`. */
function fault(text: string, earlier: readonly FaultOrder[] = []): readonly FaultOrder[] {
  const [name, times = '1', ms] = text.split(':');
  const kind = faultKinds.find((known) => known === name);
  if (kind === undefined) throw new InvalidArgumentError(`One of ${faultKinds.join(', ')}.`);
  return [
    ...earlier,
    {
      kind,
      times: times === 'always' ? times : number(times),
      ...(ms !== undefined && { ms: number(ms) }),
    },
  ];
}

type Host = Pick<ProcessHost, 'streams' | 'stopping'>;

/** `npm run sandbox`, until a signal stops it: see docs/partner.md#the-sandbox. @returns the exit code */
export function run(argv: readonly string[], host: Host): Promise<number> {
  const program = newCommandLine('sandbox', host.streams)
    .description('The Partner Assessment Results API, made to run on this machine.')
    .option('--port <number>', 'port on 127.0.0.1; 0 for any free one', number, 9400)
    .option('--records <number>', 'assessments in scope at the start', number, 400)
    .option('--seed <number>', 'the same seed gives the same world', number, 1)
    .option('--time-zone <name>', "the partner's time zone", 'America/New_York')
    .option('--until <date>', 'last day of the invented history')
    .option('--certify-every <ms>', 'a new certification every so many milliseconds', number)
    .option('--backdated <share>', 'share of new certifications that are backdated, 0 to 1', number)
    .option('--unstable-ties', 'rows that tie come in another order with every request')
    .option('--churn <share>', 'chance that the world changes before a list request', number)
    .option('--extra-fields', 'records carry fields that the document does not name')
    .option('--malformed <share>', 'share of records without a usable id or day', number)
    .option('--nulls <share>', 'share of records that lack some of their content', number)
    .option('--huge-rows <share>', 'share of records with rows longer than 2 MiB', number)
    .option('--requests-per-minute <number>', 'answer so many within a minute; else 429', number)
    .option(
      '--count-offset <number>',
      'meta.count without a range of days says so many more',
      number,
    )
    .option('--replica-lag <minutes>', 'every other answer is of a replica so far behind', number)
    .option('--cache <seconds>', 'keep answers of the list for so long, by URL', number)
    .option('--zombies <share>', 'share of removed records still served by id', number)
    .option('--clock-skew <seconds>', "how far the server's clock is ahead", number)
    .option('--token-lifetime <seconds>', 'how long a token lives', number)
    .option('--basic-verbatim', 'HTTP Basic credentials are not form-decoded')
    .addOption(
      new Option('--user-name-order <by>', 'what sort=user_name compares').choices([
        'name',
        'last_name',
      ]),
    )
    .option(
      '--fault <kind[:times[:ms]]>',
      `a fault to begin with (${faultKinds.join(', ')})`,
      fault,
    )
    .addOption(
      new Option('--deviations <names...>', 'contradict the document on purpose').choices(
        deviationNames,
      ),
    )
    .option('--list-deviations', 'print the deviations and end')
    .showSuggestionAfterError(false);
  return runProgram(host, async () => {
    program.parse([...argv], { from: 'user' });
    await offer(program.opts(), host);
    return 0;
  });
}

async function offer(
  {
    fault: faults,
    listDeviations,
    ...options
  }: Record<string, unknown> & { fault?: readonly FaultOrder[]; listDeviations?: boolean },
  { streams, stopping: { signal } }: Host,
): Promise<void> {
  if (listDeviations === true) {
    for (const name of deviationNames)
      streams.output.write(`${name.padEnd(30)}${deviations[name].breaks}\n`);
    return;
  }
  const sandbox = await startPartnerSandbox({ ...options, ...(faults && { faults }) });
  const { url, credentials, world } = sandbox;
  streams.output.write(`Partner sandbox  ${url}
Client ID        ${credentials.clientId}
Client secret    ${credentials.clientSecret}
Assessments      ${world.count} in scope, dates in ${world.timeZone}

Try it:

  TOKEN=$(curl -s ${url}/oauth/token -d grant_type=client_credentials -d client_id=${credentials.clientId} -d client_secret=${credentials.clientSecret} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'); curl -sg -H "Authorization: Bearer $TOKEN" '${url}/api/v1/ax/assessments?order=DESC&page=2'

Control it (docs/partner.md#control-it):

  curl -s ${url}/_sandbox

Ctrl-C ends it.
`);
  if (!signal.aborted) await once(signal, 'abort');
  await sandbox.close();
}
