import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PublishBatchCommand, SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { buildApp } from '../../infra/build-app.ts';
import type { FilterConfig } from '../../infra/config/filter.ts';
import { parseConfig } from '../../infra/config.ts';
import { type CertificationEvent, certificationEvent } from '../../lambda/events/event.ts';
import { messageOf } from '../../lambda/events/sns-message.ts';
import { testEvent } from '../../lambda/events/test-event.ts';
import { type EmbeddedAws, startEmbeddedAws } from '../../local/aws/index.ts';
import { drain } from '../scaffold/deployment.ts';
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

const filter: fc.Arbitrary<FilterConfig> = fc
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
  // SNS's limit of combinations.
  .filter(
    ({ late: _, ...lists }) =>
      Object.values(lists).reduce((product, { length }) => product * length, 1) <= 150,
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
const isWanted = (wanted: FilterConfig, it: Happening) =>
  (wanted.types?.includes(it.type) ?? true) &&
  (wanted.organizations?.some((id) => id === it.organization) ?? true) &&
  (wanted.assessments?.some((name) => name === it.assessment) ?? true) &&
  (wanted.integrations?.includes(it.integration) ?? true) &&
  (wanted.late === undefined || wanted.late === it.late);

const time = Temporal.Instant.from('2026-11-20T21:00:00Z');

function eventOf(it: Happening, id: number): CertificationEvent {
  const { type, integration, late } = it;
  const common = { integration, revision: 1, late, time, fields: 'all' as const };
  if (type === 'test')
    return testEvent({
      ...common,
      unique: String(id),
      like: it.late ? 'late' : undefined,
      organization_id: it.organization ?? undefined,
      assessment_name: it.assessment ?? undefined,
    });
  const record = {
    ...assessment({ id }),
    organization_id: it.organization,
    assessment_name: it.assessment,
  };
  return type === 'withdrawn'
    ? certificationEvent({ type: 'certification.withdrawn', ...common, assessment: record })
    : certificationEvent({
        type: `certification.${type}`,
        ...common,
        assessment: record,
        changed: [],
      });
}

type Kind = 'standard' | 'fifo';
const queueArn = (index: number, kind: Kind) =>
  `arn:aws:sqs:us-east-1:000000000000:subscriber-${index}${kind === 'fifo' ? '.fifo' : ''}`;

/** The stack with a queue for each filter, on embedded AWS. */
async function deployed(kind: Kind, filters: readonly FilterConfig[]): Promise<EmbeddedAws> {
  const outdir = mkdtempSync(join(tmpdir(), 'subscriptions-'));
  try {
    const config = parseConfig({
      integrations: integrations.map((name) => ({
        name,
        baseUrl: 'https://partner.example.org',
        timeZone: 'UTC',
      })),
      topic: kind,
      subscriptions: filters.map((wanted, index) => ({
        topic: 'events',
        protocol: 'sqs',
        endpoint: queueArn(index, kind),
        raw: true,
        ...(Object.keys(wanted).length > 0 && { filter: wanted }),
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
  for (let start = 0; start < events.length; start += 10) {
    const PublishBatchRequestEntries = events.slice(start, start + 10).map((event, index) => {
      const { body, attributes, fifo } = messageOf(event);
      const ofFifo = TopicArn.endsWith('.fifo') && fifo;
      return { Id: String(index), Message: body, MessageAttributes: attributes, ...ofFifo };
    });
    await sns.send(new PublishBatchCommand({ TopicArn, PublishBatchRequestEntries }));
  }
  sns.destroy();
}

it.each(['standard', 'fifo'] as const)(
  'a subscriber gets exactly the events that a naive evaluation of its filter passes, from a %s topic',
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(filter, { minLength: 20, maxLength: 30 }),
        fc.array(happening, { minLength: 60, maxLength: 120 }),
        async (filters, happenings) => {
          const aws = await deployed(kind, filters);
          const sqs = new SQSClient(aws.clientConfig('sqs'));
          try {
            const told = happenings.map((it, nth) => ({ it, event: eventOf(it, nth + 1) }));
            await publish(
              aws,
              told.map(({ event }) => event),
            );
            for (const [index, wanted] of filters.entries()) {
              const expected = told.filter(({ it }) => isWanted(wanted, it));
              const messages = await drain(sqs, aws.queueUrl(queueArn(index, kind)));
              const actual = messages.map(({ Body = '' }) => String(JSON.parse(Body).id));
              expect(actual.sort(), JSON.stringify(wanted)).toEqual(
                expected.map(({ event }) => event.id).sort(),
              );
            }
          } finally {
            sqs.destroy();
            await aws.close();
          }
        },
      ),
      { numRuns: 2, endOnFailure: true },
    );
  },
);
