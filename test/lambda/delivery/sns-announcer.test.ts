import {
  CreateTopicCommand,
  PublishBatchCommand,
  type PublishBatchRequestEntry,
  PublishCommand,
  SNSClient,
} from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snsAnnouncer } from '../../../lambda/delivery/sns-announcer.ts';
import { certificationEvent } from '../../../lambda/events/event.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import { ManualClock } from '../../scaffold/clock.ts';
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

async function topic(Name: string, Attributes: Record<string, string> = {}): Promise<string> {
  const { TopicArn } = await client.send(new CreateTopicCommand({ Name, Attributes }));
  if (TopicArn === undefined) throw new Error('no topic');
  return TopicArn;
}

function owedEvents(count: number, name?: string): OwedEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const id = index + 1;
    const event = certificationEvent({
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

const options = (clock = new ManualClock()) =>
  ({
    integration: 'district-a',
    timeZone: 'UTC',
    stack: 'prod',
    detail: 'names',
    maxRows: 60,
    clock,
  }) as const;
const announcer = (to = topics) => snsAnnouncer({ mails: client, batches: client }, to, options());
const deadline = new ManualClock().now().add({ hours: 1 });
const idsOf = (owed: readonly OwedEvent[]) => owed.map(({ certificationId }) => certificationId);

describe('publishing events', () => {
  it('sends ten events to a request until each is accepted', async () => {
    const owed = owedEvents(25);
    const outcome = await announcer().publish(owed, deadline);
    expect(outcome).toEqual({ accepted: owed, refused: [] });
  });

  it('waits for an answer as long as there is time, longer than for a mail, and names denied actions', async () => {
    const timeouts: unknown[] = [];
    const slow = new SNSClient({
      endpoint: server.address,
      region: 'eu-central-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      maxAttempts: 1,
      requestHandler: {
        handle: async (_: unknown, { requestTimeout }: { requestTimeout?: number }) => {
          timeouts.push(requestTimeout);
          throw Object.assign(new Error('denied'), { name: 'AccessDenied' });
        },
      },
    });
    const clock = new ManualClock();
    const announcer = snsAnnouncer({ mails: slow, batches: slow }, topics, options(clock));
    const published = await announcer.publish(owedEvents(1), clock.now().add({ seconds: 10 }));
    const notified = await announcer.notify({ subject: 'a notice', text: 'a notice' });
    expect(timeouts).toEqual([15_000, undefined]);
    const message = (topic: string) => expect.stringContaining(`denies sns:Publish on ${topic} `);
    expect(published).toMatchObject({ denial: { message: message(topics.events) } });
    expect(notified).toMatchObject({ denial: { message: message(topics.operations) } });
  });

  it('makes requests of at most the bytes that SNS accepts', async () => {
    const sizes: number[] = [];
    client.middlewareStack.add(
      (next) => (call) => {
        if ('PublishBatchRequestEntries' in call.input)
          sizes.push(Buffer.byteLength(JSON.stringify(call.input.PublishBatchRequestEntries)));
        return next(call);
      },
      { name: 'sizes', step: 'initialize' },
    );
    const owed = owedEvents(12, 'é'.repeat(50_000));
    expect((await announcer().publish(owed, deadline)).accepted).toHaveLength(12);
    client.middlewareStack.remove('sizes');
    // Each has 100 KB of name: two fit into 256 KiB, with the body's quotes escaped in this
    // rendering.
    expect(sizes).toHaveLength(6);
  });

  it('retries events that SNS refused or omitted, and returns those left at the end', async () => {
    const asked: string[][] = [];
    const fault = mockClient(SNSClient);
    fault.on(PublishBatchCommand).callsFake(({ PublishBatchRequestEntries: entries = [] }) => {
      const named = entries.map((entry: PublishBatchRequestEntry) => [
        entry.Id,
        JSON.parse(entry.Message ?? '').subject,
      ]);
      asked.push(named.map(([, subject]: string[]) => subject ?? ''));
      return {
        Successful: named
          .filter(
            ([, subject]: string[]) => subject === '1' || (subject === '3' && asked.length > 1),
          )
          .map(([Id]: string[]) => ({ Id })),
        Failed: named
          .filter(([, subject]: string[]) => subject === '2')
          .map(([Id]: string[]) => ({ Id, Code: 'InternalError', SenderFault: false })),
      };
    });
    const { accepted, refused } = await announcer().publish(owedEvents(3), deadline);
    fault.restore();
    expect(idsOf(accepted)).toEqual([1, 3]);
    expect(refused).toMatchObject([{ owed: { certificationId: 2 }, code: 'InternalError' }]);
    expect(asked[0]).toEqual(['1', '2', '3']);
    expect(asked.flat().filter((subject) => subject === '2')).toHaveLength(5);
  });
});

describe('a FIFO topic', () => {
  it("gets groups by subject, and the event's id against duplicates", async () => {
    const fifo = await topic('events.fifo', { FifoTopic: 'true' });
    const given: PublishBatchRequestEntry[] = [];
    client.middlewareStack.add(
      (next) => (call) => {
        if ('PublishBatchRequestEntries' in call.input)
          given.push(...(call.input.PublishBatchRequestEntries ?? []));
        return next(call);
      },
      { name: 'given', step: 'initialize' },
    );
    const { accepted } = await announcer({ ...topics, events: fifo }).publish(
      owedEvents(2),
      deadline,
    );
    client.middlewareStack.remove('given');
    expect(accepted).toHaveLength(2);
    expect(given).toMatchObject([
      { MessageGroupId: 'district-a/1', MessageDeduplicationId: 'district-a/1/1' },
      { MessageGroupId: 'district-a/2', MessageDeduplicationId: 'district-a/2/1' },
    ]);
  });
});

describe('the mail to people', () => {
  const tell = (owed: readonly OwedEvent[], to = topics) =>
    announcer(to).tellPeople(owed.map(({ event }) => event));

  it('is one mail for any number of events', async () => {
    expect(await tell(owedEvents(120))).toEqual({ accepted: true });
  });

  it('returns a code, and does not throw, if SNS refuses it', async () => {
    const missing = { ...topics, alerts: `${topics.alerts}-missing` };
    expect(await tell(owedEvents(1), missing)).toMatchObject({
      accepted: false,
      code: expect.stringMatching(/NotFound/),
    });
  });

  it('is retried after a passing failure of SNS', async () => {
    const { requestHandler } = client.config;
    let requests = 0;
    const mails = new SNSClient({
      endpoint: server.address,
      region: 'eu-central-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      requestHandler: {
        handle: async (...asked: Parameters<typeof requestHandler.handle>) => {
          requests += 1;
          if (requests > 1) return requestHandler.handle(...asked);
          throw Object.assign(new Error('oops'), { name: 'TimeoutError' });
        },
      },
    });
    const people = snsAnnouncer({ mails, batches: client }, topics, options());
    expect(await people.tellPeople(owedEvents(1).map(({ event }) => event))).toEqual({
      accepted: true,
    });
    expect(requests).toBe(2);
  });

  it.each([
    ['at once when SNS calls the mail invalid', 'InvalidParameterException', true],
    ['not when the topic is missing', 'NotFoundException', false],
  ])('has only the numbers: %s', async (_, name, isSentAgain) => {
    const fault = mockClient(SNSClient);
    fault
      .on(PublishCommand)
      .rejectsOnce(Object.assign(new Error('oops'), { name }))
      .resolves({ MessageId: 'taken' });
    try {
      expect(await tell(owedEvents(3))).toMatchObject({ accepted: isSentAgain });
      const inputs = fault.commandCalls(PublishCommand).map(({ args: [{ input }] }) => input);
      expect(inputs).toHaveLength(isSentAgain ? 2 : 1);
      expect(inputs[0]?.Message).toContain('Odalys');
      if (!isSentAgain) return;
      expect(inputs[1]?.Subject).toBe('district-a: certifications that are new or have changed: 3');
      expect(inputs[1]?.Message).not.toMatch(/Odalys|Rope Bridge|Larkspur/);
    } finally {
      fault.restore();
    }
  });

  it('has only characters that XML, and so SNS, allows', async () => {
    const fault = mockClient(SNSClient);
    fault.on(PublishCommand).resolves({ MessageId: 'taken' });
    try {
      await tell(owedEvents(1, 'Oda\u{FFFE}lys\u{FFFF} \u{1}Quillfeather\uD800'));
      const [call] = fault.commandCalls(PublishCommand);
      const { Message = '' } = call?.args[0].input ?? {};
      expect(Message).toContain('Odalys Quillfeather');
      // XML 1.0, 2.2.
      expect(Message).toMatch(/^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u);
    } finally {
      fault.restore();
    }
  });
});
