import { DeleteMessageBatchCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { certificationEventSchema } from '../../lambda/events/event.ts';
import { jsonText } from '../../lambda/json-text.ts';
import { type Access, calling } from '../../ops/target/access.ts';
import type { Heard, QueuedEvent } from './judging.ts';

const waitSeconds = 1;
/** The most that SQS gives at once. */
const mostAtOnce = 10;

/** The demo's own queue. Nobody else reads it, so messages are deleted once they are read. */
export class DemoQueue {
  readonly #sqs: SQSClient;
  readonly #url: string;

  constructor({ clients, settings }: Access, url: string) {
    this.#sqs = clients.open(new SQSClient(settings('sqs')));
    this.#url = url;
  }

  /** Up to ten messages; waits a second for the first. */
  async receive(stop: AbortSignal): Promise<Heard[]> {
    const receive = new ReceiveMessageCommand({
      QueueUrl: this.#url,
      MaxNumberOfMessages: mostAtOnce,
      WaitTimeSeconds: waitSeconds,
    });
    const { Messages = [] } = await calling(
      'sqs:ReceiveMessage',
      () => this.#sqs.send(receive, { abortSignal: stop }),
      stop,
    );
    if (Messages.length === 0) return [];
    const heard = Messages.map(({ MessageId = '', Body }) => heardIn(MessageId, Body));
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: `${index}`, ReceiptHandle }));
    const remove = new DeleteMessageBatchCommand({ QueueUrl: this.#url, Entries });
    await calling('sqs:DeleteMessage', () => this.#sqs.send(remove), stop);
    return heard;
  }
}

const eventText = z.pipe(jsonText, certificationEventSchema);

/** Anybody who may send to the queue can send something else than an event. */
export function heardIn(messageId: string, body: string | undefined): Heard {
  const { data: event } = eventText.safeParse(body);
  if (event === undefined) return { messageId };
  const { id, type, subject, time, sequence, data } = event;
  return {
    id,
    type: type.replace('certification.', ''),
    about: Number(subject),
    organizationId: data.assessment.organization_id,
    revision: Number(sequence),
    at: Date.parse(time),
  } satisfies QueuedEvent;
}
