import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { event } from './events.ts';

/** The settings of an SDK for services on this machine. */
export const localAws = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
};

/** An AWS with a queue, whose messages are of one group and come in one answer. It refuses the operations that a test names. */
export class RefusingAws {
  /** Operations, in the order of their requests. */
  readonly asked: string[] = [];
  /** By operation: the number of refusals before it is carried out. */
  refusals: Record<string, number> = {};
  /** By receipt handle, until they are deleted. */
  readonly messages = new Map([['r1', JSON.stringify(event())]]);
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      const { ReceiptHandle } = JSON.parse(await text(request));
      const [, operation = ''] = String(request.headers['x-amz-target']).split('.');
      this.asked.push(operation);
      // This is how long a poll without messages takes.
      if (operation === 'ReceiveMessage' && this.messages.size === 0) await setTimeout(100);
      const left = this.refusals[operation] ?? 0;
      this.refusals[operation] = left - 1;
      response.writeHead(left > 0 ? 403 : 200, { 'content-type': 'application/x-amz-json-1.0' });
      const answer =
        left > 0 ? { __type: 'AccessDeniedException' } : this.#answer(operation, ReceiptHandle);
      response.end(JSON.stringify(answer));
    });
  }

  /** @returns the settings for its clients' environment */
  async open(): Promise<Record<string, string>> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    const endpoint = `http://127.0.0.1:${Object(this.#server.address()).port}`;
    return {
      ...{ ...localAws, AWS_ENDPOINT_URL: endpoint, TABLE_NAME: 'handled' },
      QUEUE_URL: `${endpoint}/111122223333/certifications`,
    };
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(operation: string, handle: string): object {
    if (operation === 'DeleteMessage') this.messages.delete(handle);
    if (operation !== 'ReceiveMessage') return {};
    const Messages = [...this.messages].map(([ReceiptHandle, Body]) => ({
      ...{ MessageId: `m ${ReceiptHandle}`, ReceiptHandle, Body },
      MD5OfBody: createHash('md5').update(Body).digest('hex'),
      Attributes: { MessageGroupId: 'district-a/48213' },
    }));
    return { Messages };
  }
}
