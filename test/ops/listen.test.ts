import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { targetUrl } from '../../ops/listening/target-url.ts';
import { mostAttempts, verdictOf } from '../../ops/listening/verdict.ts';
import { answering, denied, desk } from './desk.ts';
import { messagingFor } from './messaging.ts';
import type { Running } from './program-runner.ts';

const duty = desk();
const aws = messagingFor(duty);

/** A webhook under development. @param statuses its answers, the last of which stays; 0 is none */
async function webhookOf(...statuses: number[]) {
  const posted: { url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const { url, headers } = request;
    posted.push({ url, headers, body: await text(request) });
    const status = statuses[Math.min(posted.length, statuses.length) - 1] ?? 200;
    // The head alone is no answer.
    if (status === 0) response.writeHead(200).write('…');
    else response.writeHead(status).end('what it says is nobody’s business');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${Object(server.address()).port}/hook?token=t0ken`;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { posted, url, [Symbol.asyncDispose]: close };
}

/** Starts the command, and waits for its subscription. */
async function listening(args: string): Promise<Running> {
  const program = duty.start(`listen ${args}`);
  await program.shows(/^(Their topic: |\{"listening")/m);
  return program;
}

describe('listen', () => {
  it("posts an SNS message as the deployment signed it, byte for byte and with SNS's headers", async () => {
    await using webhook = await webhookOf(200);
    const program = await listening(`--forward-to ${webhook.url} --count 1`);
    const [QueueUrl] = await aws.queues();
    const [subscription] = await aws.subscriptions();
    const notification = {
      ...{ Type: 'Notification', MessageId: 'a1', TopicArn: aws.topicArn, Subject: '“Zoë”' },
      ...{ Message: JSON.stringify(aws.published), Signature: 'c2lnbmVk' },
    };
    // Nobody who had parsed it would write it like this.
    const MessageBody = `{ "Later": 1.0,${JSON.stringify(notification, null, 1).slice(1)} `;
    await aws.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));

    const { exitCode, stdout, stderr } = await program.ended;
    expect(webhook.posted).toEqual([
      {
        url: '/hook?token=t0ken',
        headers: {
          'content-type': 'text/plain; charset=UTF-8',
          'user-agent': 'Amazon Simple Notification Service Agent',
          'x-amz-sns-message-type': 'Notification',
          'x-amz-sns-message-id': 'a1',
          'x-amz-sns-topic-arn': aws.topicArn,
          'x-amz-sns-subscription-arn': subscription?.SubscriptionArn,
          host: new URL(webhook.url).host,
          connection: 'close',
          'content-length': String(Buffer.byteLength(MessageBody)),
        },
        body: MessageBody,
      },
    ]);
    expect(stdout).toMatch(
      /^2026-11-21 [\d:]{8} EST {2}delivered {2}certification\.created · district-a\/48213\/1 · 200 in \d+ ms\n$/,
    );
    expect(stderr).toContain('Subscription and queue are removed. Events: 1 delivered.\n');
    expect(stdout + stderr).not.toMatch(/t0ken|Odalys|nobody’s/);
    expect(exitCode).toBe(0);
    await aws.nothingLeft();
  });

  it('offers a message again that was answered with 500, and meanwhile posts no later one than the counted', async () => {
    await using webhook = await webhookOf(500, 200);
    const program = await listening(`--forward-to ${webhook.url} --count 1`);
    await aws.publish('the first');
    await program.shows(/ again {6}.* · 500 in \d+ ms · offered again in 1 s\n/);
    await aws.publish('another');
    const { exitCode, stdout, stderr } = await program.ended;
    expect(webhook.posted.map(({ body }) => JSON.parse(body).Message)).toEqual([
      'the first',
      'the first',
    ]);
    expect(stdout).toMatch(/ delivered {2}no event · \S+ · 200 in \d+ ms · attempt 2\n$/);
    expect(stderr).toContain('Events: 1 delivered.\n');
    expect(exitCode).toBe(0);
    await aws.nothingLeft();
  });

  it('posts others while one post gets no answer, keeps only that one, and ends at Ctrl-C', async () => {
    await using webhook = await webhookOf(0, 200);
    const program = await listening(`--forward-to ${webhook.url}`);
    await aws.publish();
    await expect.poll(() => webhook.posted, { interval: 5 }).toHaveLength(1);
    await aws.publish('another');
    await program.shows(/ delivered /);
    const [QueueUrl] = await aws.queues();
    const get = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
    await expect
      .poll(async () => (await aws.sqs.send(get)).Attributes, { interval: 5 })
      .toMatchObject({
        ApproximateNumberOfMessages: '0',
        ApproximateNumberOfMessagesNotVisible: '1',
        MessageRetentionPeriod: '300',
      });
    duty.story.clock.advance({ seconds: 15 });
    await program.shows(/ again {6}.* · no answer within 15 s · offered again in 1 s\n/);
    program.interrupt();
    const { exitCode, stderr } = await program.ended;
    expect(stderr).toContain('Events: 1 delivered, 1 not delivered.\n');
    expect(exitCode).toBe(0);
    await aws.nothingLeft();
  });

  it('subscribes to the requested types and test events, and names a subscription that stays', async () => {
    aws.snsGate.always(answering('Unsubscribe', denied));
    const one = `--integration ${duty.story.name} --type created,withdrawn`;
    const program = await listening(`--forward-to http://localhost:9/ ${one}`);
    const [subscription] = await aws.subscriptions();
    const { filter } = await aws.attributes(subscription?.SubscriptionArn);
    const type = ['certification.created', 'certification.withdrawn', 'certification.test'];
    expect(filter).toBe(JSON.stringify({ type }));
    program.interrupt();
    const { exitCode, stderr } = await program.ended;
    expect(stderr).toMatch(
      /error: AWS refuses sns:Unsubscribe .* Left behind: the subscription arn:\S+\.\n {2}The next run of listen /,
    );
    expect(exitCode).toBe(4);
    expect(await aws.queues()).toEqual([]);
  });

  it('takes a 403 as final, as SNS does, and prints JSON for machines', async () => {
    await using webhook = await webhookOf(403);
    const program = await listening(`--forward-to ${webhook.url} --count 1 --json`);
    await aws.publish('maintenance\u001b[2J');
    const { exitCode, stdout } = await program.ended;
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { listening: { topicArn: aws.topicArn, to: webhook.url.replace(/\?.*/, '') } },
      { post: { attempt: 1, answer: { status: 403 }, verdict: { outcome: 'refused' } } },
      { ended: { delivered: 0, refused: 1, givenUp: 0, notDelivered: 0 } },
    ]);
    expect(exitCode).toBe(1);
  });

  it('says that no webhook answers, and continues after a message that is not from SNS', async () => {
    const program = await listening('--forward-to http://127.0.0.1:9/');
    const [QueueUrl] = await aws.queues();
    await aws.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{"Type":"Other"}' }));
    await program.shows(/Ignored a message that is no notification of SNS\./);
    await aws.publish();
    await program.shows(
      / again {6}.* · no answer \(ECONNREFUSED\) in \d+ ms · offered again in 1 s\n/,
    );
    program.interrupt();
    const { exitCode, stderr } = await program.ended;
    expect(stderr).toContain('Events: 1 not delivered.\n');
    expect(exitCode).toBe(0);
  });
});

