import { beforeEach, describe, expect, it } from 'vitest';
import type { TopicName } from '../../../lambda/names.ts';
import { contract } from '../../../lambda/operations/contract.ts';
import {
  CredentialsMalformedError,
  CredentialsNotSetError,
} from '../../../lambda/partner/secret.ts';
import { type DynamoDbLedgers, ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import {
  type Fault,
  invalidToken,
  isOfDays,
  noAssessments,
  noOrganizations,
  unsupportedGrant,
} from '../../scaffold/partner.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

async function begin(ledgers?: DynamoDbLedgers) {
  story = new IntegrationWithPast(ledgers);
  story.world = [1, 2, 3].map((id) =>
    assessment({ id, certified_on: '2026-11-20', organization_id: 7 }),
  );
  await story.settle();
}
beforeEach(() => begin());

/** Its token has expired, and the partner answers this to the request for another. */
function withoutToken(answer: Fault) {
  story.host.access.rotateSecret();
  story.credentials = story.host.access.credentials;
  story.host.onToken = () => answer;
}

async function checked(settings: object = {}) {
  const answer = await story.operate({ command: 'check', ...settings });
  expect(answer).toMatchObject({ ok: true });
  expect(JSON.stringify(answer)).not.toMatch(/Odalys|Quillfeather|@example/);
  const { checks } = contract.check.result.parse(answer.result);
  return { checks: new Map(checks.map(({ name, ...finding }) => [name, finding])) };
}

const topic = (name: TopicName, more = {}) => ({
  topic: name,
  confirmed: 1,
  pending: 0,
  ...more,
});

describe('a check', () => {
  it('without problems finds nothing, shows the scope, and changes nothing', async () => {
    await begin(database);
    const before = await story.items();
    const { checks } = await checked({ subscriptions: [] });
    for (const [name, { outcome }] of checks) expect(`${name}: ${outcome}`).toBe(`${name}: ok`);
    expect(checks.get('scope')?.found).toMatch(/^3 assessments; .* 1 organizations \(7 /);
    expect(await story.items()).toEqual(before);
  });

  it("shows the partner's numbers of the scope", async () => {
    await begin(database);
    const [first] = story.host.records.keys();
    story.host.edit(first ?? 0, { organization_id: 8, organization_name: null });
    const [, second] = story.host.records.keys();
    story.host.edit(second ?? 0, { organization_id: null, assessment_name: null });
    const found = (await checked()).checks.get('scope')?.found;
    expect(found).toMatch(/ are of 2 organizations \(7 .+, 8 without a name\) and 1 kinds of /);
    expect(found).toContain('(Rope Bridge Safety)');
  });

  it('counts an organization of two names once, and a scope without organizations as none', async () => {
    story.host.edit(1, { organization_name: 'Copper Hollow' });
    for (const id of [1, 2, 3]) story.host.edit(id, { assessment_name: null });
    const found = (await checked()).checks.get('scope')?.found;
    expect(found).toMatch(/ are of 1 organizations \(7 [^,]+\) and no kinds of assessment\.$/);
  });

  it('warns of an integration without a recent tick', async () => {
    story.clock.advance({ minutes: 4 });
    expect((await checked()).checks.get('ledger')).toMatchObject({
      outcome: 'warning',
      found: expect.stringContaining('2026-11-21T08:00:00Z'),
    });
    await story.operate({ command: 'pause', reason: 'the partner moves' });
    const { found } = (await checked()).checks.get('ledger') ?? {};
    expect(found).toContain('has paused the integration');
  });

  it('of a paused integration says who paused it and why', async () => {
    await story.operate({ command: 'pause', reason: 'the partner moves', by: 'odile' });
    const { checks } = await checked();
    expect(checks.get('ledger')).toMatchObject({
      outcome: 'warning',
      found: 'odile has paused the integration at 2026-11-21T08:00:00Z: the partner moves.',
      whatToDo: expect.stringContaining('Resume it'),
    });
    expect(checks.get('token')).toMatchObject({ outcome: 'ok' });
  });

  it.each([
    [
      'an empty secret',
      'secret',
      'failed',
      () => {
        story.credentialsFailure = new CredentialsNotSetError('secret');
      },
    ],
    [
      'a secret that holds no credentials',
      'secret',
      'failed',
      () => {
        story.credentialsFailure = new CredentialsMalformedError('secret', ['not JSON']);
      },
    ],
    [
      'credentials that the partner refuses',
      'token',
      'failed',
      () => {
        story.host.access.rotateSecret();
      },
    ],
    [
      'an unsuitable form of token request',
      'token',
      'failed',
      () => {
        withoutToken(unsupportedGrant);
      },
    ],
    [
      'an integration that the partner has not enabled',
      'token',
      'failed',
      () => {
        story.host.fault = invalidToken;
      },
    ],
    [
      'a host without an answer',
      'token',
      'failed',
      () => {
        withoutToken('reset');
      },
    ],
    [
      'no organizations assigned',
      'scope',
      'failed',
      () => {
        story.host.fault = noOrganizations;
      },
    ],
    [
      'no assessments assigned',
      'scope',
      'failed',
      () => {
        story.host.fault = noAssessments;
      },
    ],
    [
      'an empty scope',
      'scope',
      'warning',
      () => {
        story.world = [];
      },
    ],
    [
      'malformed records',
      'records',
      'warning',
      () => {
        story.host.spoil(2);
      },
    ],
    [
      'an impossible time zone',
      'time-zone',
      'warning',
      () => {
        story.add(assessment({ id: 9, certified_on: '2026-11-22' }));
      },
    ],
    [
      'filters by day that omit their bounds',
      'day-bounds',
      'failed',
      () => {
        story.host.count = (right, { filter }) => (isOfDays(filter) ? 1 : right);
      },
    ],
    [
      'records that cannot be fetched by their ids',
      'single-record',
      'failed',
      () => {
        story.host.singleRecordsBroken = true;
      },
    ],
    [
      'a deleted topic',
      'topics',
      'failed',
      () => {
        story.topics = [topic('events', { problem: 'NotFoundException' }), topic('alerts')];
      },
    ],
    [
      'an unconfirmed subscription',
      'topics',
      'warning',
      () => {
        story.topics = [topic('events'), topic('alerts', { pending: 1 })];
      },
    ],
    [
      'operations without a subscriber',
      'topics',
      'failed',
      () => {
        story.topics = [topic('events'), topic('operations', { confirmed: 0 })];
      },
    ],
    [
      'operations without a subscriber or a subscribed chat',
      'topics',
      'failed',
      () => {
        const confirmed = 0;
        story.topics = [
          topic('operations', { confirmed }),
          topic('chat-operations', { confirmed }),
        ];
      },
    ],
    [
      'a chat without a subscription',
      'topics',
      'warning',
      () => {
        story.topics = [topic('operations'), topic('chat-alerts', { confirmed: 0 })];
      },
    ],
    [
      'events without a subscriber',
      'topics',
      'warning',
      () => {
        story.topics = [topic('events', { confirmed: 0 }), topic('alerts')];
      },
    ],
  ] as const)('finds %s', async (_, name, outcome, misconfigure) => {
    misconfigure();
    const { checks } = await checked();
    expect(checks.get(name)).toMatchObject({ outcome, whatToDo: expect.any(String) });
    const others = [...checks].filter(
      ([other, { outcome }]) => other !== name && outcome === 'failed',
    );
    expect(others).toEqual([]);
  });

  it('counts a chat as a subscriber', async () => {
    const unheard = { confirmed: 0 };
    story.topics = [
      topic('events'),
      topic('alerts', unheard),
      topic('operations', unheard),
      topic('chat-alerts'),
      topic('chat-operations'),
    ];
    const { checks } = await checked();
    expect(checks.get('topics')).toMatchObject({ outcome: 'ok' });
  });

  it.each([true, false])(
    'finds whether a chat subscribes to its topic, by any address: %s',
    async (isThere) => {
      story.subscribersOf = async (name) => ({
        listed:
          isThere && name === 'chat-operations'
            ? [{ protocol: 'https', endpoint: 'https://chat.example.org/x', isConfirmed: true }]
            : [],
      });
      const name = 'the Slack channel C0123ABCD';
      const subscriptions = [{ topic: 'chat-operations', protocol: 'https', name }];
      const { checks } = await checked({ subscriptions });
      expect(checks.get('subscriptions')).toMatchObject(
        isThere
          ? { outcome: 'ok' }
          : { outcome: 'failed', found: expect.stringContaining(`${name}) is not there any more`) },
      );
    },
  );

  it('does not ask the partner without credentials', async () => {
    story.credentialsFailure = new CredentialsNotSetError('secret');
    const { checks } = await checked();
    expect(story.requests).toEqual([]);
    expect(checks.get('token')).toMatchObject({ outcome: 'skipped' });
    expect(checks.get('topics')).toMatchObject({ outcome: 'ok' });
  });

  it('lists the parts that it could not try', async () => {
    story.world = [];
    const { checks } = await checked();
    for (const name of ['time-zone', 'day-bounds', 'single-record'] as const)
      expect(checks.get(name)).toMatchObject({ outcome: 'skipped' });
  });
});
