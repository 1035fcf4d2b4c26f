import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PublishBatchCommand, SNSClient } from '@aws-sdk/client-sns';
import { DeleteMessageBatchCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { buildApp } from '../../infra/build-app.ts';
import type { FilterConfig } from '../../infra/config/filter.ts';
import { type NotifierConfigInput, parseConfig } from '../../infra/config.ts';
import { type CertificationEvent, certificationEvent } from '../../lambda/events/event.ts';
import { messageOf } from '../../lambda/events/sns-message.ts';
import { testEvent } from '../../lambda/events/test-event.ts';
import { type EmbeddedAws, startEmbeddedAws } from '../../local/aws/index.ts';
import { assessment } from '../support/assessments.ts';

const integrations = ['district-a', 'district-b', 'district-c'];
const organizations = [1, 7, 70, 999_999_999, 1_000_000_000];
/** Names that a translation could confuse: case, spaces, digits, JSON and words of filter policies. */
const assessments = [
  'First Aid',
  'first aid',
  'First Aid ',
  'CPR "Adult"',
  '7',
  'true',
  'numeric',
  'Größe ändern – Ünïcödé 🪢',
];
const types = ['created', 'updated', 'withdrawn', 'restored', 'test'] as const;

const some = <T>(values: readonly T[]) =>
  fc.subarray([...values], { minLength: 1, maxLength: Math.min(3, values.length) });

const filter = fc
  .record(
    {
      types: some(types),
      organizations: some(organizations),
      assessments: some(assessments),
      integrations: some(integrations),
      late: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  .map((chosen): FilterConfig | undefined => (Object.keys(chosen).length > 0 ? chosen : undefined))
  .filter((chosen) => combinations(chosen) <= 150);

const combinations = (chosen: FilterConfig | undefined) =>
  Object.values(chosen ?? {}).reduce<number>(
    (product, values) => product * (Array.isArray(values) ? values.length : 1),
    1,
  );

/** A change at the partner, before our code reads it. */
interface Happening {
  readonly type: (typeof types)[number];
  readonly integration: string;
  /** Null: the partner has sent none. */
  readonly organization: number | null;
  readonly assessment: string | null;
  readonly late: boolean;
}

const happening: fc.Arbitrary<Happening> = fc
  .record({
    type: fc.constantFrom(...types),
    integration: fc.constantFrom(...integrations),
    organization: fc.constantFrom(...organizations, 8, 77, null),
    assessment: fc.constantFrom(...assessments, 'Knots', '', null),
    late: fc.boolean(),
  })
  // A test event is invented, and lacks nothing.
  .filter(
    ({ type, organization, assessment }) =>
      type !== 'test' || (organization !== null && assessment !== null),
  );

/** Evaluates the configuration's words, as a person would read them. */
function isWanted(wanted: FilterConfig | undefined, it: Happening): boolean {
  if (wanted?.types && !wanted.types.includes(it.type)) return false;
  if (wanted?.organizations && !wanted.organizations.some((id) => id === it.organization))
    return false;
  if (wanted?.assessments && !wanted.assessments.some((name) => name === it.assessment))
    return false;
  if (wanted?.integrations && !wanted.integrations.includes(it.integration)) return false;
  return wanted?.late === undefined || wanted.late === it.late;
}

const time = Temporal.Instant.from('2026-11-20T21:00:00Z');

function eventOf(it: Happening, id: number, revision = 1): CertificationEvent {
  const { type, integration, late } = it;
  const common = { integration, revision, late, time, fields: 'all' as const };
  const record = {
    ...assessment({ id }),
    organization_id: it.organization,
    assessment_name: it.assessment,
  };
  switch (type) {
    case 'withdrawn':
      return certificationEvent({ type: 'certification.withdrawn', ...common, assessment: record });
    case 'test':
      return testEvent({
        ...common,
        unique: String(id),
        like: it.late ? 'late' : undefined,
        organization_id: it.organization ?? undefined,
        assessment_name: it.assessment ?? undefined,
      });
    default:
      return certificationEvent({
        ...common,
        type: `certification.${type}`,
        assessment: record,
        changed: [],
      });
  }
}

const queueArn = (index: number, kind: Kind) =>
  `arn:aws:sqs:us-east-1:000000000000:subscriber-${index}${kind === 'fifo' ? '.fifo' : ''}`;

type Kind = 'standard' | 'fifo';
type Subscriber = Omit<
  NonNullable<NotifierConfigInput['subscriptions']>[number],
  'topic' | 'protocol'
>;

/** The stack with some queues subscribed to its events, on embedded AWS. */
async function deployed(kind: Kind, subscribers: readonly Subscriber[]): Promise<EmbeddedAws> {
  const outdir = mkdtempSync(join(tmpdir(), 'subscriptions-'));
  try {
    const config = parseConfig({
      integrations: integrations.map((name) => ({
        name,
        baseUrl: 'https://partner.example.org',
        timeZone: 'UTC',
      })),
      topic: kind,
      subscriptions: subscribers.map((subscriber) => ({
        topic: 'events',
        protocol: 'sqs',
        ...subscriber,
      })),
    });
    buildApp(config, { outdir, bundle: false }).synth();
    return await startEmbeddedAws(outdir);
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

async function publish(aws: EmbeddedAws, events: readonly CertificationEvent[]): Promise<void> {
  const sns = new SNSClient(aws.clientConfig('sns'));
  const TopicArn = aws.output('EventsTopicArn');
  for (let start = 0; start < events.length; start += 10)
    await sns.send(
      new PublishBatchCommand({
        TopicArn,
        PublishBatchRequestEntries: events.slice(start, start + 10).map((event, index) => ({
          Id: String(index),
          Message: messageOf(event).body,
          MessageAttributes: messageOf(event).attributes,
          ...(TopicArn.endsWith('.fifo') && messageOf(event).fifo),
        })),
      }),
    );
  sns.destroy();
}

/** Takes the raw events out of a queue. @returns their ids */
async function received(aws: EmbeddedAws, QueueUrl: string): Promise<string[]> {
  const sqs = new SQSClient(aws.clientConfig('sqs'));
  const ids: string[] = [];
  for (;;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    if (Messages.length === 0) break;
    ids.push(...Messages.map(({ Body = '' }) => String(JSON.parse(Body).id)));
    await sqs.send(
      new DeleteMessageBatchCommand({
        QueueUrl,
        Entries: Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      }),
    );
  }
  sqs.destroy();
  return ids;
}

describe('a subscriber with any filter', () => {
  it.each(['standard', 'fifo'] as const)(
    'gets exactly the events that a naive evaluation of the filter passes, from a %s topic',
    async (kind) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(filter, { minLength: 20, maxLength: 30 }),
          fc.array(happening, { minLength: 60, maxLength: 120 }),
          async (filters, happenings) => {
            const aws = await deployed(
              kind,
              filters.map((wanted, index) => ({
                endpoint: queueArn(index, kind),
                raw: true,
                ...(wanted && { filter: wanted }),
              })),
            );
            try {
              const events = happenings.map((it, id) => eventOf(it, id + 1));
              await publish(aws, events);
              for (const [index, wanted] of filters.entries()) {
                const expected = events.flatMap(({ id }, nth) => {
                  const it = happenings[nth];
                  return it && isWanted(wanted, it) ? id : [];
                });
                const actual = await received(aws, aws.queueUrl(queueArn(index, kind)));
                expect(actual.sort(), JSON.stringify(wanted)).toEqual(expected.sort());
              }
            } finally {
              await aws.close();
            }
          },
        ),
        { numRuns: 2, endOnFailure: true },
      );
    },
  );
});

describe('a queue made by the stack', () => {
  it.each(['standard', 'fifo'] as const)(
    'gets the events of an assessment from a %s topic, in order if that is FIFO',
    async (kind) => {
      const endpoint = { newQueue: 'payroll' };
      await using stack = new AsyncDisposableStack();
      const aws = await deployed(kind, [{ endpoint, raw: true, filter: { organizations: [7] } }]);
      stack.defer(() => aws.close());
      const happened = (organization: number): Happening => ({
        type: 'updated',
        integration: 'district-a',
        organization,
        assessment: 'Knots',
        late: false,
      });
      const events = Array.from({ length: 25 }, (_, index) => eventOf(happened(7), 1, index + 1));
      await publish(aws, [...events, eventOf(happened(8), 2)]);
      const ids = await received(aws, aws.output('QueueUrlPayroll'));
      const expected = events.map(({ id }) => id);
      if (kind === 'standard') expect(ids.sort()).toEqual(expected.sort());
      else expect(ids).toEqual(expected);
    },
  );
});
