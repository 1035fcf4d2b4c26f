import { GetQueueUrlCommand, SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Clock } from '../clock.ts';
import { errorOf } from '../errors.ts';
import { messageOf } from '../events/sns-message.ts';
import type { Announcer } from '../ports/announcer.ts';
import { dispatch, type Send, TopicPace } from './dispatch.ts';
import { codeOf } from './refusals.ts';

/** The queue does not exist, or the function may not use it. */
export class QueueUnreachableError extends errorOf('queue-unreachable', 'ops') {
  readonly whatToDo =
    "Check the ARN. Queues that the configuration subscribes are allowed. Any other queue's policy must allow sqs:GetQueueUrl and sqs:SendMessage to the role of the operate function.";

  constructor(arn: string, reason: string, options: ErrorOptions) {
    super(`The queue ${arn} cannot be reached (${reason}).`, options);
  }
}

/** A queue answers in its own region only. */
export const regionOf = (arn: string): string => arn.split(':')[3] ?? '';

/**
 * Sends events straight to one queue, in the shape that a raw subscription has: the event as the
 * body, the same message attributes. A FIFO queue gets the ids that a FIFO topic would have given.
 *
 * It retries by itself, by its clock: the client should not (`maxAttempts: 1`).
 */
export function sqsAnnouncer(
  client: SQSClient,
  arn: string,
  clock: Clock,
): Pick<Announcer, 'publish'> {
  const pace = new TopicPace();
  let url: string | undefined;
  return {
    /** @throws QueueUnreachableError */
    async publish(owed, deadline) {
      url ??= await urlOf(client, arn);
      const QueueUrl = url;
      const isFifo = arn.endsWith('.fifo');
      const messages = owed.map((one) => ({ owed: one, ...messageOf(one.event) }));
      const sendBatch: Send = async (batch, requestTimeout) => {
        const Entries = batch.map(({ body, attributes, fifo }, place) => ({
          Id: String(place),
          MessageBody: body,
          MessageAttributes: attributes,
          ...(isFifo && fifo),
        }));
        return client.send(new SendMessageBatchCommand({ QueueUrl, Entries }), { requestTimeout });
      };
      const asked = { action: 'sqs:SendMessage', resource: arn };
      return dispatch(messages, sendBatch, { clock, pace, deadline, asked });
    },
  };
}

/** @throws QueueUnreachableError */
export async function urlOf(client: SQSClient, arn: string): Promise<string | undefined> {
  const [, , , , QueueOwnerAWSAccountId, QueueName] = arn.split(':');
  try {
    const asked = new GetQueueUrlCommand({ QueueName, QueueOwnerAWSAccountId });
    return (await client.send(asked)).QueueUrl;
  } catch (error) {
    throw new QueueUnreachableError(arn, codeOf(error), { cause: error });
  }
}
