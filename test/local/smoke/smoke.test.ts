import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ListSubscriptionsByTopicCommand,
  PublishCommand,
  SetSubscriptionAttributesCommand,
  SNSClient,
} from '@aws-sdk/client-sns';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import { certificationEventSchema } from '../../../lambda/events/event.ts';
import { messageOf } from '../../../lambda/events/message.ts';
import { instanceSchema } from '../../../local/instance.ts';
import { startPartnerSandbox } from '../../../local/partner-sandbox/index.ts';
import { run as start } from '../../../local/run.ts';
import { NoDemoError } from '../../../local/smoke/errors.ts';
import { DemoPartner } from '../../../local/smoke/partner.ts';
import { run as smoke } from '../../../local/smoke/run.ts';
import { RunningProgram } from '../../support/running.ts';

let directory: string;
const environment = () => ({ NOTIFIER_LOCAL: directory });

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'smoke-'));
});
afterEach(() => rm(directory, { recursive: true }));

const smoked = (...flags: string[]) =>
  new RunningProgram(smoke, ['--local', ...flags], { environment: environment() }).ended;

/** From now on, the demo's queue gets everything but this, and first an event of which nothing is true. */
async function spoil(type: string): Promise<void> {
  const { aws } = instanceSchema.parse(
    JSON.parse(await readFile(join(directory, 'instance.json'), 'utf8')),
  );
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const sns = new SNSClient({
    region: 'us-east-1',
    endpoint: aws?.endpoints.sns ?? '',
    credentials,
  });
  const [{ EVENTS_TOPIC_ARN: TopicArn } = {}] = Object.values(aws?.functions ?? {}).filter(
    (one) => 'EVENTS_TOPIC_ARN' in one,
  );
  const { Subscriptions = [] } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
  const theirs = Subscriptions.find(({ Endpoint = '' }) => !/:demo-events$/.test(Endpoint));
  await sns.send(
    new SetSubscriptionAttributesCommand({
      SubscriptionArn: theirs?.SubscriptionArn,
      AttributeName: 'FilterPolicy',
      AttributeValue: JSON.stringify({ type: [{ 'anything-but': type }] }),
    }),
  );
  const { body, attributes } = messageOf(
    certificationEventSchema.parse(
      JSON.parse(await readFile('docs/events/examples/certification.created.json', 'utf8')),
    ),
  );
  await sns.send(new PublishCommand({ TopicArn, Message: body, MessageAttributes: attributes }));
  sns.destroy();
}

it('passes on the demo, and fails when an edit is not told and a false event is', async () => {
  const argv = ['--demo', '--port', '0', '--every', '0.5'];
  const demo = new RunningProgram(start, argv, { environment: environment() });
  onTestFinished(async () => {
    demo.interrupt();
    await demo.ended;
  });
  await demo.shows(/tick 1 /);
  const passed = await smoked();
  expect(passed.stdout).toMatch(
    / completed +created .*\n(.*\n)*passed: each change was told, no event/,
  );
  expect(passed).toMatchObject({ exitCode: 0, stderr: '' });

  await spoil('certification.updated');
  const failed = await smoked('--within', '3');
  expect(failed.exitCode).toBe(1);
  expect(failed.stdout).toMatch(
    /\nedited \d+: no event tells of it\n\S+\/48213\/1 says created, and nothing like it has happened\nfailed: 2 of the above\n$/,
  );
});

it('refuses a partner that is no demo, and says how to have one', async () => {
  const partner = await startPartnerSandbox({ records: 1 });
  try {
    await expect(DemoPartner.ask(partner.url, systemClock)).rejects.toThrow(NoDemoError);
  } finally {
    await partner.close();
  }
});
