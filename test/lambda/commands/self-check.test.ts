import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type SelfCheck,
  selfCheckAfter,
  selfCheckSeen,
  type Tried,
} from '../../../lambda/decisions/self-check.ts';
import { type ExpectedSubscription, endpointName } from '../../../lambda/names.ts';
import { CredentialsNotSetError } from '../../../lambda/partner/secret.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { noAssessments, serverError } from '../../scaffold/partner.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { on, resultOf } from './answers.ts';

const database = ledgersInDynamoDb();
const mail = 'odile.quillfeather@example.org';
const subscriptionOf = (endpoint: string): ExpectedSubscription => ({
  ...{ topic: 'operations', protocol: 'email', name: 'a subscriber by e-mail' },
  endpoint: endpointName('email', endpoint),
});
const ofConfiguration = { subscriptions: [subscriptionOf(mail)] };
const confirmed = { listed: [{ protocol: 'email', endpoint: mail, isConfirmed: true }] };
const none = { listed: [] };

let story: IntegrationWithPast;

beforeEach(async () => {
  story = new IntegrationWithPast(database);
  story.add(on('2026-11-20', 1), on('2026-11-20', 2));
  story.subscribersOf = async () => confirmed;
  await story.settle();
});

/** Runs the self-check as the schedule does. */
async function selfCheck(knowing: object = ofConfiguration) {
  const { checks } = await resultOf(story, 'check', { note: true, ...knowing });
  expect(JSON.stringify(story.carriedOut)).not.toContain('quillfeather');
  return checks;
}

/** Runs a tick. @returns its notices */
async function noticed() {
  const before = story.notices.length;
  await story.minute().catch(() => undefined);
  expect(JSON.stringify(story.notices)).not.toContain('quillfeather');
  return story.notices.slice(before).map(({ subject }) => subject.replace(`${story.name}: `, ''));
}

async function day(knowing?: object) {
  await selfCheck(knowing);
  return noticed();
}

const status = () => resultOf(story, 'status');

const fails = 'the daily self-check fails';
const passes = 'the daily self-check passes again';
const lost = 'operations, email: gone';
const topics = 'Nobody is subscribed to operations.';

describe('the memory of self-checks', () => {
  const last = (failed: SelfCheck['failed'], failures: number) => ({ at: 0, failed, failures });
  const many = Array.from({ length: 119 }, (_, index) => [`a[${index}]`, 'x'.repeat(50)]);
  const five = many.slice(0, 5).map(([name = '', text = '']) => [name, text.slice(0, 40)]);

  const [one, two] = [{ 'a[1]': 'x' }, { 'a[2]': 'x' }];
  const [all, first] = [Object.fromEntries(many), Object.fromEntries(five)];

  it.each<[string, SelfCheck | undefined, Tried['failed'], object]>([
    ['has the first failure', undefined, one, last(one, 1)],
    ['has it once', last({ 'a[1]': 'y' }, 1), one, last(one, 1)],
    ['has another in its place', last(one, 1), two, last(two, 2)],
    ['forgets them all once none is left', last(one, 3), {}, last({}, 0)],
    ['keeps what was not tried', last({ ...one, ab: 'y' }, 2), undefined, last(one, 2)],
    ['lists five in brief', undefined, all, last(first, 119)],
  ])('%s', (_, before, failed, after) => {
    const ab = { name: 'ab', failed: {} };
    expect(selfCheckAfter(before, [{ name: 'a', failed }, ab], 7)).toEqual({ ...after, at: 7 });
  });

  const hour = 3_600_000;
  const late = 'no self-check has come to its end since 1970-01-01T00:00Z';

  it.each<[string, SelfCheck | undefined, number | undefined, number, object]>([
    ['before the first tick', undefined, undefined, 99, {}],
    ['for two hours after a day without any', undefined, 0, 25, { number: 0, details: [] }],
    ['after that', undefined, 0, 26, { number: 1, details: [late] }],
    ['of failures', last({ a: 'x' }, 2), -9 * hour, 25, { number: 2, details: ['a: x'] }],
    ['of both', last({ a: 'x' }, 2), 9, 26, { number: 3, details: [late, 'a: x'] }],
  ])('is told %s', (_, before, begunAt, hours, seen) => {
    const expected = Object.keys(seen).length === 0 ? {} : { 'check-failed': seen };
    expect(selfCheckSeen(before, begunAt, hours * hour)).toEqual(expected);
  });
});

