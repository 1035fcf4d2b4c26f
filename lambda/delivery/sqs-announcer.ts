import { GetQueueUrlCommand, SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import { errorOf } from '../errors.ts';
import { messageOf } from '../events/message.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { Announcer, PublishOutcome } from '../ports/announcer.ts';
import { answerOf, dispatch, TopicPace } from './dispatch.ts';
import { fifoIds } from './fifo-ids.ts';
import { codeOf } from './refusals.ts';

/** The queue does not exist, or the function may not use it. */
export class QueueUnreachableError extends errorOf('queue-unreachable', 'ops') {
  readonly whatToDo =
    "Check the ARN. The queues that the configuration subscribes are allowed; any other queue's own policy must allow sqs:GetQueueUrl and sqs:SendMessage to the role of the operate function.";

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
export class SqsAnnouncer implements Pick<Announcer, 'publish'> {
  readonly #client: SQSClient;
  readonly #arn: string;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #pace = new TopicPace();
  #url: string | undefined;

  /** @param random for the jitter: from 0 up to, not including, 1 */
  constructor(client: SQSClient, arn: string, clock: Clock, random = Math.random) {
    this.#client = client;
    this.#arn = arn;
    this.#clock = clock;
    this.#random = random;
  }

  /** @throws QueueUnreachableError */
  async publish(owed: readonly OwedEvent[], deadline?: Temporal.Instant): Promise<PublishOutcome> {
    this.#url ??= await this.#findUrl();
    const QueueUrl = this.#url;
    const isFifo = this.#arn.endsWith('.fifo');
    return dispatch(
      owed.map((one) => ({ owed: one, ...messageOf(one.event) })),
      (batch, requestTimeout) => {
        const Entries = batch.map(({ owed, body, attributes }, index) => ({
          // It counts within its batch only.
          Id: String(index),
          MessageBody: body,
          MessageAttributes: attributes,
          ...(isFifo && fifoIds(owed.event)),
        }));
        const command = new SendMessageBatchCommand({ QueueUrl, Entries });
        return answerOf(batch.length, this.#client.send(command, { requestTimeout }));
      },
      { clock: this.#clock, random: this.#random, pace: this.#pace, deadline },
    );
  }

  async #findUrl(): Promise<string> {
    const [, , , , QueueOwnerAWSAccountId, QueueName] = this.#arn.split(':');
    try {
      const { QueueUrl } = await this.#client.send(
        new GetQueueUrlCommand({ QueueName, QueueOwnerAWSAccountId }),
      );
      return QueueUrl ?? '';
    } catch (error) {
      throw new QueueUnreachableError(this.#arn, codeOf(error), { cause: error });
    }
  }
}
