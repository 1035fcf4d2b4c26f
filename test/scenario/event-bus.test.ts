import { readdirSync, readFileSync } from 'node:fs';
import ajvDraft4 from 'ajv-draft-04';
import ajvFormats from 'ajv-formats';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseEvent } from '../../consumer/index.ts';
import { certificationEvent, certificationEventSchema } from '../../lambda/events/event.ts';
import { maxMessageBytes, messageOf } from '../../lambda/events/sns-message.ts';
import { readAssembly } from '../../local/aws/assembly.ts';
import { interpret, type PipePlan } from '../../local/aws/interpret.ts';
import { at, district, only, synthesized } from '../infra/synthesized.ts';
import { Deployment, integration, queues } from '../scaffold/deployment.ts';
import { type BusEntry, busEntry, entrySize } from '../scaffold/pipes.ts';
import { assessment } from '../support/assessments.ts';

/**
 * From the partner to a bus, with the real functions, the SNS and SQS of this machine, and the pipe
 * of the synthesized stack by AWS's documented rules (test/scaffold/pipes.ts). No pipe has been run
 * on AWS here.
 */

const folder = 'docs/events';
const read = (path: string) => JSON.parse(readFileSync(`${folder}/${path}`, 'utf8'));
const ajv = new ajvDraft4.default({ allErrors: true });
ajvFormats.default(ajv);
const validate = ajv.compile(read('bus-event-1.schema.json'));

/** The pipe's target in the template. */
const pipeTarget = z.object({
  InputTemplate: z.string(),
  EventBridgeEventBusParameters: z.object({
    Source: z.string(),
    DetailType: z.string(),
    Time: z.string(),
  }),
});

/** The event for rules and targets. */
const onBus = ({ source, detailType, time, detail }: BusEntry) => ({
  version: '0',
  id: '0d4f6a52-5a0e-4b8e-9d0c-3f1f6f0e7b11',
  'detail-type': detailType,
  source,
  account: '111122223333',
  time,
  region: 'us-east-1',
  resources: [],
  detail: JSON.parse(detail),
});
const problemsOf = (entry: BusEntry) => (validate(onBus(entry)) ? [] : validate.errors);

describe.each(['standard', 'fifo'] as const)('events of a %s topic on a bus', (topic) => {
  const stage = new Deployment();
  const subscriptions = [
    {
      topic: 'events',
      protocol: 'event-bus',
      bus: 'certifications',
      filter: { types: ['created', 'withdrawn'] },
    },
  ] as const;
  let pipe: PipePlan | undefined;
  beforeAll(() => stage.build({ topic, subscriptions }));
  afterAll(() => stage.dismantle());
  beforeEach(async () => {
    await stage.raise();
    const { stackName, region, accountId, endpoints } = stage.aws;
    const place = { stackName, region, accountId, sqsEndpoint: endpoints.sqs };
    const { template } = readAssembly(stage.assembly);
    [pipe] = interpret(template, place).pipes;
  });
  afterEach(() => stage.strike());

  const passedOn = async () => {
    const found = pipe;
    if (found === undefined) throw new Error('the stack has no pipe');
    const messages = await stage.messages(found.source);
    return messages.map(({ MessageId = '', Body = '' }) =>
      busEntry(found, { messageId: MessageId, body: Body }),
    );
  };

  it("equal the subscribers' events, and pass the filter", async () => {
    await stage.completedTick();
    const { world } = stage.sandbox;
    const one = world.add({ organization_id: stage.filtered });
    await stage.completedTick();
    world.change(one.id, { email: 'somebody-else@example.org' });
    await stage.completedTick();
    const entries = await passedOn();
    const events = await stage.events(queues.everything);
    expect(events.map(({ type }) => type).sort()).toEqual([
      'certification.created',
      'certification.updated',
    ]);
    const [created] = events.filter(({ type }) => type === 'certification.created');
    expect(entries).toHaveLength(1);
    for (const entry of entries) {
      expect(JSON.parse(entry.detail)).toEqual(created);
      expect(parseEvent(entry.detail)).toEqual(created);
      expect(entry).toMatchObject({
        source: `urn:certification-notifier:${integration}`,
        detailType: 'certification.created',
        time: created?.time,
      });
      expect(problemsOf(entry)).toEqual([]);
    }
  });
});

describe('each event of the contract, on a bus,', () => {
  const { TargetParameters } = z.object({ TargetParameters: pipeTarget }).parse(
    at(
      only(
        synthesized({
          integrations: [district],
          subscriptions: [{ topic: 'events', protocol: 'event-bus', bus: 'default' }],
        }),
        'AWS::Pipes::Pipe',
      ).resource,
      'Properties',
    ),
  );
  const pipe: PipePlan = {
    source: '',
    target: '',
    batchSize: 1,
    inputTemplate: TargetParameters.InputTemplate,
    eventBus: TargetParameters.EventBridgeEventBusParameters,
  };
  const entryOf = (event: Parameters<typeof messageOf>[0]) =>
    busEntry(pipe, { messageId: '1', body: messageOf(event).body });

  it.each(readdirSync(`${folder}/examples`))(
    'has %s as its detail, and fits its schema',
    (name) => {
      const example = certificationEventSchema.parse(read(`examples/${name}`));
      const entry = entryOf(example);
      expect(JSON.parse(entry.detail)).toEqual(example);
      expect(problemsOf(entry)).toEqual([]);
    },
  );

  it('as large as SNS accepts fits into a request to a bus', () => {
    const announced = {
      integration: 'd'.repeat(40),
      type: 'certification.updated',
      revision: 1,
      time: '2026-11-21T08:00:04.120Z',
      fields: 'all',
      late: false,
    } as const;
    const sized = (length: number) =>
      certificationEvent({
        ...announced,
        assessment: { ...assessment({ id: 1 }), notes: 'é'.repeat(length) },
      });
    let length = 131_000;
    while (sized(length).data.truncated) length -= 1;
    const largest = sized(length);
    expect(messageOf(largest).bytes).toBeGreaterThan(maxMessageBytes - 4);
    expect(entrySize(entryOf(largest))).toBeLessThan(256 * 1_024);
  });

  it('has a schema that refuses other shapes', () => {
    const entry = entryOf(
      certificationEventSchema.parse(read('examples/certification.created.json')),
    );
    expect(problemsOf({ ...entry, detail: entry.detail.replace('"1.0"', '"1.1"') })).not.toEqual(
      [],
    );
    expect(problemsOf({ ...entry, detail: '{}' })).not.toEqual([]);
  });
});
