import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateTopicCommand,
  PublishCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { dynamoStore } from '../../consumer/dynamodb.ts';
import { inOrder, onlyOnce } from '../../consumer/index.ts';
import { exampleEvents } from '../../scripts/contract/examples.ts';
import { assessment } from '../support/assessments.ts';
import { event, withdrawal } from './events.ts';
import { Program } from './example.ts';
import { startHandledTables } from './handled-table.ts';
import { foreignWorkers } from './languages.ts';
import { localAws, RefusingAws } from './refusing-aws.ts';

// The workers in other languages as processes, behind the embedded SNS, SQS and DynamoDB.
const messaging = buildApp({ logger: false, defaultRegion: 'us-east-1' });
const endpoint = await messaging.listen({ port: 0, host: '127.0.0.1' });
const tables = await startHandledTables();
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const config = { endpoint, region: 'us-east-1', credentials };
const [sns, sqs] = [new SNSClient(config), new SQSClient(config)];
/** The settings by which an SDK finds the embedded services. */
const environment = {
  ...{ ...localAws, AWS_ENDPOINT_URL_SNS: endpoint, AWS_ENDPOINT_URL_SQS: endpoint },
  AWS_ENDPOINT_URL_DYNAMODB: tables.endpoint,
};
/** The folder in which `npm start` writes files for other programs. */
const folder = await mkdtemp(join(tmpdir(), 'instance-'));
afterAll(async () => {
  for (const client of [sns, sqs]) client.destroy();
  await tables.close();
  await messaging.close();
  await rm(folder, { recursive: true, force: true });
});

const topic = async (Name: string) =>
  (await sns.send(new CreateTopicCommand({ Name }))).TopicArn ?? '';
async function publish(TopicArn: string, ...messages: readonly unknown[]): Promise<void> {
  for (const one of messages)
    await sns.send(new PublishCommand({ TopicArn, Message: JSON.stringify(one) }));
}

/** The number of messages in a queue, in hand or not. */
async function left(QueueUrl: string): Promise<number> {
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
  const { ApproximateNumberOfMessages: waiting, ApproximateNumberOfMessagesNotVisible: inHand } =
    (await sqs.send(asked)).Attributes ?? {};
  return Number(waiting) + Number(inHand);
}

for (const { name, missing, prepare, ...commands } of foreignWorkers) {
  const reason = missing === undefined ? '' : ` (skipped: ${missing} is not here)`;
  // They run in parallel, since they wait most of the time.
  describe.skipIf(missing !== undefined).concurrent(`${name}${reason}`, () => {
    beforeAll(() => prepare());

    it('keeps the newest event of each assessment, from a queue that it subscribes at the local instance', async () => {
      const TopicArn = await topic(name);
      const functions = { poll: { ...environment, EVENTS_TOPIC_ARN: TopicArn } };
      const NOTIFIER_LOCAL = await mkdtemp(join(folder, name));
      const instance = JSON.stringify({ aws: { functions } });
      await writeFile(join(NOTIFIER_LOCAL, 'instance.json'), instance);
      await using program = await Program.start(name, { NOTIFIER_LOCAL }, commands.local());
      const QueueUrl = (await program.line(/^Waiting for events/)).split(' ').at(-1) ?? '';
      const dataschema = 'urn:certification-notifier:schema:certification-event:2';
      const withdrawn = withdrawal(2, 2);
      const trial = exampleEvents().at(-1);
      await publish(TopicArn, 'Odalys', event(), event(), event({ revision: 10 }));
      await publish(TopicArn, withdrawn, { ...event({ id: 3 }), dataschema }, trial);
      // As text, '9' would come after '10'. Sequences are numbers.
      await program.line(/ {2}district-a\/48213\/10$/);
      await publish(TopicArn, event({ revision: 9 }));
      await program.line(/ {2}district-a\/48213\/9$/);
      await vi.waitUntil(async () => (await left(QueueUrl)) === 1, 20_000);

      const { assessment_name, certified_on } = assessment({});
      const of = `${assessment_name}, ${certified_on}`;
      // On a busy machine, the message without an event comes more than once.
      expect([...new Set(program.lines)].sort()).toEqual(
        [
          `Waiting for events in ${QueueUrl}`,
          `certification.created is not known here  district-a/3/1`,
          `certification.created  ${of}  district-a/48213/1`,
          `certification.test  it works  ${trial?.id}`,
          `certification.updated  ${of}  district-a/48213/10`,
          `certification.withdrawn  assessment 2  district-a/2/2`,
          'not done with: NotAnEvent',
          `outdated  district-a/48213/1`,
          `outdated  district-a/48213/9`,
        ].sort(),
      );
      // Workers in TypeScript can share its table.
      const ordered = inOrder(dynamoStore({ client: tables.client, table: name, consumer: name }));
      expect(await ordered(event({ revision: 10 }), async () => {})).toBe('outdated');
      expect(await ordered(event({ revision: 11 }), async () => {})).toBe('handled');
      await publish(TopicArn, event({ revision: 11 }));
      await program.line(/^outdated {2}district-a\/48213\/11$/);
      const waited = performance.now();
      await program.end();
      // The wait for a message would be 20 seconds.
      expect(performance.now() - waited).toBeLessThan(10_000);
    });

    it('acts on each event once, and again on one whose handler has failed', async () => {
      const QueueName = `each-of-${name}`;
      const TopicArn = await topic(QueueName);
      const Attributes = { VisibilityTimeout: '1' };
      const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
      // In SNS's envelope.
      const Endpoint = `arn:aws:sqs:us-east-1:000000000000:${QueueName}`;
      await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint }));
      const table = await tables.create();
      const QUEUE_URL = environment.AWS_ENDPOINT_URL_SQS + new URL(QueueUrl).pathname;
      const there = { ...environment, QUEUE_URL, TABLE_NAME: table, ACT_ON: 'each' };
      await using program = await Program.start(name, there, commands.failing());
      const once = onlyOnce(dynamoStore({ client: tables.client, table, consumer: name }));
      await once(event({ revision: 3 }), async () => {});
      await publish(TopicArn, event({ revision: 2 }), event({ revision: 3 }));
      await program.line(/^certification\.updated district-a\/48213\/2$/);
      await publish(TopicArn, event(), event({ revision: 2 }));
      await program.line(/^certification\.created district-a\/48213\/1$/);
      await vi.waitUntil(async () => (await left(QUEUE_URL)) === 0, 20_000);
      expect(program.lines.slice(1).toSorted()).toEqual([
        'certification.created district-a/48213/1',
        'certification.updated district-a/48213/2',
        'duplicate  district-a/48213/2',
        'duplicate  district-a/48213/3',
        ...Array(2).fill(expect.stringMatching(/^not done with: \w+$/)),
      ]);
    });

    it('continues after AWS has refused to give, to note and to delete a message', async () => {
      const aws = new RefusingAws();
      aws.refusals = { ReceiveMessage: 1, UpdateItem: 1, DeleteMessage: 1 };
      await using program = await Program.start(name, await aws.open(), commands.worker());
      await program.line(/^not received: \w+$/);
      await program.line(/^certification\.created {2}/);
      await vi.waitUntil(() => aws.messages.size === 0, 20_000);
      expect(program.lines.filter((line) => /^not done with: \w+$/.test(line))).toHaveLength(2);
      expect(program.lines.join()).not.toMatch(/Odalys|\(ended/);
      aws.close();
    });
  });
}
