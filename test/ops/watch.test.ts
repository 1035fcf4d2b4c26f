import { ListSubscriptionsByTopicCommand, PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  ListQueuesCommand,
  ListQueueTagsCommand,
  SQSClient,
  type SQSClientConfig,
} from '@aws-sdk/client-sqs';
import { Temporal } from 'temporal-polyfill';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Gate, type Reply, type Rule } from '../../local/aws/gate.ts';
import { Clients } from '../../ops/target/access.ts';
import { TemporaryQueue } from '../../ops/watching/temporary-queue.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { Duty } from './duty.ts';
import type { Running } from './running.ts';

const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
beforeEach(() => duty.raise());
afterEach(() => duty.strike());

const config = (): SQSClientConfig => duty.stage.aws.clientConfig('sqs');

async function queuesLeft(): Promise<string[]> {
  const { QueueUrls = [] } = await new SQSClient(config()).send(
    new ListQueuesCommand({ QueueNamePrefix: 'certification-notifier-watch-' }),
  );
  return QueueUrls;
}

async function subscriptions(): Promise<number> {
  const TopicArn = duty.stage.aws.output('EventsTopicArn');
  const { Subscriptions = [] } = await new SNSClient(config()).send(
    new ListSubscriptionsByTopicCommand({ TopicArn }),
  );
  return Subscriptions.length;
}

/** Runs it until a line has this text, and then ends it as people do. */
async function watchUntil(
  wanted: RegExp,
  then: (program: Running) => Promise<unknown>,
  { args = '', env = {} }: { args?: string; env?: Record<string, string> } = {},
) {
  const before = await subscriptions();
  const program = duty.start(`watch ${args}`, { env });
  await expect.poll(subscriptions, { interval: 10, timeout: 20_000 }).toBe(before + 1);
  await then(program);
  await program.shows(wanted);
  const whileWatching = await queuesLeft();
  program.interrupt();
  return { ...(await program.ended), whileWatching };
}

const throttled = (type: string, status: number): Reply => ({
  status,
  type: 'application/json',
  body: JSON.stringify({ __type: type }),
});

