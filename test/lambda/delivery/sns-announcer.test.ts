import { CreateTopicCommand, PublishBatchCommand, SNSClient } from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SnsAnnouncer } from '../../../lambda/delivery/sns-announcer.ts';
import { sightingEvent } from '../../../lambda/events/event.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import { assessment } from '../../support/assessments.ts';

let server: FauxqsServer;
let client: SNSClient;
let topics: { events: string; alerts: string; operations: string };

beforeAll(async () => {
  server = await startFauxqs({ port: 0, logger: false, messageSpies: true });
  client = new SNSClient({
    endpoint: server.address,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  topics = {
    events: await topic('events'),
    alerts: await topic('alerts'),
    operations: await topic('operations'),
  };
});
afterAll(() => server.stop());

async function topic(Name: string): Promise<string> {
  const { TopicArn } = await client.send(new CreateTopicCommand({ Name }));
  if (TopicArn === undefined) throw new Error('no topic');
  return TopicArn;
}

function owedEvents(count: number, name?: string): OwedEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const id = index + 1;
    const event = sightingEvent({
      integration: 'district-a',
      type: 'certification.created',
      assessment: assessment({ id, ...(name === undefined ? {} : { name }) }),
      fields: 'all',
      revision: 1,
      changed: [],
      late: false,
      time: '2026-11-21T08:00:04.120Z',
    });
    return { certificationId: id, revision: 1, event, owes: 'event-and-digest' };
  });
}

const idsOf = (owed: readonly OwedEvent[]) => owed.map(({ certificationId }) => certificationId);

describe('publishing to the machines', () => {
  it('has every event accepted, ten to a request', async () => {
    const owed = owedEvents(25);
    const announcer = new SnsAnnouncer(client, topics, 'district-a');
    const outcome = await announcer.publish(owed);
    expect(outcome).toEqual({ accepted: owed, refused: [] });
  });

  it('makes requests of no more bytes than SNS takes', async () => {
    const sizes: number[] = [];
    client.middlewareStack.add(
      (next) => (call) => {
        if ('PublishBatchRequestEntries' in call.input)
          sizes.push(Buffer.byteLength(JSON.stringify(call.input.PublishBatchRequestEntries)));
        return next(call);
      },
      { name: 'sizes', step: 'initialize' },
    );
    const announcer = new SnsAnnouncer(client, topics, 'district-a');
    const owed = owedEvents(12, 'é'.repeat(50_000));
    expect((await announcer.publish(owed)).accepted).toHaveLength(12);
    client.middlewareStack.remove('sizes');
    // 100 KB of name each: two fit into 256 KiB, with the body's quotes escaped in this rendering.
    expect(sizes).toHaveLength(6);
  });

  it('answers which entries SNS refused, by its code, and which it did not mention', async () => {
    const fault = mockClient(SNSClient);
    fault.on(PublishBatchCommand).resolves({
      Successful: [{ Id: '0' }, { Id: '3' }],
      Failed: [{ Id: '1', Code: 'InternalError', SenderFault: false }],
    });
    const announcer = new SnsAnnouncer(client, topics, 'district-a');
    const { accepted, refused } = await announcer.publish(owedEvents(4));
    fault.restore();
    expect(idsOf(accepted)).toEqual([1, 4]);
    expect(refused.map(({ owed, code }) => [owed.certificationId, code])).toEqual([
      [2, 'InternalError'],
      [3, 'NotAnswered'],
    ]);
  });

  it('answers that a batch was refused when its request fails, and goes on with the others', async () => {
    const fault = mockClient(SNSClient);
    fault
      .on(PublishBatchCommand)
      .rejectsOnce(Object.assign(new Error('slow down'), { name: 'ThrottledException' }))
      .resolves({ Successful: Array.from({ length: 10 }, (_, index) => ({ Id: String(index) })) });
    const announcer = new SnsAnnouncer(client, topics, 'district-a');
    const { accepted, refused } = await announcer.publish(owedEvents(20));
    fault.restore();
    expect(idsOf(accepted)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    expect(refused).toHaveLength(10);
    expect(refused[0]?.code).toBe('ThrottledException');
  });
});

describe('telling the people', () => {
  it('sends one mail, however many events there are', async () => {
    const announcer = new SnsAnnouncer(client, topics, 'district-a');
    expect(await announcer.sendDigest(owedEvents(120))).toEqual({ accepted: true });
  });

  it('answers with a code, and does not throw, when SNS refuses', async () => {
    const missing = { ...topics, alerts: `${topics.alerts}-missing` };
    const announcer = new SnsAnnouncer(client, missing, 'district-a');
    expect(await announcer.sendDigest(owedEvents(1))).toMatchObject({
      accepted: false,
      code: expect.stringMatching(/NotFound/),
    });
  });
});
