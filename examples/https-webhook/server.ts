/**
 * Receives the posts of SNS, verifies each and handles its event. TLS ends before this server, at a load balancer or
 * a reverse proxy: SNS delivers only to URLs with a publicly trusted certificate.
 */
import { createServer } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { memoryStore, onlyOnce, type Reception, webhook } from 'certification-notifier/consumer';
import { dynamoStore } from 'certification-notifier/consumer/dynamodb';
import { handle } from './handle.ts';

const { TOPIC_ARN, TABLE_NAME, PORT = '8080' } = process.env;
if (!TOPIC_ARN) {
  console.error('TOPIC_ARN has to be set: the topic that may send here (several with commas).');
  process.exit(1);
}

// Without a table, a restart forgets which events were handled, and a second process never knew.
const once = onlyOnce(
  TABLE_NAME
    ? dynamoStore({ client: new DynamoDBClient(), table: TABLE_NAME, consumer: 'https-webhook' })
    : memoryStore(),
);

const receive = webhook({
  topicArns: TOPIC_ARN.split(','),
  handle: (event) => once(event, handle),
  bodyWithin: { milliseconds: Number(process.env.BODY_WITHIN_MS ?? 10_000) },
  report,
});

const server = createServer((request, response) => void receive(request, response));
server.listen(Number(PORT), () => {
  const address = server.address();
  console.log(`Listening on port ${typeof address === 'object' ? address?.port : address}`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => server.close(() => process.exit()));

/** One line each, and no value of a message. */
function report(reception: Reception): void {
  switch (reception.outcome) {
    case 'handled':
      console.log(`handled  ${reception.event.id}`);
      return;
    case 'subscription':
      console.log(`subscribed to ${reception.topicArn}`);
      return;
    case 'unsubscription':
      console.log(`no longer subscribed to ${reception.topicArn}`);
      return;
    default: {
      const { outcome, status, error } = reception;
      const reason = error instanceof Error && 'reason' in error ? `, ${error.reason}` : '';
      console.error(
        `${outcome}  ${status} ${error instanceof Error ? error.name : error}${reason}`,
      );
    }
  }
}
