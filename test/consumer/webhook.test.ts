import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { InHandError, type Reception, type WebhookOptions, webhook } from '../../consumer/index.ts';
import { event } from './events.ts';
import { certificateUrl, Signer, topicArn } from './signed-messages.ts';

// Cases that the example in https.test.ts cannot have: failing handlers, and an SNS that does not
// answer.
let sns: Signer;
const running: (() => void)[] = [];

beforeAll(async () => {
  sns = await Signer.create();
});
afterEach(() => {
  for (const end of running.splice(0)) end();
});

async function answerTo(body: unknown, options: Partial<WebhookOptions>) {
  const receptions: Reception[] = [];
  const receive = webhook({
    topicArns: topicArn,
    handle: async () => {},
    report: (reception) => receptions.push(reception),
    fetch: async (url) => new Response(url === certificateUrl ? sns.certificate : ''),
    ...options,
  });
  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, '127.0.0.1');
  running.push(() => server.close());
  await once(server, 'listening');
  const { status } = await fetch(`http://127.0.0.1:${Object(server.address()).port}/`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return { status, reception: receptions[0] };
}

const notification = () => sns.notification(JSON.stringify(event()));

describe('a webhook', () => {
  it('answers success after the handler has resolved', async () => {
    let handled = false;
    const handle = async () => {
      await Promise.resolve();
      handled = true;
    };
    expect(await answerTo(notification(), { handle })).toEqual({
      status: 200,
      reception: { outcome: 'handled', event: event() },
    });
    expect(handled).toBe(true);
  });

  it.each([
    [
      'throws',
      () => {
        throw new RangeError('Odalys');
      },
    ],
    ['rejects', () => Promise.reject(new RangeError('Odalys'))],
  ])('continues if its report %s, and warns without a value', async (_, report) => {
    const warned = once(process, 'warning');
    expect(await answerTo(notification(), { report })).toMatchObject({ status: 200 });
    const [warning] = await warned;
    expect(warning).toMatchObject({
      name: 'WebhookWarning',
      message: 'report has thrown RangeError',
    });
  });

  it('has SNS send an event again after its handler failed', async () => {
    const error = new RangeError('no');
    const handle = () => Promise.reject(error);
    expect(await answerTo(notification(), { handle })).toEqual({
      status: 500,
      reception: { outcome: 'failed', status: 500, error },
    });
  });

  it('has SNS send an event again that another worker has in hand', async () => {
    const handle = () => Promise.reject(new InHandError());
    expect(await answerTo(notification(), { handle })).toMatchObject({ status: 503 });
  });

  it('has SNS send a message again that cannot be verified at the moment', async () => {
    const fetch = async () => new Response('', { status: 500 });
    expect(await answerTo(notification(), { fetch })).toMatchObject({
      status: 503,
      reception: { error: { code: 'sns-unreachable' } },
    });
  });

  it("reports SNS's messages about its subscription", async () => {
    const { reception } = await answerTo(sns.confirmation({ Type: 'UnsubscribeConfirmation' }), {});
    expect(reception).toEqual({ outcome: 'unsubscription', topicArn });
  });
});
