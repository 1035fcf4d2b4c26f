import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import {
  GetSubscriptionAttributesCommand,
  ListSubscriptionsByTopicCommand,
  PublishCommand,
  SNSClient,
} from '@aws-sdk/client-sns';
import {
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifySnsMessage } from '../../consumer/index.ts';
import { Gate } from '../../local/aws/gate.ts';
import { event } from '../consumer/events.ts';
import { Program } from '../consumer/example.ts';
import { certificateUrl, Signer, topicArn as signedTopic } from '../consumer/signed-messages.ts';
import { SnsHost } from '../consumer/sns-host.ts';
import { Duty, denied } from './duty.ts';
import { ended, type Running, startProgram } from './running.ts';

const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
beforeEach(() => duty.raise());
afterEach(() => duty.strike());

const sqs = () => new SQSClient(duty.stage.aws.clientConfig('sqs'));
const sns = () => new SNSClient(duty.stage.aws.clientConfig('sns'));
const TopicArn = () => duty.stage.aws.output('EventsTopicArn');

async function queues(): Promise<string[]> {
  const list = new ListQueuesCommand({ QueueNamePrefix: 'certification-notifier-listen-' });
  return (await sqs().send(list)).QueueUrls ?? [];
}

async function subscriptions() {
  const list = new ListSubscriptionsByTopicCommand({ TopicArn: TopicArn() });
  const { Subscriptions = [] } = await sns().send(list);
  return Subscriptions.filter(({ Endpoint }) => Endpoint?.includes(':certification-notifier-'));
}

const publish = (Message = JSON.stringify(event()), Subject?: string) =>
  sns().send(new PublishCommand({ TopicArn: TopicArn(), Message, Subject }));

const nothingLeft = async () => {
  expect(await queues()).toEqual([]);
  expect(await subscriptions()).toEqual([]);
};

interface Posted {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * A webhook under development. It has the received requests, and scripted answers, the last of
 * which stays.
 */
class Webhook implements AsyncDisposable {
  readonly posted: Posted[] = [];
  readonly #server: Server;

