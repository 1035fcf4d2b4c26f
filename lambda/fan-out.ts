import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import type { Context } from 'aws-lambda';
import { systemClock as clock } from './clock.ts';
import { SnsAnnouncer } from './delivery/sns-announcer.ts';
import { TaskFailure } from './fan-out/errors.ts';
import { FanOutJournal } from './fan-out/journal.ts';
import type { FanOutParts } from './fan-out/parts.ts';
import { carryOut } from './fan-out/task.ts';
import { DynamoFanOutLedger } from './ledger/dynamo-fan-out-ledger.ts';
import { DynamoLedger } from './ledger/dynamo-ledger.ts';
import { Table } from './ledger/table.ts';
import { createPartnerClient } from './partner/client.ts';
import { partnerReader } from './partner/reader.ts';
import { secretCredentials, secretsManagerReader } from './partner/secret.ts';
import { patience } from './patience.ts';
import { parseSettings } from './settings.ts';

// Built once per cold start.
const { integration, table, topics, secret, alerts } = parseSettings(process.env);
const journal = new FanOutJournal(integration.name);
let requests = 0;
const client = createPartnerClient({
  baseUrl: integration.baseUrl,
  tokenRequest: integration.tokenRequest,
  credentials: secretCredentials(secret, secretsManagerReader(new SecretsManagerClient(patience))),
  clock,
  onRequest: () => {
    requests += 1;
  },
});
const { audit } = integration;
const items = new Table(new DynamoDBClient(patience), table, clock);
const parts: FanOutParts = {
  settings: {
    ...integration,
    audit: {
      recentMs: audit.recentMinutes * 60_000,
      historyMs: audit.historyHours * 3_600_000,
      requests: audit.requestsPerTick,
    },
  },
  clock,
  partner: partnerReader(client, clock),
  ledger: new DynamoLedger(items, integration.name, journal),
  fanOut: new DynamoFanOutLedger(items, integration.name, journal),
  announcer: new SnsAnnouncer(new SNSClient({ ...patience, maxAttempts: 1 }), topics, {
    integration: integration.name,
    ...alerts,
    clock,
  }),
  journal,
};

/** One task of the state machine. Fails with a name that tells it whether to try again. */
export async function handler(event: unknown, context: Context) {
  const began = clock.now();
  journal.begin(context);
  requests = 0;
  const effort = () => ({
    requests,
    durationMs: clock.now().since(began).total('milliseconds'),
  });
  const deadline = began.add({ milliseconds: context.getRemainingTimeInMillis() });
  try {
    const result = await carryOut(parts, event, { id: context.awsRequestId, deadline });
    journal.carriedOut(event, result, effort());
    return result;
  } catch (error) {
    journal.failed(event, error, effort());
    throw new TaskFailure(error);
  }
}
