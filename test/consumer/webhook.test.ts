import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InHandError, type Reception, type WebhookOptions, webhook } from '../../consumer/index.ts';
import { event } from './events.ts';
import { certificateUrl, Signer, topicArn } from './signed-messages.ts';

const sns = await Signer.create();
let server: Server;
let port: number;
let options: { -readonly [Name in keyof WebhookOptions]?: WebhookOptions[Name] };
let receptions: Reception[];
/** The framework's work on the body before. */
let reads: (request: Readable) => Promise<unknown>;

beforeEach(async () => {
  options = {};
  receptions = [];
  reads = async () => undefined;
  server = createServer(
    async (request, response) =>
      void webhook({
        topicArns: topicArn,
        handle: async () => {},
        report: (reception) => receptions.push(reception),
        fetch: async (url) => new Response(url === certificateUrl ? sns.certificate : ''),
        ...options,
      })(request, response, await reads(request)),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = Object(server.address()));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function post(body: unknown) {
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: sent });
  return { status, reception: receptions[0] };
}
const notification = () => sns.notification(JSON.stringify(event()));

describe('a webhook', () => {
  it('answers success after the handler has resolved', async () => {
    options.handle = vi.fn(() => nextTurn());
    const reception = { outcome: 'handled', event: event() };
    expect(await post(notification())).toEqual({ status: 200, reception });
    expect(options.handle).toHaveResolved();
  });

  const error = new RangeError('no');
  it.each<[string, Partial<WebhookOptions>, number, object]>([
    ['its handler failed', { handle: () => Promise.reject(error) }, 500, { error }],
    ['another worker has it in hand', { handle: () => Promise.reject(new InHandError()) }, 503, {}],
    [
      'it cannot be verified at the moment',
      { fetch: async () => new Response('', { status: 500 }) },
      503,
      { error: { code: 'sns-unreachable' } },
    ],
  ])('has SNS send an event again if %s', async (_, change, status, more) => {
    options = change;
    const reception = { outcome: 'failed', status, ...more };
    expect(await post(notification())).toMatchObject({ status, reception });
  });

  it.each<[string, (request: Readable) => Promise<unknown>, object]>([
    ['takes the raw body from', text, { outcome: 'handled' }],
    ['says at once what to do about', json, { status: 500, error: { code: 'body-already-read' } }],
  ])('%s a framework that has read it', async (_, framework, reception) => {
    reads = framework;
    expect(await post(notification())).toMatchObject({ reception });
  });

  it.each([
    ['no SNS message', 400, () => '{"certification": "of Odalys"}'],
    ['an event that SNS has not signed', 400, () => event()],
    ['a changed message', 403, () => ({ ...notification(), Message: 'other' })],
    ['a signed message that is no event', 422, () => sns.notification('3 new certifications')],
  ])('refuses %s for good', async (_, status, body) => {
    const reception = { outcome: 'refused', status };
    expect(await post(body())).toMatchObject({ status, reception });
  });

  it("reports SNS's messages about its subscription", async () => {
    const { reception } = await post(sns.confirmation({ Type: 'UnsubscribeConfirmation' }));
    expect(reception).toEqual({ outcome: 'unsubscription', topicArn });
    await post(sns.confirmation());
    expect(receptions[1]).toEqual({ outcome: 'subscription', topicArn, confirmed: true });
  });

  it.each([
    ['throws', vi.fn().mockThrow(new RangeError('Odalys'))],
    ['rejects', vi.fn().mockRejectedValue(new RangeError('Odalys'))],
  ])('continues if its report %s, and warns without a value', async (_, report) => {
    const warned = once(process, 'warning');
    options.report = report;
    expect(await post(notification())).toMatchObject({ status: 200 });
    const message = 'report has thrown RangeError';
    expect(await warned).toMatchObject([{ name: 'WebhookWarning', message }]);
  });
});

describe('a webhook reads of a body', () => {
  const head = (length: string) => `POST / HTTP/1.1\r\nHost: localhost\r\n${length}\r\n\r\n`;
  const chunked = head('Transfer-Encoding: chunked');
  const part = `${head('Content-Length: 5000')}{"Type":`;
  const mebibyte = `100000\r\n${'x'.repeat(1_048_576)}\r\n`;
  const open = () => connect(port, '127.0.0.1').on('error', () => {});
  /** Everything until the connection is closed or reset. */
  async function answerOn(socket: Socket): Promise<string> {
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part)).resume();
    await new Promise((closed) => socket.once('close', closed));
    return Buffer.concat(parts).toString();
  }

  const feed = (socket: Socket) => {
    while (!socket.destroyed && socket.write(mebibyte));
  };
  it.each<[string, (socket: Socket) => unknown]>([
    ['nothing if its length is too large', (one) => one.write(head('Content-Length: 10485760'))],
    [
      'no more than the limit if it has no end',
      (one) => one.on('drain', () => feed(one)).write(chunked, () => feed(one)),
    ],
    [
      'no more than the limit, also from a sender that reads only in the end',
      (one) =>
        new Promise((sent) => one.pause().write(`${chunked}${mebibyte.repeat(10)}0\r\n\r\n`, sent)),
    ],
  ])('%s, answers once, and hangs up', async (_, send) => {
    const socket = open();
    await send(socket);
    const answer = await answerOn(socket);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413']);
    expect(answer).toMatch(/^connection: close/im);
  });

  it('only the part that comes in time, and SNS may send it again', async () => {
    options.bodyWithin = { milliseconds: 300 };
    const socket = open();
    socket.write(part);
    expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 503 /);
    expect(receptions).toMatchObject([{ status: 503, error: { code: 'body-too-slow' } }]);
  });

  it('the part before its sender hangs up, and continues', async () => {
    const socket = open();
    socket.write(part);
    await once(socket, 'connect');
    socket.destroy();
    await expect.poll(() => receptions).toMatchObject([{ outcome: 'failed', status: 500 }]);
    expect(await post(notification())).toMatchObject({ status: 200 });
  });
});