const [elsewhere, noUrl] = ['is a http URL of another machine', 'is no http or https URL'];
it.each([
  ['http://example.org/hook', elsewhere],
  ['http://somebody:secret@192.168.0.7/hook?token=secret', elsewhere],
  ['http://127.0.0.1.example.org/', elsewhere],
  ['http://localhost.example.org/', elsewhere],
  ['http://0.0.0.0:8080/', elsewhere],
  ['ftp://localhost/', noUrl],
  ['localhost:8080/hook', noUrl],
  ['http://localhost/', ''],
  ['http://[::1]:8080/', ''],
  ['http://127.1:8080/', ''],
  ['https://example.org/', ''],
])('the URL of a webhook may be %s, save that it %s', (url, problem) => {
  if (problem === '') expect(targetUrl(url).protocol).toMatch(/^https?:$/);
  else expect(() => targetUrl(url)).toThrow(`--forward-to ${problem}.`);
});

const delivered = { outcome: 'delivered' };
const refused = { outcome: 'refused' };
const again = { outcome: 'again', inSeconds: 1 };
it.each([
  ...[200, 204, 299].map((status) => [status, 1, delivered] as const),
  ...[400, 403, 404, 422, 499].map((status) => [status, 1, refused] as const),
  ...[301, 429, 500, 503, 599, 'ECONNREFUSED', 'too-late'].map(
    (status) => [status, 1, again] as const,
  ),
  [500, mostAttempts - 1, { outcome: 'again', inSeconds: 40 }] as const,
  [500, mostAttempts, { outcome: 'given-up' }] as const,
])('the answer %s to attempt %i is %j, as SNS takes it', (status, attempt, verdict) => {
  expect(verdictOf({ status, tookMs: 1 }, attempt)).toEqual(verdict);
});
