import { DeleteMessageBatchCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type Access, calling } from '../../ops/target/access.ts';
import { eventIn } from '../messages.ts';
import type { QueuedEvent } from './judging.ts';

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
  async receive(stop: AbortSignal): Promise<QueuedEvent[]> {
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
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: `${index}`, ReceiptHandle }));
    const remove = new DeleteMessageBatchCommand({ QueueUrl: this.#url, Entries });
    await calling('sqs:DeleteMessage', () => this.#sqs.send(remove), stop);
    return Messages.map(({ Body = '' }) => heardIn(Body));
  }
}

function heardIn(body: string): QueuedEvent {
  const { id, type, subject, data } = eventIn(body);
  return {
    id,
    type: type.replace('certification.', ''),
    about: Number(subject),
    organizationId: data.assessment.organization_id,
  };
}
