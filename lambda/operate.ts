import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Context } from 'aws-lambda';
import { systemClock as clock } from './clock.ts';
import { SnsAnnouncer } from './delivery/sns-announcer.ts';
import { regionOf, SqsAnnouncer } from './delivery/sqs-announcer.ts';
import { DynamoLedger } from './ledger/dynamo-ledger.ts';
import { Table } from './ledger/table.ts';
import type { Answer } from './operations/answer.ts';
import { carryOut } from './operations/carry-out.ts';
import { OperationsJournal } from './operations/journal.ts';
import type { OperationParts } from './operations/parts.ts';
import { createPartnerClient } from './partner/client.ts';
import { partnerReader } from './partner/reader.ts';
import { secretCredentials, secretsManagerReader } from './partner/secret.ts';
import { parseSettings } from './settings.ts';

/** An answer that does not come must not cost the command: a connection can die while it is frozen. */
const patience = { requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000 } };
/** Announcers retry by themselves. */
const once = { ...patience, maxAttempts: 1 };

// Built once per cold start.
const { integration, table, topics, secret, alerts } = parseSettings(process.env);
const journal = new OperationsJournal(integration.name);
const client = createPartnerClient({
  baseUrl: integration.baseUrl,
  tokenRequest: integration.tokenRequest,
  credentials: secretCredentials(secret, secretsManagerReader(new SecretsManagerClient(patience))),
  clock,
});
const parts: OperationParts = {
  settings: integration,
  clock,
  partner: partnerReader(client, clock),
  ledger: new DynamoLedger(
    new Table(new DynamoDBClient(patience), table, clock),
    integration.name,
    journal,
  ),
  announcer: new SnsAnnouncer(new SNSClient(once), topics, {
    ...alerts,
    integration: integration.name,
    clock,
  }),
  queue: (arn) => {
    // The queue's URL names the queue; where the service answers is settled by region and environment.
    const sqs = new SQSClient({ ...once, region: regionOf(arn), useQueueUrlAsEndpoint: false });
    return new SqsAnnouncer(sqs, arn, clock);
  },
  journal,
};

/** One command of the people on duty. What goes wrong is part of the answer, not an exception. */
export function handler(event: unknown, context: Context): Promise<Answer> {
  journal.begin(context);
  const deadline = clock.now().add({ milliseconds: context.getRemainingTimeInMillis() });
  return carryOut(parts, event, deadline);
}
