/**
 * A function behind a queue (event source mapping with `ReportBatchItemFailures`), or subscribed to
 * the topic directly. It keeps the current state of each certification: `inOrder`.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SNSEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { inOrder, parseEvent } from 'certification-notifier/consumer';
import { dynamoStore } from 'certification-notifier/consumer/dynamodb';
import { handle } from './handle.ts';

const { TABLE_NAME } = process.env;
if (!TABLE_NAME) throw new Error('TABLE_NAME has to be set.');

// `consumer`: the name of this task. Another function with this table needs another name.
const ordered = inOrder(
  dynamoStore({ client: new DynamoDBClient(), table: TABLE_NAME, consumer: 'lambda' }),
);

export async function handler(invocation: SQSEvent | SNSEvent): Promise<SQSBatchResponse> {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  // One after the other: a batch may hold two events of one certification.
  for (const record of invocation.Records) {
    try {
      const event = parseEvent(record);
      const outcome = await ordered(event, handle);
      if (outcome === 'outdated') console.log(`outdated  ${event.id}`);
    } catch (error) {
      // SNS repeats a whole invocation, which has one record. SQS repeats only the records reported here.
      if ('Sns' in record) throw error;
      console.error(`not handled: ${error instanceof Error ? error.name : typeof error}`);
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }
  return { batchItemFailures };
}
