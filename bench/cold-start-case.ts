import { environment } from '../lambda/names.ts';
import { listenOnLoopback } from '../local/aws/loopback-server.ts';
import { SecretStore } from '../local/aws/secret-store.ts';
import { secretsManager } from '../local/aws/secrets-manager.ts';
import { functionEnvironment } from '../test/scaffold/settings.ts';
import { heapOptions } from './as-deployed.ts';
import { withBundles } from './bundles.ts';
import { type AwsReady, partnerReady, startChild } from './child.ts';
import { inFreshProcess } from './environment-process.ts';
import { Meter } from './meter.ts';
import type { ScoreRow } from './score.ts';
import { timeZone, today } from './settings.ts';
import { Subscriber } from './subscriber.ts';

const mostOfBareClients = 1.3;
const mostMegabytes = 130;
const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);

/**
 * The costs of a new execution environment of the poll function. Its import is measured beside that of the three bare
 * SDK clients, alternately. Its memory is measured after its first tick, which finds nothing new.
 *
 * @param imports of each
 */
export async function coldStart(aws: AwsReady, imports: number): Promise<ScoreRow[]> {
  const partner = await startChild(
    'partner-process.ts',
    { records: 1_000, until: today },
    partnerReady,
  );
  const meter = new Meter(aws);
  const people = await Subscriber.to('cold-start', meter.sns, aws.messaging);
  const secrets = new SecretStore('us-east-1', '000000000000');
  const { clientId, clientSecret } = partner.ready.credentials;
  const value = JSON.stringify({ client_id: clientId, client_secret: clientSecret });
  secrets.put(secrets.create('credentials').name, value);
  const server = secretsManager(secrets);
  const variables = {
    ...functionEnvironment({ name: 'cold-start', baseUrl: partner.ready.url, timeZone }),
    AWS_ENDPOINT_URL_DYNAMODB: aws.dynamodb,
    AWS_ENDPOINT_URL_SNS: aws.messaging,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: await listenOnLoopback(server),
    [environment.table]: aws.table,
    [environment.eventsTopic]: people.topic,
    [environment.alertsTopic]: people.topic,
    [environment.operationsTopic]: people.topic,
  };
  try {
    return await withBundles(async ({ poll, clients, barest }) => {
      const ours: number[] = [];
      const bare: number[] = [];
      const least: number[] = [];
      for (let run = 0; run < imports; run++)
        for (const [times, { url }] of [
          [bare, clients],
          [ours, poll],
          [least, barest],
        ] as const)
          times.push((await inFreshProcess(url, 0, variables)).importMs);
      const ratio = medianOf(ours) / medianOf(bare);
      // Ticks for the baseline, and more until nothing is left.
      await inFreshProcess(poll.url, 3, variables);
      const quiet = await inFreshProcess(poll.url, 1, variables, heapOptions);
      const [tick] = quiet.ticks;
      return [
        {
          case: 'cold import of the poll function',
          contender: 'ours',
          further: {
            ms: round(medianOf(ours)),
            'ms of the three bare SDK clients': round(medianOf(bare)),
            ratio: Number(ratio.toFixed(2)),
            'ms of the clients without the parts that the stack leaves out': round(medianOf(least)),
            bytes: poll.bytes,
            'bytes of the clients': clients.bytes,
            'without the parts that the stack leaves out': barest.bytes,
          },
          target: {
            text: `≤ ${mostOfBareClients} × the three bare SDK clients`,
            passed: ratio <= mostOfBareClients,
          },
        },
        {
          case: 'memory after a quiet tick in a new process',
          contender: 'ours',
          further: {
            MB: megabytes(quiet.bytes),
            'MB after the import': megabytes(quiet.importedBytes),
          },
          target: {
            text: `a token and 1 request, ≤ ${mostMegabytes} MB`,
            passed:
              tick?.outcome === 'completed' &&
              tick.requests === 2 &&
              megabytes(quiet.bytes) <= mostMegabytes,
          },
        },
      ];
    });
  } finally {
    server.close();
    people.close();
    meter.close();
    await partner.stop();
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const round = (ms: number) => Number(ms.toFixed(1));
