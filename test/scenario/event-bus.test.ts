import { readdirSync, readFileSync } from 'node:fs';
import ajvDraft4 from 'ajv-draft-04';
import ajvFormats from 'ajv-formats';
import { expect, it, onTestFinished } from 'vitest';
import { parseEvent } from '../../consumer/index.ts';
import { certificationEventSchema } from '../../lambda/events/event.ts';
import { maxMessageBytes, messageOf } from '../../lambda/events/sns-message.ts';
import { readAssembly } from '../../local/aws/assembly.ts';
import { interpret, type PipePlan } from '../../local/aws/interpret.ts';
import { eventOf } from '../lambda/events/announced.ts';
import { Deployment, integration, queues } from '../scaffold/deployment.ts';
import { type BusEntry, busEntry, entrySize, transformed } from '../scaffold/pipes.ts';
import { assessment } from '../support/assessments.ts';

/**
 * From the partner to a bus and to the stream of an archive, with the real functions, the SNS and
 * SQS of this machine, and the pipes of the synthesized stack by AWS's documented rules
 * (test/scaffold/pipes.ts). No pipe has been run on AWS here. The archive of a standard topic has
 * none: SNS delivers to its Firehose, and the embedded one to no Firehose.
 */

const folder = 'docs/events';
const read = (path: string) => JSON.parse(readFileSync(`${folder}/${path}`, 'utf8'));
const ajv = new ajvDraft4.default({ allErrors: true });
ajvFormats.default(ajv);
const validate = ajv.compile(read('bus-event-1.schema.json'));

/** The schema's findings about the event that rules and targets get. */
function problemsOf({ source, detailType, time, detail }: BusEntry) {
  const onBus = {
    version: '0',
    id: '0d4f6a52-5a0e-4b8e-9d0c-3f1f6f0e7b11',
    'detail-type': detailType,
    source,
    account: '111122223333',
    time,
    region: 'us-east-1',
    resources: [],
    detail: JSON.parse(detail),
  };
  return validate(onBus) ? [] : validate.errors;
}

const toBus = {
  topic: 'events',
  protocol: 'event-bus',
  bus: 'certifications',
  filter: { types: ['created', 'withdrawn'] },
} as const;
const toArchive = { topic: 'events', protocol: 'archive' } as const;

/** A deployment, and its pipes. */
async function deployed(topic: 'standard' | 'fifo') {
  const stage = new Deployment();
  onTestFinished(async () => {
    await stage.strike();
    await stage.dismantle();
  });
  await stage.build({ topic, subscriptions: topic === 'fifo' ? [toBus, toArchive] : [toBus] });
  await stage.raise();
  const { stackName, region, accountId, endpoints } = stage.aws;
  const place = { stackName, region, accountId, sqsEndpoint: endpoints.sqs };
  const { pipes } = interpret(readAssembly(stage.assembly).template, place);
  const [bus] = pipes.filter(({ eventBus }) => eventBus !== undefined);
  const [archive] = pipes.filter(({ eventBus }) => eventBus === undefined);
  if (bus === undefined) throw new Error('the stack has no pipe to a bus');
  const messagesFor = async ({ source }: PipePlan) => {
    const messages = await stage.messages(source);
    return messages.map(({ MessageId = '', Body = '' }) => ({ messageId: MessageId, body: Body }));
  };
  return { stage, bus, archive, messagesFor };
}

it.each(['standard', 'fifo'] as const)(
  "events of a %s topic equal the subscribers' on a bus, if the filter passes them, and in an archive",
  async (topic) => {
    const { stage, bus, archive, messagesFor } = await deployed(topic);
    await stage.completedTick();
    const { id } = stage.sandbox.world.add({ organization_id: stage.filtered });
    expect(await stage.completedTick()).toMatchObject({ created: 1, delivered: 1 });
    stage.sandbox.world.change(id, { email: 'somebody-else@example.org' });
    await stage.completedTick();
    await stage.completedTick();
    const events = await stage.events(queues.everything);
    const [created, updated] = events.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(events.map((event) => event.id).sort()).toEqual(
      [1, 2].map((revision) => `${integration}/${id}/${revision}`),
    );
    expect(updated?.type).toBe('certification.updated');
    expect(await stage.events(queues.oneOrganization)).toEqual([created]);

    const [entry, ...others] = (await messagesFor(bus)).map((one) => busEntry(bus, one));
    if (entry === undefined) throw new Error('the bus has no event');
    expect(others).toEqual([]);
    expect(parseEvent(entry.detail)).toEqual(created);
    expect(JSON.parse(entry.detail)).toEqual(created);
    expect(entry).toMatchObject({
      source: `urn:certification-notifier:${integration}`,
      detailType: 'certification.created',
      time: created?.time,
    });
    expect(problemsOf(entry)).toEqual([]);
    expect(archive === undefined).toBe(topic === 'standard');
    if (archive === undefined) return;
    const records = (await messagesFor(archive)).map((one): unknown =>
      JSON.parse(transformed(archive.inputTemplate, one)),
    );
    expect(records).toHaveLength(2);
    expect(records).toEqual(expect.arrayContaining(events));
  },
);

it('each event of the contract is a detail on a bus, up to the largest that SNS accepts', async () => {
  const { bus } = await deployed('standard');
  const entryOf = (event: Parameters<typeof messageOf>[0]) =>
    busEntry(bus, { messageId: '1', body: messageOf(event).body });
  for (const name of readdirSync(`${folder}/examples`)) {
    const example = certificationEventSchema.parse(read(`examples/${name}`));
    const entry = entryOf(example);
    expect(JSON.parse(entry.detail)).toEqual(example);
    expect(problemsOf(entry)).toEqual([]);
    expect(problemsOf({ ...entry, detail: entry.detail.replace('"1.0"', '"1.1"') })).not.toEqual(
      [],
    );
  }
  const sized = (length: number) =>
    eventOf(
      { ...assessment({ id: 1 }), notes: 'é'.repeat(length) },
      { integration: 'd'.repeat(40), type: 'certification.updated' },
    );
  let length = 131_000;
  while (sized(length).data.truncated) length -= 1;
  const largest = sized(length);
  expect(messageOf(largest).bytes).toBeGreaterThan(maxMessageBytes - 4);
  expect(entrySize(entryOf(largest))).toBeLessThan(256 * 1_024);
});
