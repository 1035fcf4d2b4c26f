import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

/** Takes up to ten messages out of a queue. @param WaitTimeSeconds for the first of them */
export async function take(
  sqs: SQSClient,
  QueueUrl: string,
  WaitTimeSeconds: number,
  abortSignal = new AbortController().signal,
): Promise<readonly Message[]> {
  const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds });
  const { Messages = [] } = await sqs.send(receive, { abortSignal });
  const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: `${index}`, ReceiptHandle }));
  if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  return Messages;
}
