import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  ListQueuesCommand,
  ListQueueTagsCommand,
  SQSClient,
  type SQSClientConfig,
} from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TemporaryQueue } from '../../ops/watching/temporary-queue.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Duty, ended } from './duty.ts';

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

/** Runs it until a line says this, and then ends it as people do. */
async function watchUntil(wanted: RegExp, then: () => Promise<unknown>, args = '') {
  const before = await subscriptions();
  const child = duty.start(`watch ${args} --stack ${duty.stack}`);
  let stdout = '';
  child.stdout?.on('data', (chunk) => (stdout += chunk));
  const end = ended(child);
  await expect.poll(subscriptions, { timeout: 20_000 }).toBe(before + 1);
  await then();
  await expect.poll(() => stdout, { timeout: 20_000 }).toMatch(wanted);
  const whileWatching = await queuesLeft();
  child.kill('SIGINT');
  return { ...(await end), whileWatching };
}

describe('watch', () => {
  it('shows events and ticks as they come, nobody’s data, and leaves nothing behind', async () => {
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

  it('gives machines a line of JSON each', async () => {
    await duty.stage.completedTick();
    const { id } = duty.stage.sandbox.world.add();
    const { stdout } = await watchUntil(
      /"event"/,
      () => duty.stage.completedTick(),
      '--json --events-only',
    );
    expect(JSON.parse(stdout)).toMatchObject({
      event: { subject: String(id), type: 'certification.created' },
    });
  });

  it('sweeps what an earlier run has left behind, and nothing that is still in use', async () => {
    const sqs = new SQSClient(config());
    const left = (name: string, expires: string) =>
      sqs.send(
        new CreateQueueCommand({
          QueueName: `certification-notifier-watch-${name}`,
          tags: { 'certification-notifier:watch-expires': expires },
        }),
      );
    await left('crashed', '2026-01-01T00:00:00Z');
    await left('in-use', '2999-01-01T00:00:00Z');
    await duty.stage.completedTick();
    duty.stage.sandbox.world.add();
    const { stderr } = await watchUntil(/ created /, () => duty.stage.completedTick());
    expect(stderr).toContain('Removed 1 left behind by an earlier run.');
    expect((await queuesLeft()).map((url) => url.split('-watch-')[1])).toEqual(['in-use']);
  });

  it('puts the expiry of its queue off while somebody watches', async () => {
    const { aws } = duty.stage;
    const clock = new ManualClock('2026-11-21T08:00:00Z');
    const access = { isLocal: true, client: () => aws.clientConfig('sqs') };
    const watched = { topicArn: aws.output('EventsTopicArn'), integration: undefined };
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
