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
  // A FIFO queue may give several messages of a group, here of a certification, at once.
  const groups = Map.groupBy(messages, (one) => one.Attributes?.MessageGroupId ?? one.MessageId);
  await Promise.all([...groups.values()].map((group) => inTurn(QUEUE_URL, group)));
}

/** After a failure, the later messages of a group wait for it: they come again with it. */
async function inTurn(QueueUrl: string, group: readonly Message[]): Promise<void> {
  for (const message of group) if (!(await work(QueueUrl, message))) return;
}

async function receive(QueueUrl: string): Promise<Message[]> {
  try {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 20,
        MessageSystemAttributeNames: ['MessageGroupId'],
      }),
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

/** @returns whether it is done with */
async function work(QueueUrl: string, message: Message): Promise<boolean> {
  try {
    const event = parseEvent(message);
    const outcome = await once(event, handle);
    if (outcome === 'duplicate') console.log(`duplicate  ${event.id}`);
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
    return true;
  } catch (error) {
    // The event stays in the queue, comes again after the visibility timeout, and at last goes to the
    // dead-letter queue. Log only the error's name: its message or stack could hold personal data.
    // An event that was handled, but could not be deleted, comes again as a duplicate.
    console.error(`not done with: ${nameOf(error)}`);
    return false;
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
