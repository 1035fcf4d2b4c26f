import {
  GetQueueUrlCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import { NotifierError } from '../errors.ts';
import { attributeBytes, messageAttributes } from '../events/attributes.ts';
import { messageBody } from '../events/message.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { Announcer, PublishOutcome } from '../ports/announcer.ts';
import { type Answer, Dispatch, type Message } from './dispatch.ts';
import { fifoIds, isFifo } from './fifo-ids.ts';
import { codeOf } from './refusals.ts';
import { TopicPace } from './topic-pace.ts';

/** The queue does not exist, or the function may not use it. */
export class QueueUnreachableError extends NotifierError {
  readonly code = 'queue-unreachable';
  readonly fault = 'ops';
  readonly retryHelps = false;
  readonly whatToDo =
    "Check the ARN. The queues that the configuration subscribes are allowed; any other queue's own policy must allow sqs:GetQueueUrl and sqs:SendMessage to the role of the operate function.";

  constructor(arn: string, reason: string, options: ErrorOptions) {
    super(`The queue ${arn} cannot be reached (${reason}).`, options);
  }
}

/** A queue answers in its own region only. */
export const regionOf = (arn: string): string => arn.split(':')[3] ?? '';

interface SqsMessage extends Message {
  readonly entry: Omit<SendMessageBatchRequestEntry, 'Id'>;
}

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
    const url = this.#url;
    const context = { clock: this.#clock, random: this.#random, pace: this.#pace, deadline };
    const dispatch = new Dispatch<SqsMessage>((...sent) => this.#sendBatch(url, ...sent), context);
    const ordered = isFifo(this.#arn);
    return dispatch.run(owed.map((one) => messageOf(one, ordered)));
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

  /** What is not named in `Successful` is not accepted, whether or not `Failed` names it. */
  async #sendBatch(
    QueueUrl: string,
    batch: readonly SqsMessage[],
    requestTimeout: number,
  ): Promise<Answer> {
    try {
      const answer = await this.#client.send(
        new SendMessageBatchCommand({
          QueueUrl,
          // The id of an entry counts within its batch only.
          Entries: batch.map(({ entry }, index) => ({ Id: String(index), ...entry })),
        }),
        { requestTimeout },
      );
      const successful = new Set((answer.Successful ?? []).map(({ Id }) => Id));
      const codes = new Map((answer.Failed ?? []).map(({ Id, Code }) => [Id, Code]));
      const entries = batch.map((_, index) => {
        const id = String(index);
        return successful.has(id) ? undefined : (codes.get(id) ?? 'NotAnswered');
      });
      return { entries };
    } catch (error) {
      return { code: codeOf(error) };
    }
  }
}

function messageOf(owed: OwedEvent, ordered: boolean): SqsMessage {
  const MessageBody = messageBody(owed.event);
  const MessageAttributes = messageAttributes(owed.event);
  return {
    owed,
    bytes: Buffer.byteLength(MessageBody) + attributeBytes(MessageAttributes),
    entry: { MessageBody, MessageAttributes, ...(ordered && fifoIds(owed.event)) },
  };
}