describe('watch', () => {
  it('shows events and ticks as they come, without personal data, and leaves nothing behind', async () => {
    await duty.stage.completedTick();
    const before = await subscriptions();
    const person = duty.stage.sandbox.world.add();
    const seen = await watchUntil(/ created /, () => duty.stage.completedTick());
    expect(seen.stderr).toMatch(/^Watching district-a; Ctrl-C ends it.\n$/);
    expect(seen.exitCode).toBe(0);
    expect(seen.stdout).toContain(`assessment ${person.id}`);
    expect(seen.stdout).not.toContain(person.last_name);
    expect(seen.whileWatching).toHaveLength(1);
    expect(await queuesLeft()).toEqual([]);
    expect(await subscriptions()).toBe(before);
  });

  it('writes a line of JSON each for machines', async () => {
    await duty.stage.completedTick();
    const { id } = duty.stage.sandbox.world.add();
    const { stdout } = await watchUntil(/"event"/, () => duty.stage.completedTick(), {
      args: '--json --events-only',
    });
    expect(JSON.parse(stdout)).toMatchObject({
      event: { subject: String(id), type: 'certification.created' },
    });
  });

  it.each([
    ['that is not JSON', 'maintenance\u001B[2J'],
    ['that is another kind', '{"specversion":"1.0"}'],
  ])('continues after a message %s', async (_what, Message) => {
    await duty.stage.completedTick();
    duty.stage.sandbox.world.add();
    const TopicArn = duty.stage.aws.output('EventsTopicArn');
    const seen = await watchUntil(/ created /, async () => {
      await new SNSClient(config()).send(new PublishCommand({ TopicArn, Message }));
      await duty.stage.completedTick();
    });
    expect(seen.stderr).toContain('\nIgnored a message that is no event of this version.\n');
    expect(seen.exitCode).toBe(0);
  });

  it('continues when a read of the ticks fails, and says so', async () => {
    await duty.stage.completedTick();
    duty.stage.sandbox.world.add();
    duty.lambda.once(duty.invocation, async () => throttled('TooManyRequestsException', 429));
    const seen = await watchUntil(/ created /, async () => {
      await expect.poll(() => duty.lambda.calls, { timeout: 20_000 }).not.toEqual([]);
      await duty.stage.completedTick();
    });
    expect(seen.stderr).toMatch(
      /^AWS does not start the function for .+ \(TooManyRequestsException\): .*$/m,
    );
    expect(seen.exitCode).toBe(0);
  });

  it('continues while the partner is down, and says when ticks stop completing and complete again', async () => {
    const { stage } = duty;
    await stage.completedTick();
    const queue = await subscriptions();
    stage.partner.always(async () => undefined);
    expect(await stage.tick()).toMatchObject({ payload: { outcome: 'disturbed' } });
    await stage.lastTickWas(Temporal.Now.instant().subtract({ minutes: 4 }));
    const seen = await watchUntil(/ over: /, async (program) => {
      await program.shows(/ notice /);
      // Another disturbed tick is no news.
      expect(await stage.tick()).toMatchObject({ payload: { outcome: 'disturbed' } });
      stage.partner.reset();
      await stage.completedTick();
      // The next read of the ticks comes as soon as an event ends the wait for events.
      duty.clock.advance({ seconds: 10 });
      stage.sandbox.world.add();
      await stage.completedTick();
    });
    expect(seen.stdout.match(/ notice .*/g)).toEqual([
      expect.stringMatching(
        /^ notice {5}district-a · ticks do not come to their end: the last one did at \d{4}-.* E[SD]T; status tells more$/,
      ),
      ' notice     district-a · over: ticks do not come to their end',
    ]);
    expect(seen.stdout).toMatch(/ created /);
    expect(seen).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^Watching .*\n$/) });
    expect(await queuesLeft()).toEqual([]);
    expect(await subscriptions()).toBe(queue);
  });

  it('continues when its queue does not answer for a moment, and ends when it never does', async () => {
    await duty.stage.completedTick();
    duty.stage.sandbox.world.add();
    const sqs = new Gate();
    const env = { AWS_ENDPOINT_URL_SQS: await sqs.open() };
    sqs.target = duty.stage.aws.endpoints.sqs;
    const failing: Rule = ({ operation, forward }) =>
      operation === 'ReceiveMessage'
        ? Promise.resolve(throttled('InternalFailure', 500))
        : forward();
    try {
      // This is as often as the SDK tries by itself.
      for (let time = 0; time < 3; time += 1) sqs.once('ReceiveMessage', failing);
      const seen = await watchUntil(/ created /, () => duty.stage.completedTick(), { env });
      expect(seen.stderr).toContain('\nsqs:ReceiveMessage failed (InternalFailure). ');
      expect(seen.exitCode).toBe(0);

      sqs.always(failing);
      const { exitCode, stderr } = await duty.run('watch --events-only', { env });
      expect(exitCode).toBe(5);
      expect(stderr).toContain('error: sqs:ReceiveMessage failed (InternalFailure).');
      expect(await queuesLeft()).toEqual([]);
    } finally {
      await sqs.close();
    }
  });

  it('says that another run has removed its queue', async () => {
    const before = await subscriptions();
    const program = duty.start('watch --events-only');
    await program.shows(/Watching /);
    const [QueueUrl] = await queuesLeft();
    await new SQSClient(config()).send(new DeleteQueueCommand({ QueueUrl }));
    const { exitCode, stderr } = await program.ended;
    expect(stderr).toContain('error: Another run has removed the queue.\n  Its clock differs');
    expect(exitCode).toBe(5);
    expect(await subscriptions()).toBe(before);
  });

  it("removes an earlier run's queue and subscription, and none that is still in use", async () => {
    const sqs = new SQSClient(config());
    const left = (name: string, expires: string) =>
      sqs.send(
        new CreateQueueCommand({
          QueueName: `certification-notifier-watch-${name}`,
          tags: {
            'certification-notifier:watch-expires': expires,
            'certification-notifier:watch-topic': duty.stage.aws.output('EventsTopicArn'),
          },
        }),
      );
    await left('crashed', '2026-01-01T00:00:00Z');
    await left('in-use', '2999-01-01T00:00:00Z');
    await duty.stage.completedTick();
    duty.stage.sandbox.world.add();
    const { stderr } = await watchUntil(/ created /, () => duty.stage.completedTick());
    expect(stderr).toContain('Removed leftovers of earlier runs: 1.');
    expect((await queuesLeft()).map((url) => url.split('-watch-')[1])).toEqual(['in-use']);
  });

  it('postpones the expiry of its queue while it runs', async () => {
    const { aws } = duty.stage;
    const clock = new ManualClock('2026-11-21T08:00:00Z');
    const settings = () => aws.clientConfig('sqs');
    const access = { isLocal: true, clients: new Clients(), settings };
    const watched = {
      owner: 'watch',
      topicArn: aws.output('EventsTopicArn'),
      integration: undefined,
      isRaw: true,
    } as const;
    await using queue = await TemporaryQueue.create(access, watched, clock);
    const [QueueUrl = ''] = await queuesLeft();
    const expires = async () => {
      await queue.keep();
      const tags = new ListQueueTagsCommand({ QueueUrl });
      return (await new SQSClient(config()).send(tags)).Tags?.[
        'certification-notifier:watch-expires'
      ];
    };
    expect(await expires()).toBe('2026-11-21T08:20:00Z');
    await clock.sleep(9 * 60_000);
    expect(await expires()).toBe('2026-11-21T08:20:00Z');
    await clock.sleep(60_000);
    expect(await expires()).toBe('2026-11-21T08:30:00Z');
  });
});