describe('a self-check', () => {
  it('that fails is told once, and once more when the failure is repaired', async () => {
    expect(await day()).toEqual([]);
    expect(await status()).toMatchObject({ state: 'up-to-date', selfCheck: { failed: {} } });
    story.subscribersOf = async () => none;
    expect(await day()).toEqual([fails]);
    const [notice] = story.notices.slice(-1);
    expect(notice?.text).toContain(`  subscriptions[0]: ${lost}`);
    expect(notice?.text).toContain('check --note --stack');
    expect(await status()).toMatchObject({
      state: 'check-failed',
      selfCheck: { failed: { 'subscriptions[0]': lost } },
    });
    story.clock.advance({ hours: 24 });
    expect(await day()).toEqual([]);
    story.subscribersOf = async () => confirmed;
    expect(await day()).toEqual([passes]);
    expect(await status()).toMatchObject({ state: 'up-to-date' });
  });

  it('notes neither failures that ticks tell of, nor those that may be over', async () => {
    story.host.fault = noAssessments;
    expect(await noticed()).toEqual([expect.stringContaining('the partner has assigned no scope')]);
    story.clock.advance({ hours: 2 });
    story.subscribersOf = () => Promise.reject(new TypeError('odd'));
    story.topics = [{ topic: 'operations', confirmed: 0, pending: 0 }];
    await selfCheck();
    expect((await status()).selfCheck?.failed).toEqual({ topics });
  });

  it.each([serverError, { status: 403 }])(
    'counts an id that cannot be asked for: $status',
    async (fault) => {
      story.host.onGet = () => fault;
      expect(await day()).toEqual([fails]);
      const failed = { 'single-record': expect.stringContaining('single-record') };
      expect((await status()).selfCheck).toMatchObject({ failed });
    },
  );

  it('does not take back failures that it cannot try', async () => {
    story.subscribersOf = async () => none;
    story.host.singleRecordsBroken = true;
    expect(await day()).toEqual([fails]);
    story.subscribersOf = async () => ({ problem: 'Throttling', listed: [] });
    story.credentialsFailure = new CredentialsNotSetError('secret');
    await selfCheck();
    expect((await status()).selfCheck?.failed).toEqual({
      'subscriptions[0]': lost,
      'single-record': expect.stringContaining('A record of the list'),
      secret: expect.any(String),
    });
  });

  it('of an integration without the topics leaves them to the one that has them', async () => {
    story.topics = [{ topic: 'operations', confirmed: 0, pending: 0 }];
    expect(await day({})).toEqual([]);
    expect(await day()).toEqual([fails]);
    expect((await status()).selfCheck?.failed).toEqual({ topics });
  });

  const until = Temporal.Instant.from('2026-11-21T09:00:00Z');

  it.each([
    ['a pause', { paused: true }],
    ['a back-off', { backOff: { until, failures: 3 } }],
  ])('is told during %s, and then sends the partner no request', async (_, changes) => {
    await story.ledger.saveState(changes);
    story.subscribersOf = async () => none;
    story.requests.length = 0;
    const checks = await selfCheck();
    expect(checks.find(({ name }) => name === 'token')?.found).toContain('left alone');
    expect(await noticed()).toContainEqual(fails);
    expect(story.requests).toEqual([]);
  });

  it('that stops is told within two hours after a day, also during a pause', async () => {
    await story.operate({ command: 'pause', reason: 'the partner is moving' });
    story.clock.advance({ hours: 27 });
    expect(await noticed()).toContainEqual(fails);
  });

  it('before the very first tick, or by hand, is not noted', async () => {
    story.subscribersOf = async () => none;
    await story.operate({ command: 'check', ...ofConfiguration });
    expect((await status()).selfCheck).toBeUndefined();
    story = new IntegrationWithPast(database);
    story.subscribersOf = async () => none;
    expect(await selfCheck()).toHaveLength(11);
    expect(await story.items()).toEqual([]);
    expect(story.warnings).toContain('self-check failed');
  });

  it('leaves a quiet tick one request, one read unit and one write unit, with any number of failures', async () => {
    const subscriptions = Array.from({ length: 118 }, (_, n) => subscriptionOf(`${n}@example.org`));
    story.host.singleRecordsBroken = true;
    expect(await day({ subscriptions })).toEqual([fails]);
    expect(story.notices.at(-1)?.text).toContain('Failures since it passed last: 119');
    story.requests.length = 0;
    expect(await database.unitsOf(() => story.tick())).toEqual([1, 1]);
    expect(story.requests).toEqual(['pulse']);
  });
});