  private constructor(statuses: readonly number[]) {
    this.#server = createServer(async (request, response) => {
      const { url, headers } = request;
      this.posted.push({ url, headers, body: await text(request) });
      const status = statuses[Math.min(this.posted.length, statuses.length) - 1];
      response.writeHead(status ?? 200).end('what it says is nobody’s business');
    });
  }

  static async open(...statuses: number[]): Promise<Webhook> {
    const webhook = new Webhook(statuses);
    webhook.#server.listen(0, '127.0.0.1');
    await once(webhook.#server, 'listening');
    return webhook;
  }

  get url(): string {
    return `http://127.0.0.1:${Object(this.#server.address()).port}/hook?token=t0ken`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** Starts the command, and waits for its subscription. */
async function listening(args: string, env: Record<string, string> = {}): Promise<Running> {
  const program = duty.start(`listen ${args}`, { env });
  await program.shows(/^(Their topic: |\{"listening")/m);
  return program;
}

describe('listen', () => {
  it("posts an SNS message as the deployment signed it, byte for byte and with SNS's headers", async () => {
    await using webhook = await Webhook.open(200);
    const program = await listening(`--forward-to ${webhook.url} --count 1`);
    const [QueueUrl] = await queues();
    const [subscription] = await subscriptions();
    const signer = await Signer.create();
    const notification = signer.notification(JSON.stringify(event()), { Subject: '“Zoë”\n' });
    // Nobody who had parsed it would write it like this.
    const MessageBody = `{ "Later": 1.0,${JSON.stringify(notification, null, 1).slice(1)} `;
    await sqs().send(new SendMessageCommand({ QueueUrl, MessageBody }));

    const { exitCode, stdout, stderr } = await program.ended;
    expect(webhook.posted).toEqual([
      {
        url: '/hook?token=t0ken',
        headers: {
          'content-type': 'text/plain; charset=UTF-8',
          'user-agent': 'Amazon Simple Notification Service Agent',
          'x-amz-sns-message-type': 'Notification',
          'x-amz-sns-message-id': notification.MessageId,
          'x-amz-sns-topic-arn': signedTopic,
          'x-amz-sns-subscription-arn': subscription?.SubscriptionArn,
          'content-length': String(Buffer.byteLength(MessageBody)),
          host: new URL(webhook.url).host,
          connection: 'close',
        },
        body: MessageBody,
      },
    ]);
    const verified = await verifySnsMessage(webhook.posted[0]?.body ?? '', {
      topicArns: signedTopic,
      fetch: async (url) => new Response(url === certificateUrl ? signer.certificate : ''),
    });
    expect(verified).toMatchObject({ kind: 'notification', message: JSON.stringify(event()) });
    expect(stdout).toMatch(
      /^\d{4}-\d\d-\d\d [\d:]{8} E[SD]T {2}delivered {2}certification\.created · district-a\/48213\/1 · 200 in \d+ ms\n$/,
    );
    expect(stderr).toContain('Subscription and queue are removed. Events: 1 delivered.\n');
    expect(stdout + stderr).not.toMatch(/t0ken|Odalys|nobody’s/);
    expect(exitCode).toBe(0);
    await nothingLeft();
  });

  it('has a queue for its topic alone, which keeps messages for a short time, and delivered ones not at all', async () => {
    await using webhook = await Webhook.open(200);
    const program = await listening(`--forward-to ${webhook.url}`);
    const [QueueUrl] = await queues();
    await publish();
    await program.shows(/ delivered /);
    const get = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
    const { Attributes = {} } = await sqs().send(get);
    expect(Attributes).toMatchObject({
      MessageRetentionPeriod: '300',
      ApproximateNumberOfMessages: '0',
      ApproximateNumberOfMessagesNotVisible: '0',
    });
    expect(JSON.parse(Attributes.Policy ?? '').Statement).toMatchObject([
      {
        Principal: { Service: 'sns.amazonaws.com' },
        Condition: { ArnEquals: { 'aws:SourceArn': TopicArn() } },
      },
    ]);
    program.interrupt();
    expect(await program.ended).toMatchObject({ exitCode: 0 });
    await nothingLeft();
  });

  it('receives the requested types of one integration, and test events', async () => {
    await using webhook = await Webhook.open(200);
    const program = await listening(
      `--forward-to ${webhook.url} --type created,withdrawn --integration district-a`,
    );
    const [subscription] = await subscriptions();
    const { SubscriptionArn } = subscription ?? {};
    const get = new GetSubscriptionAttributesCommand({ SubscriptionArn });
    const { Attributes = {} } = await sns().send(get);
    expect(JSON.parse(Attributes.FilterPolicy ?? '')).toEqual({
      type: ['certification.created', 'certification.withdrawn', 'certification.test'],
    });
    program.interrupt();
    await program.ended;
  });

  it('offers an SNS message again that was answered with 500', async () => {
    await using webhook = await Webhook.open(500, 200);
    const program = await listening(`--forward-to ${webhook.url} --count 1`);
    await publish();
    const { exitCode, stdout } = await program.ended;
    expect(stdout).toMatch(/ again {6}.* · 500 in \d+ ms · offered again in 1 s\n/);
    expect(stdout).toMatch(/ delivered {2}.* · 200 in \d+ ms · attempt 2\n$/);
    const [first, second] = webhook.posted;
    expect(second?.body).toBe(first?.body);
    expect(exitCode).toBe(0);
    await nothingLeft();
  });

  it('waits for the counted message that is owed, and posts no later one', async () => {
    await using webhook = await Webhook.open(500, 200);
    const program = await listening(`--forward-to ${webhook.url} --count 1`);
    await publish('the first');
    await program.shows(/ again /);
    await publish('another');
    const { exitCode, stderr } = await program.ended;
    expect(webhook.posted.map(({ body }) => JSON.parse(body).Message)).toEqual([
      'the first',
      'the first',
    ]);
    expect(stderr).toContain('Events: 1 delivered.\n');
    expect(exitCode).toBe(0);
  });

  it('posts others while one post gets no answer', async () => {
    const server = createServer(async (request, response) => {
      if (JSON.parse(await text(request)).Message !== 'hanging') response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = Object(server.address());
    const program = await listening(`--forward-to http://127.0.0.1:${port}/`);
    await publish('hanging');
    await once(server, 'request');
    await publish('another');
    await program.shows(/ delivered /);
    expect(program.output.text).not.toContain('no answer');
    program.interrupt();
    expect((await program.ended).stderr).toContain('Events: 1 delivered, 1 not delivered.\n');
    server.close();
    await nothingLeft();
  });

  it('says that another run has removed its queue', async () => {
    const program = await listening('--forward-to http://localhost:9/');
    const [QueueUrl] = await queues();
    await sqs().send(new DeleteQueueCommand({ QueueUrl }));
    const { exitCode, stderr } = await program.ended;
    expect(stderr).toContain('error: Another run has removed the queue.\n  Its clock differs');
    expect(exitCode).toBe(5);
    await nothingLeft();
  });

  it('removes its queue although the subscription stays, and names that', async () => {
    const gate = new Gate();
    const env = { AWS_ENDPOINT_URL_SNS: await gate.open() };
    gate.target = duty.stage.aws.endpoints.sns;
    gate.always(async ({ operation, forward }) =>
      operation === 'Unsubscribe' ? denied : forward(),
    );
    try {
      const program = await listening('--forward-to http://localhost:9/', env);
      program.interrupt();
      const { exitCode, stderr } = await program.ended;
      expect(stderr).toMatch(
        /error: AWS refuses sns:Unsubscribe .* Left behind: the subscription arn:\S+\.\n {2}The next run of listen /,
      );
      expect(exitCode).toBe(4);
    } finally {
      await gate.close();
    }
    expect(await queues()).toEqual([]);
  });

  it('gives an SNS message up in the end, and its exit code says so', async () => {
    await using webhook = await Webhook.open(503);
    const gate = new Gate();
    const env = { AWS_ENDPOINT_URL_SQS: await gate.open() };
    gate.target = duty.stage.aws.endpoints.sqs;
    // This test does not wait for the pause.
    gate.always(({ operation, body, forward }) =>
      operation === 'ChangeMessageVisibility'
        ? forward(JSON.stringify({ ...JSON.parse(body), VisibilityTimeout: 0 }))
        : forward(),
    );
    try {
      const program = await listening(`--forward-to ${webhook.url} --count 1`, env);
      await publish();
      const { exitCode, stdout, stderr } = await program.ended;
      expect(webhook.posted).toHaveLength(8);
      expect([...stdout.matchAll(/offered again in (\d+) s/g)].map(([, s]) => Number(s))).toEqual([
        1, 5, 5, 5, 10, 20, 40,
      ]);
      expect(stdout).toMatch(/ given up {3}.* · attempt 8, the last; SNS would go on .*\n$/);
      expect(stderr).toContain('Events: 1 given up.\n');
      expect(exitCode).toBe(1);
    } finally {
      await gate.close();
    }
    await nothingLeft();
  });

  it('takes a 403 as final, as SNS does', async () => {
    await using webhook = await Webhook.open(403);
    const program = await listening(`--forward-to ${webhook.url} --count 1 --json`);
    await publish('maintenance\u001b[2J');
    const { exitCode, stdout } = await program.ended;
    const [begun, answered, ...rest] = stdout.trim().split('\n');
    expect(JSON.parse(begun ?? '')).toEqual({
      listening: { topicArn: TopicArn(), to: webhook.url.replace(/\?.*/, '') },
    });
    expect(JSON.parse(answered ?? '')).toMatchObject({
      post: { attempt: 1, answer: { status: 403 }, verdict: { outcome: 'refused' } },
    });
    expect(rest.map((line) => JSON.parse(line))).toEqual([
      { ended: { delivered: 0, refused: 1, givenUp: 0, notDelivered: 0 } },
    ]);
    expect(exitCode).toBe(1);
  });

  it('says that no webhook answers, and at the end counts the owed messages', async () => {
    const webhook = await Webhook.open(200);
    const { url } = webhook;
    await webhook[Symbol.asyncDispose]();
    const program = await listening(`--forward-to ${url}`);
    await publish();
    await program.shows(
      / again {6}.* · no answer \(ECONNREFUSED\) in \d+ ms · offered again in 1 s\n/,
    );
    program.interrupt();
    const { exitCode, stderr } = await program.ended;
    expect(stderr).toContain('Events: 1 not delivered.\n');
    expect(exitCode).toBe(0);
    await nothingLeft();
  });

  it('ends at Ctrl-C although its webhook does not answer', async () => {
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    const server = createServer(() => resolve()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = Object(server.address());
    const program = await listening(`--forward-to http://127.0.0.1:${port}/`);
    await publish();
    await isAsked;
    program.interrupt();
    const { exitCode, stdout, stderr } = await program.ended;
    server.close();
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
    expect(stderr).toContain('Events: 1 not delivered.\n');
    await nothingLeft();
  });

  it('continues after a message that is not from SNS', async () => {
    await using webhook = await Webhook.open(200);
    const program = await listening(`--forward-to ${webhook.url} --count 1`);
    const [QueueUrl] = await queues();
    await sqs().send(new SendMessageCommand({ QueueUrl, MessageBody: '{"Type":"Other"}' }));
    await program.shows(/Ignored a message that is no notification of SNS\./);
    await publish('no event');
    expect((await program.ended).stdout).toMatch(/ delivered {2}no event · [\da-f-]{36} · 200 in /);
    expect(webhook.posted).toHaveLength(1);
  });

  it('names a missing permission, and then leaves no queue behind', async () => {
    const gate = new Gate();
    const env = { AWS_ENDPOINT_URL_SNS: await gate.open() };
    gate.target = duty.stage.aws.endpoints.sns;
    gate.always(async ({ operation, forward }) => (operation === 'Subscribe' ? denied : forward()));
    try {
      const { exitCode, stderr } = await duty.run('listen --forward-to http://localhost/', { env });
      expect(stderr).toContain('error: AWS refuses sns:Subscribe ');
      expect(exitCode).toBe(4);
    } finally {
      await gate.close();
    }
    await nothingLeft();
  });

  it.each([
    ['http://example.org/hook', 'is a http URL of another machine'],
    ['http://somebody:secret@192.168.0.7/hook?token=secret', 'is a http URL of another machine'],
    ['http://127.0.0.1.example.org/', 'is a http URL of another machine'],
    ['http://localhost.example.org/', 'is a http URL of another machine'],
    ['http://0.0.0.0:8080/', 'is a http URL of another machine'],
    ['ftp://localhost/', 'is no http or https URL'],
    ['localhost:8080/hook', 'is no http or https URL'],
  ])('refuses %s in one line', async (url, problem) => {
    const { exitCode, stdout, stderr } = await duty.run(`listen --forward-to ${url}`);
    expect(stderr).toMatch(
      new RegExp(`^error: --forward-to ${problem}\\.\n {2}Allowed: https://…, or http:// on this`),
    );
    expect(stderr).not.toMatch(/secret|8080/);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  });

  it.each(['http://[::1]:8080/', 'http://127.1:8080/', 'https://dev.example.org/hook'])(
    'takes %s',
    async (url) => {
      const program = await listening(`--forward-to ${url}`);
      program.interrupt();
      expect(await program.ended).toMatchObject({ exitCode: 0 });
    },
  );
});

describe('as a process, listen', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/subscribing.md'), 'utf8');
  let folder: string;
  /** The trust file of the docs, for the SNS of the test. */
  let trust: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'listen-'));
  });
  beforeEach(async () => {
    const [, shown = ''] = /```ts\n(\/\/ trust-local\.ts.*?)```/s.exec(docs) ?? [];
    trust = join(folder, 'trust-local.ts');
    await writeFile(trust, shown.replace('http://127.0.0.1:4382', duty.stage.aws.endpoints.sns));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const startWebhook = async (environment: Record<string, string> = {}) => {
    const webhook = await Program.start('https-webhook', {
      TOPIC_ARN: TopicArn(),
      PORT: '0',
      ...environment,
    });
    const line = await webhook.line(/^Listening on port \d+$/);
    return { webhook, url: `http://localhost:${line.split(' ').at(-1)}/` };
  };

  const startListening = async (args: string) => {
    const child = startProgram(`listen --local ${args}`, duty.environment);
    await expect.poll(subscriptions, { interval: 20, timeout: 20_000 }).toHaveLength(1);
    return child;
  };

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'makes the example trust the local instance with the file of the docs, and ends clean with %s',
    async (signal) => {
      const { webhook, url } = await startWebhook({
        NODE_OPTIONS: `--import=${pathToFileURL(trust)}`,
      });
      try {
        // The baseline.
        await duty.stage.completedTick();
        const child = await startListening(`--forward-to ${url}`);
        const { id } = duty.stage.sandbox.world.add();
        await duty.stage.completedTick();
        await webhook.line(new RegExp(`^handled {2}district-a/${id}/1$`));
        const told = new Program(child);
        await told.line(
          new RegExp(` delivered {2}certification\\.created · district-a/${id}/1 · 200 in `),
        );
        child.kill(signal);
        await told.line(/^Subscription and queue are removed\. Events: 1 delivered\.$/);
        await told.line(/^\(ended with 0\)$/);
      } finally {
        await webhook.end();
      }
      await nothingLeft();
    },
  );

  it('is not trusted without that file', async () => {
    const host = new SnsHost();
    await host.open();
    const { webhook, url } = await startWebhook(host.environment);
    try {
      const child = await startListening(`--forward-to ${url} --count 1`);
      const told = new Program(child);
      await publish();
      await webhook.line(/^failed {2}503 SnsUnreachableError/);
      await told.line(/ again {6}.* · 503 in /);
      child.kill('SIGTERM');
      await told.line(/^\(ended with 0\)$/);
    } finally {
      await webhook.end();
      await host.close();
    }
  });

  it('that was killed leaves a queue and a subscription, which the next run removes once they are old', async () => {
    const killed = await startListening('--forward-to http://localhost:9/');
    killed.kill('SIGKILL');
    await ended(killed);
    expect(await queues()).toHaveLength(1);

    const soon = await listening('--forward-to http://localhost:9/');
    soon.interrupt();
    expect((await soon.ended).stderr).not.toContain('left behind');
    expect(await queues()).toHaveLength(1);

    duty.clock.advance({ minutes: 21 });
    const later = await listening('--forward-to http://localhost:9/');
    await later.shows(/Removed leftovers of earlier runs: 1\./);
    later.interrupt();
    await later.ended;
    await nothingLeft();
  });
});
