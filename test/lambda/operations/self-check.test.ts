import { beforeEach, describe, expect, it } from 'vitest';
import { AccessDeniedError } from '../../../lambda/access-denied.ts';
import { type ExpectedSubscription, endpointName } from '../../../lambda/names.ts';
import { contract } from '../../../lambda/operations/contract.ts';
import type { Subscribers } from '../../../lambda/operations/parts.ts';
import { CredentialsNotSetError } from '../../../lambda/partner/secret.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { noAssessments } from '../../scaffold/partner.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

const database = ledgersInDynamoDb();
const mail = 'odile.quillfeather@example.org';
const queue = 'arn:aws:sqs:us-east-1:111122223333:payroll';

const expected: ExpectedSubscription[] = [
  { topic: 'events', protocol: 'sqs', endpoint: queue, name: queue },
  {
    topic: 'operations',
    protocol: 'email',
    endpoint: endpointName('email', mail),
    name: 'a subscriber by e-mail at example.org',
  },
];
const both: Record<string, Subscribers['listed']> = {
  events: [{ protocol: 'sqs', endpoint: queue, isConfirmed: true }],
  operations: [{ protocol: 'email', endpoint: mail, isConfirmed: true }],
};

let story: IntegrationWithPast;
/** The subscriptions that SNS lists. */
let listed = both;

beforeEach(async () => {
  story = new IntegrationWithPast(database);
  story.world = [1, 2, 3].map((id) =>
    assessment({ id, certified_on: '2026-11-20', organization_id: 7 }),
  );
  listed = both;
  story.subscribersOf = async (topic) => ({ listed: listed[topic] ?? [] });
  await story.settle();
});

/** Runs the self-check as the schedule does. */
async function selfCheck(knowing: object = { subscriptions: expected }) {
  const answer = await story.operate({ command: 'check', note: true, ...knowing });
  expect(JSON.stringify([answer, story.carriedOut])).not.toContain('quillfeather');
  return contract.check.result.parse(answer.result).checks;
}

/** Runs a self-check, and the tick after it. @returns the notices of that tick */
async function day(knowing?: object) {
  const before = story.notices.length;
  await selfCheck(knowing);
  await story.minute();
  expect(JSON.stringify(story.notices)).not.toContain('quillfeather');
  return story.notices.slice(before).map(({ subject }) => subject.replace(`${story.name}: `, ''));
}

const fails = 'the daily self-check fails';
const failsMore = 'more of the daily self-check fails';
const passes = 'the daily self-check passes again';

async function status() {
  const answer = await story.operate({ command: 'status' });
  return contract.status.result.parse(answer.result);
}

