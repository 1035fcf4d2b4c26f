import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import type { Context } from 'aws-lambda';
import { systemClock as clock } from './clock.ts';
import { SnsAnnouncer } from './delivery/sns-announcer.ts';
import { TickJournal, type TickLine } from './journal.ts';
import { DynamoLedger } from './ledger/dynamo-ledger.ts';
import { CommitsFailedError } from './ledger/errors.ts';
import { Table } from './ledger/table.ts';
import { createPartnerClient } from './partner/client.ts';
import { partnerReader } from './partner/reader.ts';
import { secretCredentials, secretsManagerReader } from './partner/secret.ts';
import type { TickParts } from './parts.ts';
import { patience } from './patience.ts';
import { rules } from './rules.ts';
import { parseSettings, tickSettings } from './settings.ts';
import { tick } from './tick.ts';
import { TickFailure } from './tick-failure.ts';

// Built once per cold start.
const settings = parseSettings(process.env);
const { integration, table, topics, secret, alerts } = settings;
const journal = new TickJournal(integration.name, table);
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
const parts: TickParts = {
  settings: tickSettings(settings),
  rules,
  clock,
  partner: partnerReader(client, clock),
  ledger: new DynamoLedger(
    new Table(new DynamoDBClient(patience), table, clock),
    integration.name,
    journal,
  ),
  announcer: new SnsAnnouncer(new SNSClient({ ...patience, maxAttempts: 1 }), topics, {
    integration: integration.name,
    ...alerts,
    clock,
  }),
  journal,
};

/** One tick. Fails the invocation when the tick fails, so that Lambda's own metric and alarm see it. */
export async function handler(_event: unknown, context: Context): Promise<TickLine> {
  const began = clock.now();
  journal.begin(context);
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
    if (line.failed > 0) throw new CommitsFailedError(line.failed);
    return line;
  } catch (error) {
    journal.failed(error, effort());
    throw new TickFailure(error);
  }
}
