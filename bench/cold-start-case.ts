import { environment } from '../lambda/names.ts';
import { listenOnLoopback } from '../local/aws/loopback-server.ts';
import { SecretStore } from '../local/aws/secret-store.ts';
import { services } from '../local/aws/services.ts';
import { functionEnvironment } from '../test/scaffold/settings.ts';
import type { Arena } from './arena.ts';
import {
  bundled,
  heapOptions,
  importTimes,
  inFreshProcess,
  inTemporaryFolder,
  megabytes,
  pollFunction,
  root,
} from './deployed.ts';
import type { ScoreRow } from './score.ts';
import { timeZone } from './settings.ts';

const mostOfBareClients = 1.3;
const mostMegabytes = 130;

/** The least that a function with these three services costs. */
const threeClients = {
  contents: `
    import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
    import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
    import { SNSClient } from '@aws-sdk/client-sns';
    export const clients = [new DynamoDBClient({}), new SecretsManagerClient({}), new SNSClient({})];`,
  resolveDir: root,
};

/**
 * The costs of a new execution environment of the poll function. Its import is measured beside that of the three bare
 * SDK clients, without any exclusion of the stack and with all of them. Its memory is measured after its first tick,
 * which finds nothing new.
 *
 * @param imports of each
 */
export async function coldStart(
  { aws, partner, topics }: Arena,
  imports: number,
): Promise<ScoreRow[]> {
  const secrets = new SecretStore('us-east-1', '000000000000');
  const { clientId, clientSecret } = partner.credentials;
  const value = JSON.stringify({ client_id: clientId, client_secret: clientSecret });
  secrets.put(secrets.create('credentials').name, value);
  const server = services({ secrets });
  const variables = {
    ...functionEnvironment({ name: 'cold-start', baseUrl: partner.url, timeZone }),
    AWS_ENDPOINT_URL_DYNAMODB: aws.dynamodb,
    AWS_ENDPOINT_URL_SNS: aws.messaging,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: await listenOnLoopback(server),
    [environment.table]: aws.table,
    [environment.eventsTopic]: topics.events,
    [environment.alertsTopic]: topics.alerts,
    [environment.operationsTopic]: topics.operations,
  };
  try {
    return await inTemporaryFolder(async (folder) => {
      const clients = await bundled(folder, { stdin: threeClients, external: [], plugins: [] });
      const poll = await bundled(folder, pollFunction);
      const barest = await bundled(folder, { stdin: threeClients });
      const times = await importTimes([clients, poll, barest], imports, variables);
      const [bareMs = 0, ms = 0, leastMs = 0] = times.map((time) => Number(time.toFixed(1)));
      const ratio = Number((ms / bareMs).toFixed(2));
      // Ticks for the baseline, and more until nothing is left.
      await inFreshProcess(poll, 3, variables);
      const quiet = await inFreshProcess(poll, 1, variables, heapOptions);
      const [tick] = quiet.ticks;
      const MB = megabytes(quiet.bytes);
      const isQuiet = tick?.outcome === 'completed' && tick.requests === 2;
      return [
        {
          case: 'cold import of the poll function',
          contender: 'ours',
          further: {
            ms,
            'ms of the three bare SDK clients': bareMs,
            ratio,
            'ms of the clients without the parts that the stack leaves out': leastMs,
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
          further: { MB, 'MB after the import': megabytes(quiet.importedBytes) },
          target: {
            text: `a token and 1 request, ≤ ${mostMegabytes} MB`,
            passed: isQuiet && MB <= mostMegabytes,
          },
        },
      ];
    });
  } finally {
    server.close();
  }
}
