import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import type { Context } from 'aws-lambda';
import { systemClock as clock } from './clock.ts';
import { SnsAnnouncer } from './delivery/sns-announcer.ts';
import { TickJournal, type TickLine } from './journal.ts';
import { DynamoLedger } from './ledger/dynamo-ledger.ts';
import { Table } from './ledger/table.ts';
import { createPartnerClient } from './partner/client.ts';
import { recentWindowReader } from './partner/recent-window.ts';
import { secretCredentials, secretsManagerReader } from './partner/secret.ts';
import { parseSettings } from './settings.ts';
import { tick } from './tick.ts';
import { TickFailure } from './tick-failure.ts';

// Built once per cold start.
const { integration, table, topics, secret } = parseSettings(process.env);
const journal = new TickJournal(integration.name);
let requests = 0;
const client = createPartnerClient({
  baseUrl: integration.baseUrl,
  tokenRequest: integration.tokenRequest,
  credentials: secretCredentials(secret, secretsManagerReader(new SecretsManagerClient())),
  clock,
  onRequest: () => {
    requests += 1;
  },
});
const parts = {
  settings: integration,
  clock,
  partner: recentWindowReader(client),
  ledger: new DynamoLedger(new Table(new DynamoDBClient(), table, clock), integration.name),
  announcer: new SnsAnnouncer(new SNSClient(), topics, integration.name),
  journal,
};

/** One tick. Fails the invocation when the tick fails, so that Lambda's own metric and alarm see it. */
export async function handler(_event: unknown, context: Context): Promise<TickLine> {
  const began = clock.now();
  requests = 0;
  const effort = () => ({
    requests,
    durationMs: clock.now().since(began).total('milliseconds'),
  });
  const deadline = began.add({ milliseconds: context.getRemainingTimeInMillis() });
  try {
    const report = await tick(parts, { id: context.awsRequestId, deadline });
    const line = { ...report, ...effort() };
    journal.completed(line);
    return line;
  } catch (error) {
    journal.failed(error, effort());
    throw new TickFailure(error);
  }
}
