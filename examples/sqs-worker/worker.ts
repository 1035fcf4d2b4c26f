/** Takes events out of a queue and handles each once. Any number of these may run side by side. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { onlyOnce, parseEvent } from 'certification-notifier/consumer';
import { dynamoStore } from 'certification-notifier/consumer/dynamodb';
import { handle } from './handle.ts';

const { QUEUE_URL, TABLE_NAME } = process.env;
if (!QUEUE_URL || !TABLE_NAME) throw new Error('QUEUE_URL and TABLE_NAME have to be set.');

const sqs = new SQSClient();
const once = onlyOnce(dynamoStore({ client: new DynamoDBClient(), table: TABLE_NAME }));

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

console.log(`Waiting for events in ${QUEUE_URL}`);
while (!stopping.signal.aborted) {
  const messages = await receive(QUEUE_URL);
  await Promise.all(messages.map((message) => work(QUEUE_URL, message)));
}

async function receive(QueueUrl: string): Promise<Message[]> {
  try {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20 }),
      { abortSignal: stopping.signal },
    );
    return Messages;
  } catch (error) {
    if (stopping.signal.aborted) return [];
    throw error;
  }
}

async function work(QueueUrl: string, message: Message): Promise<void> {
  try {
    const event = parseEvent(message);
    const outcome = await once(event, handle);
    if (outcome === 'duplicate') console.log(`duplicate  ${event.id}`);
  } catch (error) {
    // It stays in the queue, comes again after the visibility timeout, and in the end goes to the
    // dead-letter queue. Log the name: a message or a stack could hold what was in the event.
    console.error(`not handled: ${error instanceof Error ? error.name : typeof error}`);
    return;
  }
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
}