describe('a self-check', () => {
  it('that passes causes no notice', async () => {
    expect(await day()).toEqual([]);
    expect(await status()).toMatchObject({ state: 'up-to-date', selfCheck: { failed: {} } });
  });

  it('that fails is told once, and once more when the failure is repaired', async () => {
    listed = { ...both, operations: [] };
    expect(await day()).toEqual([fails]);
    const [notice] = story.notices.slice(-1);
    expect(notice?.text).toContain('  subscriptions[1]: operations, email: gone');
    expect(notice?.text).toContain('check --note --stack');
    expect(await status()).toMatchObject({
      state: 'check-failed',
      selfCheck: { failed: { 'subscriptions[1]': 'operations, email: gone' } },
    });
    story.clock.advance({ hours: 24 });
    expect(await day()).toEqual([]);
    listed = both;
    expect(await day()).toEqual([passes]);
    expect(await status()).toMatchObject({ state: 'up-to-date' });
  });

  it('reports an unconfirmed subscription beside any others', async () => {
    const other = { protocol: 'email', endpoint: 'other@example.org', isConfirmed: true };
    const unconfirmed = { protocol: 'email', endpoint: mail, isConfirmed: false };
    listed = { ...both, operations: [other, unconfirmed] };
    const checks = await selfCheck();
    expect(checks.find(({ name }) => name === 'subscriptions')).toMatchObject({
      outcome: 'failed',
      found:
        'subscriptions[1] (operations: a subscriber by e-mail at example.org) is not confirmed.',
    });
    listed = { ...both, operations: [unconfirmed, { ...unconfirmed, isConfirmed: true }] };
    expect(await day()).toEqual([]);
  });

  it('reports another failure in the place of a repaired one, a day later', async () => {
    listed = { ...both, operations: [] };
    expect(await day()).toEqual([fails]);
    listed = { ...both, events: [] };
    story.clock.advance({ hours: 23, minutes: 58 });
    await selfCheck();
    await story.minutes(4);
    expect(story.notices.slice(-1)).toMatchObject([
      {
        subject: expect.stringContaining(failsMore),
        text: expect.stringContaining('subscriptions[0]: events, sqs: gone'),
      },
    ]);
  });

  it('does not repeat notices of ticks', async () => {
    story.host.fault = noAssessments;
    await story.minute().catch(() => undefined);
    expect(story.notices.slice(-1)).toMatchObject([
      { subject: expect.stringContaining('the partner has assigned no scope') },
    ]);
    story.clock.advance({ hours: 2 });
    const before = story.notices.length;
    await selfCheck();
    await story.minute().catch(() => undefined);
    expect(story.notices.slice(before)).toEqual([]);
  });

  it('does not take back failures that it cannot try while SNS throttles or credentials are missing', async () => {
    listed = { ...both, events: [] };
    story.host.singleRecordsBroken = true;
    expect(await day()).toEqual([fails]);
    story.subscribersOf = async () => ({ problem: 'Throttling', listed: [] });
    story.credentialsFailure = new CredentialsNotSetError('secret');
    await selfCheck();
    expect((await status()).selfCheck?.failed).toEqual({
      'subscriptions[0]': 'events, sqs: gone',
      'single-record': expect.stringContaining('A record of the list'),
      secret: expect.any(String),
    });
  });

  it('reports a role that may not list subscriptions', async () => {
    const asked = { action: 'sns:ListSubscriptionsByTopic', resource: 'the topic' };
    story.subscribersOf = async () => {
      throw new AccessDeniedError(asked, '(AuthorizationError, request 1)', {});
    };
    expect(await day()).toEqual([fails]);
    const [notice] = story.notices.slice(-1);
    expect(notice?.text).toContain('  subscriptions: AWS denies sns:ListSubscriptionsByTopic');
  });

  it('of an integration without the topics leaves them to the one that has them', async () => {
    story.topics = [{ topic: 'operations', confirmed: 0, pending: 0 }];
    expect(await day({})).toEqual([]);
    expect(await day()).toEqual([fails]);
    expect((await status()).selfCheck?.failed).toEqual({
      topics: 'Nobody is subscribed to operations.',
    });
  });

  it('is told during a pause, and then sends the partner no request', async () => {
    await story.operate({ command: 'pause', reason: 'the partner is moving' });
    listed = { ...both, events: [] };
    story.requests.length = 0;
    expect(await day()).toEqual([fails]);
    expect(story.requests).toEqual([]);
  });

  it('that stops is told within two hours', async () => {
    await day();
    story.clock.advance({ hours: 25 });
    expect(await story.minute()).toMatchObject({ conditions: {} });
    story.clock.advance({ hours: 1 });
    await story.minute();
    expect(story.notices.at(-1)).toMatchObject({
      subject: expect.stringContaining(fails),
      text: expect.stringContaining('no self-check has come to its end since 2026-11-2'),
    });
    expect(await day()).toEqual([passes]);
  });

  it('that has never completed is told within two hours after a day', async () => {
    expect(await story.minute()).toMatchObject({ conditions: {} });
    story.clock.advance({ hours: 25 });
    expect(await story.minute()).toMatchObject({ conditions: {} });
    story.clock.advance({ hours: 1 });
    await story.minute();
    expect(story.notices.at(-1)).toMatchObject({
      subject: expect.stringContaining(fails),
      text: expect.stringContaining('no self-check has come to its end since 2026-11-2'),
    });
    expect(await day()).toEqual([passes]);
  });

  it('that has never completed is told during a pause', async () => {
    await story.operate({ command: 'pause', reason: 'the partner is moving' });
    story.clock.advance({ hours: 27 });
    const before = story.notices.length;
    await story.minute();
    expect(story.notices.slice(before).map(({ subject }) => subject)).toContainEqual(
      expect.stringContaining(fails),
    );
  });

  it('before the very first tick sends no notice', async () => {
    story = new IntegrationWithPast(database);
    story.subscribersOf = async () => ({ listed: [] });
    expect(await selfCheck()).toHaveLength(11);
    expect(await story.items()).toEqual([]);
    expect(story.warnings).toContain('self-check failed');
  });

  it('by hand is noted only on request', async () => {
    listed = { ...both, events: [] };
    await story.operate({ command: 'check', subscriptions: expected });
    expect((await status()).selfCheck).toBeUndefined();
  });

  it('leaves a quiet tick one request, one read unit and one write unit, with any number of failures', async () => {
    const many = Array.from({ length: 118 }, (_, index) => ({
      topic: 'operations' as const,
      protocol: 'email-json',
      endpoint: endpointName('email-json', `${index}@example.org`),
      name: 'a subscriber by e-mail at example.org',
    }));
    story.host.singleRecordsBroken = true;
    expect(await day({ subscriptions: many })).toEqual([fails]);
    expect(story.notices.at(-1)?.text).toContain('Failures since it passed last: 119');
    story.requests.length = 0;
    expect(await database.unitsOf(() => story.tick())).toEqual([1, 1]);
    expect(story.requests).toEqual(['pulse']);
  });
});
