import { beforeEach, describe, expect, it } from 'vitest';
import type { Check } from '../../../lambda/commands/finding.ts';
import type { Subscribers, TopicFinding } from '../../../lambda/commands/parts.ts';
import { endpointName, type TopicName } from '../../../lambda/names.ts';
import { CredentialsNotSetError } from '../../../lambda/partner/secret.ts';
import { type DynamoDbLedgers, ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import {
  type Fault,
  invalidToken,
  isOfDays,
  type MemoryPartner,
  noAssessments,
  noOrganizations,
  unsupportedGrant,
} from '../../scaffold/partner.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { on, resultOf } from './answers.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

async function begin(ledgers?: DynamoDbLedgers) {
  story = new IntegrationWithPast(ledgers);
  story.world = [1, 2, 3].map((id) => on('2026-11-20', id));
  await story.settle();
}
beforeEach(() => begin());

async function checked(settings: object = {}) {
  const { checks } = await resultOf(story, 'check', settings);
  return new Map(checks.map(({ name, ...finding }) => [name, finding]));
}

const topic = (name: TopicName, confirmed = 1, more: Partial<TopicFinding> = {}) => ({
  ...{ topic: name, confirmed, pending: 0 },
  ...more,
});

describe('a check', () => {
  it('without problems finds nothing, shows the scope, and changes nothing', async () => {
    await begin(database);
    const before = await story.items();
    const checks = await checked({ subscriptions: [] });
    for (const [name, { outcome }] of checks) expect(`${name}: ${outcome}`).toBe(`${name}: ok`);
    expect(checks.get('scope')?.found).toMatch(/^3 assessments; .* 1 organization \(7 /);
    expect(await story.items()).toEqual(before);
  });

  it('counts organizations by id, and kinds of assessment by name, and names twenty at most', async () => {
    const scope = async () => (await checked()).get('scope')?.found;
    story.host.edit(1, { organization_id: 8, organization_name: null });
    story.host.edit(2, { organization_id: null, assessment_name: null });
    expect(await scope()).toMatch(/ 2 organizations \(7 .+, 8 without a name\) and 1 kind of /);
    for (const id of [1, 2, 3]) story.host.edit(id, { organization_id: 7, assessment_name: null });
    expect(await scope()).toMatch(/ of 1 organization \(7 [^,]+\) and no kinds of assessment\.$/);
    for (let id = 101; id <= 121; id += 1) story.add(on('2026-11-20', id, { organization_id: id }));
    expect(await scope()).toMatch(/ 22 organizations \(101 .*119 [^,]+, 120 [^,]+, …\)/);
  });

  it.each([
    [{ assessments: ['Première\u00a0aide'], organizations: [8] }, ' (7 '],
    [{ assessments: ['X'], integrations: ['another'] }, ' (7 '],
    [{ organizations: [8, 9] }, 'subscriptions[0] filters for the organization 9.'],
    [
      { assessments: ['premie\u0300re  AIDE'] },
      '"Première\u00a0aide", which differs in blanks, form or',
    ],
  ])(
    'names values of filters that the newest records lack, with look-alikes: %j',
    async (filter, told) => {
      story.host.edit(1, { assessment_name: 'Première\u00a0aide', organization_id: 8 });
      const subscriptions = [{ topic: 'events', protocol: 'sqs', name: 'x', ...filter }];
      const { outcome, found } = (await checked({ subscriptions })).get('scope') ?? {};
      expect(found).toContain(told);
      expect(outcome).toBe(told.includes('(7') ? 'ok' : 'warning');
    },
  );

  it('of a paused integration says who paused it and why, and else warns of late ticks', async () => {
    story.clock.advance({ minutes: 4 });
    expect((await checked()).get('ledger')).toMatchObject({
      outcome: 'warning',
      found: expect.stringContaining('2026-11-21T08:00:00Z'),
    });
    await story.operate({ command: 'pause', reason: 'the partner moves', by: 'odile' });
    const checks = await checked();
    expect(checks.get('ledger')).toMatchObject({
      outcome: 'warning',
      found: 'odile has paused the integration at 2026-11-21T08:04:00Z: the partner moves.',
      whatToDo: expect.stringContaining('Resume it'),
    });
    expect(checks.get('token')).toMatchObject({ outcome: 'ok' });
  });

  const ours = (is: Partial<IntegrationWithPast>) => () => Object.assign(story, is);
  const host = (is: Partial<MemoryPartner>) => () => Object.assign(story.host, is);
  /** Its token has expired, and the partner answers this to the request for another. */
  const withoutToken = (answer: Fault) => () => {
    story.host.access.rotateSecret();
    story.credentials = story.host.access.credentials;
    story.host.onToken = () => answer;
  };
  const credentialsFailure = new CredentialsNotSetError('secret');
  const tomorrow = () => story.add(on('2026-11-22', 9));
  const miscount: MemoryPartner['count'] = (right, query) => (isOfDays(query) ? 1 : right);

  it.each<[string, Check['name'], Check['outcome'], () => unknown]>([
    ['an empty secret', 'secret', 'failed', ours({ credentialsFailure })],
    ['refused credentials', 'token', 'failed', () => story.host.access.rotateSecret()],
    ['an unsuitable form of token request', 'token', 'failed', withoutToken(unsupportedGrant)],
    ['an integration that is not enabled', 'token', 'failed', host({ fault: invalidToken })],
    ['a host without an answer', 'token', 'failed', withoutToken('reset')],
    ['no organizations assigned', 'scope', 'failed', host({ fault: noOrganizations })],
    ['no assessments assigned', 'scope', 'failed', host({ fault: noAssessments })],
    ['an empty scope', 'scope', 'warning', ours({ world: [] })],
    ['malformed records', 'records', 'warning', () => story.host.spoil(2)],
    ['an impossible time zone', 'time-zone', 'warning', tomorrow],
    ['filters by day without their bounds', 'day-bounds', 'failed', host({ count: miscount })],
    ['a record without its id', 'single-record', 'failed', host({ singleRecordsBroken: true })],
  ])('finds %s', async (_, name, outcome, misconfigure) => {
    misconfigure();
    const checks = await checked();
    expect(checks.get(name)).toMatchObject({ outcome, whatToDo: expect.any(String) });
    checks.delete(name);
    expect([...checks.values()].filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  });

  it.each(['0001-01-01', '9999-12-31'])(
    'asks for no day outside of the calendar: %s',
    async (day) => {
      story.world = [on(day, 1)];
      expect((await checked()).get('day-bounds')).toMatchObject({ outcome: 'ok' });
      expect(JSON.stringify(story.host.requests)).not.toMatch(/"0000-|"\+/);
    },
  );

  it('asks a second time if the numbers of days do not add up', async () => {
    let asked = 0;
    story.host.count = (right, query) => {
      asked += Number(isOfDays(query));
      return asked === 1 ? right + 1 : right;
    };
    expect((await checked()).get('day-bounds')).toMatchObject({ outcome: 'ok' });
  });

  it('skips the rest without credentials, and without records', async () => {
    story.world = [];
    const empty = await checked();
    for (const name of ['time-zone', 'day-bounds', 'single-record'] as const)
      expect(empty.get(name)).toMatchObject({ outcome: 'skipped' });
    story.credentialsFailure = credentialsFailure;
    story.requests.length = 0;
    const checks = await checked();
    expect(story.requests).toEqual([]);
    expect(checks.get('token')).toMatchObject({ outcome: 'skipped' });
    expect(checks.get('topics')).toMatchObject({ outcome: 'ok' });
  });
});

describe('the topics', () => {
  const gone = topic('events', 0, { problem: 'NotFoundException' });
  const pending = topic('alerts', 1, { pending: 1 });
  const chats = [topic('chat-alerts'), topic('chat-operations')];

  it.each<[string, TopicFinding[], Check['outcome'], string]>([
    ['is deleted', [gone, topic('alerts')], 'failed', 'events: NotFoundException'],
    [
      'is unconfirmed',
      [topic('events'), pending],
      'warning',
      'alerts: 1 subscription is not confirmed',
    ],
    ['is unheard', [topic('events', 0), topic('alerts')], 'warning', 'to: events.'],
    ['is the chat', [topic('operations'), topic('chat-alerts', 0)], 'warning', 'to: chat-alerts.'],
    ['are alerts', [topic('operations'), topic('alerts', 0)], 'warning', 'to: alerts.'],
    ['are operations', [topic('events'), topic('operations', 0)], 'failed', 'to operations.'],
    ['are both', [topic('operations', 0), topic('chat-operations', 0)], 'failed', 'to operations.'],
    ['is none', [topic('operations', 0), ...chats], 'ok', 'operations: 0 subscribed'],
  ])('are looked at, one of which %s', async (_, topics, outcome, found) => {
    story.topics = topics;
    const finding = (await checked()).get('topics');
    expect(finding).toMatchObject({ outcome, found: expect.stringContaining(found) });
  });
});

describe('the subscriptions of the configuration', () => {
  const mail = 'odile.quillfeather@example.org';
  const arn = 'arn:aws:sqs:us-east-1:111122223333:payroll';
  const expected = [
    { topic: 'events', protocol: 'sqs', endpoint: arn, name: arn },
    { topic: 'operations', protocol: 'email', endpoint: endpointName('email', mail), name: 'me' },
    { topic: 'chat-operations', protocol: 'https', name: 'a chat' },
  ];
  const of = (protocol: string, endpoint: string, isConfirmed = true) => [
    { protocol, endpoint, isConfirmed },
  ];
  const [queue, mailbox, chat] = [of('sqs', arn), of('email', mail), of('https', 'https://x.y')];
  const [others, pending] = [of('email', 'other@example.org'), of('email', mail, false)];
  const stranger = of('email', 'other@example.org', false);
  const [mine, gone] = ['[1] (operations: me)', 'is not there any more'];

  it.each([
    ['are all there', queue, mailbox, chat, '', 0],
    ['may be there twice', queue, [...pending, ...mailbox], chat, '', 1],
    ['lack a confirmation', queue, [...others, ...pending], chat, `${mine} is not confirmed`, 0],
    ['lack a mailbox', queue, [...stranger, ...of('sms', mail)], chat, `${mine} ${gone}`, 1],
    ['lack a queue', [], mailbox, chat, `[0] (events: ${arn}) ${gone}`, 0],
    ['lack two', queue, [], [], `${gone}; subscriptions[2] (chat-operations: a chat) ${gone}`, 0],
  ])('%s', async (_, events, operations, chats, found, beside) => {
    const lists: Record<string, Subscribers['listed']> = { events, operations };
    story.subscribersOf = async (topic) => ({ listed: lists[topic] ?? chats });
    story.topics = [topic('operations', 1, { pending: 1 }), topic('events')];
    const checks = await checked({ subscriptions: expected });
    expect(checks.get('subscriptions')).toMatchObject({
      outcome: found === '' ? 'ok' : 'failed',
      found: expect.stringContaining(found),
    });
    // Both checks never tell of the same one.
    expect(checks.get('topics')?.found).toBe(
      beside === 0
        ? 'operations: 1 subscribed; events: 1 subscribed'
        : 'operations: 1 subscription beside those of the configuration is not confirmed',
    );
  });
});
