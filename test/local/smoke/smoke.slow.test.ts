import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ListSubscriptionsByTopicCommand,
  PublishCommand,
  SetSubscriptionAttributesCommand,
  SNSClient,
} from '@aws-sdk/client-sns';
import { GetQueueUrlCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import { certificationEventSchema } from '../../../lambda/events/event.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
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

/** From now on, the demo's queue gets all events except these, and first a false event and a message that is none. */
async function spoil(...types: string[]): Promise<void> {
  const { aws } = instanceSchema.parse(
    JSON.parse(await readFile(join(directory, 'instance.json'), 'utf8')),
  );
  const client = {
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
  const sns = new SNSClient({ ...client, endpoint: aws?.endpoints.sns ?? '' });
  const sqs = new SQSClient({ ...client, endpoint: aws?.endpoints.sqs ?? '' });
  const [{ EVENTS_TOPIC_ARN: TopicArn } = {}] = Object.values(aws?.functions ?? {}).filter(
    (one) => 'EVENTS_TOPIC_ARN' in one,
  );
  const { Subscriptions = [] } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
  // `npm start` has also subscribed its own queues, which are listed by random ids.
  const theirs = Subscriptions.filter(
    ({ Endpoint = '' }) => !/:demo-(?:events|filter-\d+)$/.test(Endpoint),
  );
  expect(theirs).toHaveLength(1);
  const { body, attributes } = messageOf(
    certificationEventSchema.parse(
      JSON.parse(await readFile('docs/events/examples/certification.created.json', 'utf8')),
    ),
  );
  await sns.send(new PublishCommand({ TopicArn, Message: body, MessageAttributes: attributes }));
  await sns.send(
    new SetSubscriptionAttributesCommand({
      SubscriptionArn: theirs[0]?.SubscriptionArn,
      AttributeName: 'FilterPolicy',
      AttributeValue: JSON.stringify({ type: [{ 'anything-but': types }] }),
    }),
  );
  const QueueName = theirs[0]?.Endpoint?.split(':').at(-1);
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'hello' }));
  for (const one of [sns, sqs]) one.destroy();
}

it('smoke passes on the demo, and fails if changes are not announced and a false event is', async () => {
  const argv = ['--demo', '--port', '0', '--every', '0.5'];
  const demo = new RunningProgram(start, argv, { environment: environment() });
  onTestFinished(async () => {
    demo.interrupt();
    await demo.ended;
  });
  // A removal during the baseline may be unnoticed.
  await demo.shows(/ withdrawn /);
  const passed = await smoked();
  expect(passed.stdout).toMatch(
    / completed +created .*\n(.*\n)*passed: each change was told, no event/,
  );
  expect(passed.stdout).toContain(
    '\nchanges: 1 completed, 1 backdated, 1 edited, 1 removed, 1 restored\n',
  );
  expect(passed).toMatchObject({ exitCode: 0, stderr: '' });

  // A delayed notifier sees an edit together with its completion, and announces it as created.
  await spoil('certification.updated', 'certification.created');
  const failed = await smoked('--within', '1');
  expect(failed.exitCode).toBe(1);
  expect(failed.stdout).toMatch(/\nedited \d+: no event tells of it\n/);
  expect(failed.stdout).toMatch(/\ncompleted \d+: no event tells of it\n/);
  expect(failed.stdout).toMatch(/\n\S+\/48213\/1 says created, and nothing like it has happened\n/);
  expect(failed.stdout).toMatch(/\nmessage \S+: it is no event\n/);
  expect(failed.stdout).toMatch(/\nfailed: \d+ of the above\n$/);
});

it.each([
  ['a flag that does not exist', ['--nothing'], 2, "unknown option '--nothing'"],
  ['a limit that is too large', ['--within', '1000000'], 2, 'a whole number from 1 to 999999'],
  ['no local instance', [], 3, 'npm start'],
])('smoke ends with the exit code of npm run ops after %s', async (_, flags, exitCode, said) => {
  const { stderr, ...ended } = await smoked(...flags);
  expect(ended).toMatchObject({ exitCode, stdout: '' });
  expect(stderr).toContain(said);
});

it('smoke refuses a partner that is no demo, and says how to have one', async () => {
  const partner = await startPartnerSandbox({ records: 1 });
  onTestFinished(() => partner.close());
  await expect(DemoPartner.ask(partner.url, systemClock)).rejects.toThrow(NoDemoError);
});
