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

/** An AWS with one message in a queue. It refuses the operations that a test names. */
export class RefusingAws {
  /** Operations, in the order of their requests. */
  readonly asked: string[] = [];
  /** By operation: the number of refusals before it is carried out. */
  refusals: Record<string, number> = {};
  /** The message, until it is deleted. */
  body: string | undefined = JSON.stringify(event());
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      await text(request);
      const [, operation = ''] = String(request.headers['x-amz-target']).split('.');
      this.asked.push(operation);
      // This is how long a poll without messages takes.
      if (operation === 'ReceiveMessage' && this.body === undefined) await setTimeout(100);
      const left = this.refusals[operation] ?? 0;
      this.refusals[operation] = left - 1;
      response.writeHead(left > 0 ? 403 : 200, { 'content-type': 'application/x-amz-json-1.0' });
      const answer = left > 0 ? { __type: 'AccessDeniedException' } : this.#answer(operation);
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

  #answer(operation: string): object {
    if (operation === 'DeleteMessage') this.body = undefined;
    if (operation !== 'ReceiveMessage' || this.body === undefined) return {};
    const MD5OfBody = createHash('md5').update(this.body).digest('hex');
    return { Messages: [{ MessageId: 'm', ReceiptHandle: 'r', Body: this.body, MD5OfBody }] };
  }
}
