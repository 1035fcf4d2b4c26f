import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { event } from './events.ts';
import { Program } from './example.ts';
import { certificateUrl, Signer, subscribeUrl, topicArn } from './signed-messages.ts';
import { SnsHost } from './sns-host.ts';

// The receiver example as a separate process, and SNS under its real host name.
const host = new SnsHost();
let sns: Signer;
let stranger: Signer;
let receiver: Program;
let port: number;

const pathOf = (url: string) => url.slice(new URL(url).origin.length);

beforeAll(async () => {
  [sns, stranger] = await Promise.all([Signer.create(), Signer.create(), host.open()]);
  host.answers.set(pathOf(certificateUrl), sns.certificate);
  host.answers.set(pathOf(subscribeUrl()), '<ConfirmSubscriptionResponse/>');
  receiver = await Program.start('https-webhook', {
    ...host.environment,
    TOPIC_ARN: topicArn,
    PORT: '0',
    BODY_WITHIN_MS: '300',
  });
  const line = await receiver.line(/^Listening on port \d+$/);
  port = Number(line.split(' ').at(-1));
});
afterAll(async () => {
  await receiver?.end();
  await host.close();
});
beforeEach(() => {
  host.asked.length = 0;
  receiver.lines.length = 0;
});

/** Posts as SNS does: JSON with the content type of text. */
async function post(body: unknown): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: {
      'content-type': 'text/plain; charset=UTF-8',
      'user-agent': 'Amazon Simple Notification Service Agent',
      'x-amz-sns-message-type': 'Notification',
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return response.status;
}

/** A connection that sends bytes as they are. */
function open() {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  return socket;
}
const head = (length: string) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain; charset=UTF-8\r\n${length}\r\n\r\n`;

let ids = 0;
const newEvent = () => {
  ids += 1;
  return event({ id: ids });
};
const notification = (signer: Signer, change: Record<string, string> = {}) =>
  signer.notification(JSON.stringify(newEvent()), change);

/** A notification about a person who must not appear in any line. */
const unseen = (signer: Signer, change: Record<string, string> = {}) =>
  signer.notification(JSON.stringify(newEvent()).replaceAll('Odalys', 'Wendeline'), change);

describe('the receiver example', () => {
  it('handles a notification that SNS signs with version 2', async () => {
    const published = newEvent();
    expect(await post(sns.notification(JSON.stringify(published)))).toBe(200);
    await receiver.line(/^certification\.created {2}Rope Bridge Safety, /);
    await receiver.line(new RegExp(`^handled {2}${published.id}$`));
  });

  it('asks SNS for the certificate once', async () => {
    await post(notification(sns));
    host.asked.length = 0;
    expect(await post(notification(sns))).toBe(200);
    expect(host.asked).toEqual([]);
  });

  it('handles an event once that SNS sends twice', async () => {
    const published = newEvent();
    const twice = sns.notification(JSON.stringify(published));
    expect(await post(twice)).toBe(200);
    expect(await post(twice)).toBe(200);
    const { lines } = receiver;
    const linesWith = (pattern: RegExp) =>
      lines.filter((line) => line.endsWith(published.id) && pattern.test(line)).length;
    while (linesWith(/^handled/) < 2) await receiver.line(/./, lines.length);
    expect(linesWith(/^certification\.created/)).toBe(1);
  });

  it.each([
    [
      'a changed body',
      'signature',
      () => {
        const signed = unseen(sns);
        return { ...signed, Message: signed.Message?.replace('Wendeline', 'Wilhelmina') };
      },
    ],
    ['SHA-1 (version 1)', 'signature-version', () => unseen(sns, { SignatureVersion: '1' })],
    ['the signature of a stranger', 'signature', () => unseen(stranger)],
    [
      'a certificate of another host',
      'certificate-url',
      () =>
        unseen(stranger, {
          SigningCertURL: certificateUrl.replace('amazonaws.com', 'amazonaws.com.example.org'),
        }),
    ],
    [
      'another topic',
      'topic',
      () => unseen(sns, { TopicArn: 'arn:aws:sns:us-east-1:444455556666:notifier-events' }),
    ],
    [
      'a message recorded two hours ago',
      'too-old',
      () => unseen(sns, { Timestamp: new Date(Date.now() - 7_200_000).toISOString() }),
    ],
    [
      'a confirmation with a foreign URL',
      'subscribe-url',
      () => sns.confirmation({ SubscribeURL: subscribeUrl({ host: '169.254.169.254' }) }),
    ],
  ])('refuses %s for good, and connects to SNS only', async (_, reason, message) => {
    expect(await post(message())).toBe(403);
    await receiver.line(new RegExp(`^refused {2}403 SnsMessageRefusedError, ${reason}$`));
    expect(receiver.lines.join()).not.toMatch(/Wendeline|Wilhelmina/);
    for (const url of host.asked)
      expect(url).toMatch(/^(https:\/\/)?sns\.us-east-1\.amazonaws\.com[:/]/);
  });

  it('refuses a body that is no SNS message', async () => {
    expect(await post('{"certification": "of Odalys"}')).toBe(400);
    expect(await post(JSON.stringify(newEvent()))).toBe(400);
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(400);
  });

  it('refuses a signed message that is no event', async () => {
    expect(await post(sns.notification('3 new certifications'))).toBe(422);
  });

  it('refuses 10 MB by their announced length, without reading them', async () => {
    const socket = open();
    socket.write(head('Content-Length: 10485760'));
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/^connection: close/im);
  });

  it('refuses an endless body without a length, and hangs up', async () => {
    const socket = open();
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const feed = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.write(head('Transfer-Encoding: chunked'));
    socket.on('drain', feed);
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    feed();
    await closed;
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('answers once to a sender that reads only after it has sent everything', async () => {
    const socket = connect({ port, host: '127.0.0.1' }).pause();
    const chunk = `100000\r\n${'x'.repeat(1_048_576)}\r\n`;
    const body = `${head('Transfer-Encoding: chunked')}${chunk.repeat(10)}0\r\n\r\n`;
    await new Promise<void>((resolve, reject) =>
      socket.on('error', reject).write(body, () => resolve()),
    );
    const answer = await text(socket);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413']);
  });

  it('does not wait for a body that does not come, and SNS may send it again', async () => {
    const socket = open();
    socket.write(`${head('Content-Length: 5000')}{"Type":`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 503 /);
    await receiver.line(/^failed {2}503 BodyTooSlowError$/);
  });

  it('continues after a sender hangs up within a request', async () => {
    const socket = open();
    socket.write(`${head('Content-Length: 5000')}{"Type":`);
    await once(socket, 'connect');
    socket.destroy();
    await receiver.line(/^failed {2}500 Error$/);
    expect(await post(notification(sns))).toBe(200);
  });

  it('confirms the subscription to its topic at SNS', async () => {
    expect(await post(sns.confirmation())).toBe(200);
    expect(host.asked).toContain(subscribeUrl());
    await receiver.line(new RegExp(`^subscribed to ${topicArn}$`));
  });

  it("does not confirm another topic's subscription", async () => {
    const TopicArn = 'arn:aws:sns:us-east-1:444455556666:theirs';
    expect(await post(sns.confirmation({ TopicArn }))).toBe(403);
    expect(host.asked).toEqual([]);
  });
});
