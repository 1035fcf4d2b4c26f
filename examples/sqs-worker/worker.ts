/** Takes events out of a queue and handles each once. Any number of these may run side by side. */
import { setTimeout } from 'node:timers/promises';
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
// `consumer`: the name of this task. Workers with another task and this table need another name.
const once = onlyOnce(
  dynamoStore({ client: new DynamoDBClient(), table: TABLE_NAME, consumer: 'sqs-worker' }),
);

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
    // SQS is away for a moment, or this may not read (yet): it goes on when that is over.
    console.error(`not received: ${nameOf(error)}`);
    await setTimeout(5_000, undefined, { signal: stopping.signal }).catch(() => {});
    return [];
  }
}

async function work(QueueUrl: string, message: Message): Promise<void> {
  try {
    const event = parseEvent(message);
    const outcome = await once(event, handle);
    if (outcome === 'duplicate') console.log(`duplicate  ${event.id}`);
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
  } catch (error) {
    // The event stays in the queue, comes again after the visibility timeout, and at last goes to the
    // dead-letter queue. Log only the error's name: its message or stack could hold personal data.
    // An event that was handled, but could not be deleted, comes again as a duplicate.
    console.error(`not done with: ${nameOf(error)}`);
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
