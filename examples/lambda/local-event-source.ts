/** Stands in for Lambda's event source mapping on this machine: invokes the handler with batches. */
import { DeleteMessageBatchCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { handler } from './handler.ts';

const { QUEUE_URL: QueueUrl } = process.env;
const sqs = new SQSClient();
let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    stopping = true;
  });

console.log(`Invoking the handler with the messages of ${QueueUrl}`);
while (!stopping) {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
  );
  if (Messages.length === 0) continue;
  const Records = Messages.map(
    ({ MessageId = '', ReceiptHandle = '', Body = '' }): SQSRecord => ({
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: '0',
        SenderId: 'local',
        ApproximateFirstReceiveTimestamp: '0',
      },
      messageAttributes: {},
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:lambda-subscriber',
      awsRegion: 'us-east-1',
    }),
  );
  const { batchItemFailures } = await handler({ Records });
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const done = Records.filter(({ messageId }) => !failed.has(messageId));
  if (done.length > 0)
    await sqs.send(
      new DeleteMessageBatchCommand({
        QueueUrl,
        Entries: done.map(({ messageId, receiptHandle }) => ({
          Id: messageId,
          ReceiptHandle: receiptHandle,
        })),
      }),
    );
}
