import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import { systemClock as clock } from './clock.ts';
import { withChat } from './delivery/chat.ts';
import { snsAnnouncer } from './delivery/sns-announcer.ts';
import { dynamoLedger } from './ledger/dynamo-ledger.ts';
import { Table } from './ledger/table.ts';
import { createPartnerClient } from './partner/client.ts';
import { partnerReader } from './partner/reader.ts';
import { secretCredentials, secretsManagerReader } from './partner/secret.ts';
import type { Journal } from './ports/journal.ts';
import { type Settings, tickSettings } from './settings.ts';
import { awsTimeouts, snsTimeouts } from './timeouts.ts';

/**
 * The SDK does not retry batches of events: delivery/dispatch.ts does, as the topic or the queue
 * allows.
 */
export const withoutRetries = { ...awsTimeouts, maxAttempts: 1 };

/**
 * Wires the real parts of a function, once per cold start.
 *
 * @param journal gets the ledger's items that cannot be read
 */
export function assemble<Told extends Journal>(environment: Settings, journal: Told) {
  const { INTEGRATION: integration, ALERTS: alerts } = environment;
  const { name, timeZone } = integration;
  const people = { ...alerts, integration: name, timeZone, stack: environment.STACK_NAME };
  const topics = {
    events: environment.EVENTS_TOPIC_ARN,
    alerts: environment.ALERTS_TOPIC_ARN,
    operations: environment.OPERATIONS_TOPIC_ARN,
    'chat-alerts': environment.CHAT_ALERTS_TOPIC_ARN,
    'chat-operations': environment.CHAT_OPERATIONS_TOPIC_ARN,
  };
  let requests = 0;
  const credentials = secretCredentials(
    environment.SECRET_ID,
    secretsManagerReader(new SecretsManagerClient(awsTimeouts)),
  );
  const client = createPartnerClient({
    baseUrl: integration.baseUrl,
    tokenRequest: integration.tokenRequest,
    credentials,
    clock,
    requestsPerMinute: integration.requestsPerMinute,
    onRequest: () => {
      requests += 1;
    },
  });
  const table = new Table(new DynamoDBClient(awsTimeouts), environment.TABLE_NAME, clock);
  const sns = new SNSClient(snsTimeouts);
  const clients = { mails: sns, batches: new SNSClient(withoutRetries) };
  return {
    settings: tickSettings(environment),
    clock,
    credentials,
    partner: partnerReader(client),
    table,
    ledger: dynamoLedger(table, name, journal),
    sns,
    topics,
    announcer: withChat(snsAnnouncer(clients, topics, { ...people, clock }), sns, topics, {
      ...people,
      clock,
      journal,
    }),
    journal,
    /**
     * Begins to measure; the returned function reports requests to the partner and the time since.
     */
    measure: () => {
      const before = requests;
      const began = clock.now();
      return () => ({
        requests: requests - before,
        durationMs: clock.now().since(began).total('milliseconds'),
      });
    },
  };
}
