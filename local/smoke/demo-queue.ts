import { DeleteMessageBatchCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type Access, calling } from '../../ops/target/access.ts';
import { eventIn } from '../messages.ts';
import type { Heard } from './judging.ts';

const waitSeconds = 1;
/** SQS gives no more at a time. */
const mostAtOnce = 10;

/** The queue that the demo subscribes. It is nobody else's, so read messages are deleted. */
export class DemoQueue {
  readonly #sqs: SQSClient;
  readonly #url: string;

  constructor({ clients, settings }: Access, url: string) {
    this.#sqs = clients.open(new SQSClient(settings('sqs')));
    this.#url = url;
  }

  /** Those that have come, up to ten; waits a second for the first. */
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
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: `${index}`, ReceiptHandle }));
    const remove = new DeleteMessageBatchCommand({ QueueUrl: this.#url, Entries });
    await calling('sqs:DeleteMessage', () => this.#sqs.send(remove), stop);
    return Messages.map(({ Body = '' }) => heardIn(Body));
  }
}

function heardIn(body: string): Heard {
  const { id, type, subject, data } = eventIn(body);
  return {
    id,
    type: type.replace('certification.', ''),
    about: Number(subject),
    organizationId: data.assessment.organization_id,
  };
}
