import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Program } from '../consumer/example.ts';
import { Duty, raisedEach } from './duty.ts';
import { startProgram } from './running.ts';

const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
raisedEach(duty, () => duty.stage.completedTick());

const topic = () => duty.stage.aws.output('EventsTopicArn');

async function subscriptions() {
  const sns = new SNSClient(duty.stage.aws.clientConfig('sqs'));
  const { Subscriptions = [] } = await sns.send(
    new ListSubscriptionsByTopicCommand({ TopicArn: topic() }),
  );
  return Subscriptions.filter(({ Endpoint }) => Endpoint?.includes(':certification-notifier-'));
}

it('listen makes the example trust the local instance with the file of the docs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'listen-'));
  const docs = readFileSync(join(import.meta.dirname, '../../docs/subscribing.md'), 'utf8');
  const [, shown = ''] = /```ts\n(\/\/ trust-local\.ts.*?)```/s.exec(docs) ?? [];
  const trust = join(folder, 'trust-local.ts');
  await writeFile(trust, shown.replace('http://127.0.0.1:4382', duty.stage.aws.endpoints.sns));
  const webhook = await Program.start('https-webhook', {
    ...{ TOPIC_ARN: topic(), PORT: '0' },
    NODE_OPTIONS: `--import=${pathToFileURL(trust)}`,
  });
  try {
    const port = (await webhook.line(/^Listening on port \d+$/)).split(' ').at(-1);
    const args = `listen --local --forward-to http://localhost:${port}/`;
    const child = startProgram(args, duty.environment);
    await expect.poll(subscriptions, { interval: 20, timeout: 20_000 }).toHaveLength(1);
    const { id } = duty.stage.sandbox.world.add();
    await duty.stage.completedTick();
    await webhook.line(new RegExp(`^handled {2}district-a/${id}/1$`));
    const told = new Program(child);
    await told.line(RegExp(` delivered {2}certification\\.created · district-a/${id}/1 · 200 in `));
    child.kill('SIGTERM');
    await told.line(/^\(ended with 0\)$/);
    expect(await subscriptions()).toEqual([]);
  } finally {
    await webhook.end();
    await rm(folder, { recursive: true });
  }
});
