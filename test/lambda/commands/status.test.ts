import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { AccessDeniedError } from '../../../lambda/access-denied.ts';
import { progressOf } from '../../../lambda/commands/status.ts';
import type { ConditionName } from '../../../lambda/decisions/conditions.ts';
import type { State, StateChanges } from '../../../lambda/decisions/state.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import { CredentialsNotSetError, SecretGoneError } from '../../../lambda/partner/secret.ts';
import type { Announcer } from '../../../lambda/ports/announcer.ts';
import type { Ledger } from '../../../lambda/ports/ledger.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { type MemoryPartner, serverError, tooManyRequests } from '../../scaffold/partner.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { on, resultOf, resultsOf } from './answers.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

const status = (more = {}) => resultOf(story, 'status', more);

const opened = { since: 0, number: 1, told: { at: 0, number: 1 } } as const;
const open = (...names: ConditionName[]) => ({
  conditions: new Map(names.map((name) => [name, opened])),
});
const pause = { command: 'pause', reason: 'the partner moves', by: 'arn:aws:iam::1:x' };
const inMinutes = (minutes: number) =>
  Temporal.Instant.from('2026-11-21T08:00:00Z').add({ minutes });

describe('the status', () => {
  it.each<[string, Error | undefined, string[]]>([
    ['that there was none', undefined, ['never-ticked']],
    [
      'that nobody has stored credentials',
      new CredentialsNotSetError('x'),
      ['credentials-not-set'],
    ],
    ['that the secret is gone', new SecretGoneError('x', {}), ['secret-gone']],
    ['what it knows of a defect', new TypeError('odd'), ['never-ticked', 'not-asked']],
  ])(
    'before the very first tick says %s, and leaves the ledger empty',
    async (_, failure, reasons) => {
      story = new IntegrationWithPast(database);
      story.credentialsFailure = failure;
      expect(await status()).toMatchObject({ reasons, baseline: { status: 'none' } });
      expect(await story.items()).toEqual([]);
    },
  );

  it('of an up-to-date integration has the last tick and both totals, and changes nothing', async () => {
    story = new IntegrationWithPast(database);
    story.world = [on('2026-11-20', 1), on('2019-04-03', 2)];
    await story.settle();
    const before = await story.items();
    story.clock.advance({ seconds: 20 });
    expect(await status({ history: true })).toMatchObject({
      ...{ at: '2026-11-21T08:00:20Z', lastTick: '2026-11-21T08:00:00Z', busy: false },
      ...{ state: 'up-to-date', reasons: [], unexplained: 0, conditions: [] },
      ...{ certifications: 2, partner: { count: 2 } },
      baseline: { status: 'completed', counted: 2 },
      oldestProof: { day: '2019-04-03', at: '2026-11-21T08:00:00Z' },
      unproven: { days: 0, first: [] },
      waiting: { pending: 0, digest: 0, held: 0, undeliverable: 0 },
      settings: { integration: story.name, timeZone: 'UTC' },
      detection: { newest: 1, news: 1, withdrawn: 12, editedRecent: 16, editedHistory: 26 },
    });
    expect(await story.items()).toEqual(before);
  });

  const baseline = { status: 'running', startDay: Temporal.PlainDate.from('2026-11-21') } as const;
  const denial = { at: '2026-11-21T08:00:00Z', what: 'It is denied.', whatToDo: 'Allow it.' };
  const missing = { total: 35, notes: [], withdrawn: [], accepted: 0 };
  const backOff = { until: inMinutes(8), failures: 3 };
  const told = { backingOff: { until: '2026-11-21T08:08:00Z', failures: 3 } };
  const isPaused = { paused: true, pause: { since: inMinutes(-5), by: 'odile', reason: 'x' } };
  const since = { paused: { since: '2026-11-21T07:55:00Z', by: 'odile', reason: 'x' } };
  const ended = new Map([['unproven', { ...opened, owes: 'ends' }]] as const);
  const late = { heartbeat: '2026-11-21T07:56:59Z' };
  const unticked = { heartbeat: undefined, baseline: { status: 'none' } } as const;

  it.each<[string, StateChanges, string[], object]>([
    ['no completed tick', unticked, ['never-ticked'], {}],
    ['a pause', { ...isPaused, ...late }, ['paused'], since],
    ['a back-off', { backOff }, ['backing-off'], told],
    ['one that is over', { backOff: { ...backOff, until: inMinutes(0) } }, [], {}],
    ['a running baseline', { baseline }, ['baseline'], { baseline: { status: 'running' } }],
    ['one without progress', { baseline, ...late }, ['baseline', 'behind'], {}],
    ['its first tick', { baseline, heartbeat: undefined }, ['baseline'], {}],
    ['a tick of three minutes ago', { heartbeat: '2026-11-21T07:57:00Z' }, [], {}],
    ['an older one', late, ['behind'], { lastTick: late.heartbeat }],
    ['a denial by AWS', { denial }, ['denied'], { denial }],
    ['a change left to find', { pulseDigest: undefined }, ['unfinished'], {}],
    ['one left by a baseline', { baseline, pulseDigest: undefined }, ['baseline'], {}],
    ['a difference', { unexplained: 2 }, ['differs'], { unexplained: 2 }],
    ['one of a running baseline', { baseline, unexplained: 2 }, ['baseline'], {}],
    ['few missing', { missing }, [], { missing: { number: 35, isTooMany: false } }],
    ['too many', { missing: { ...missing, tooManySince: 0 } }, ['missing'], {}],
    ['a condition', open('unproven'), ['unproven'], { conditions: [{ name: 'unproven' }] }],
    ['one that is over', { conditions: ended }, [], { conditions: [] }],
    ['odd fields', open('odd-fields'), [], { conditions: [{ name: 'odd-fields' }] }],
    ['odd numbers', open('odd-numbers'), [], { conditions: [{ name: 'odd-numbers' }] }],
    ['a decided flood', open('held'), [], { conditions: [] }],
    ['an ended pause', open('paused'), [], { conditions: [] }],
    ['a lease', { leaseOwner: 'a tick', leaseUntil: inMinutes(1) }, [], { busy: true }],
    ['an ended lease', { leaseOwner: 'a tick', leaseUntil: inMinutes(-1) }, [], { busy: false }],
  ])('is explained by the recorded state: %s', async (_, changes, reasons, more) => {
    await story.settle();
    await story.ledger.saveState(changes);
    expect(await status({ partner: false })).toMatchObject({ reasons, ...more });
    expect(story.requests).toEqual([]);
  });

  const problem = (code: string) => ({ problem: { code } });
  const whatToDo = expect.stringContaining('ask the partner why the host is slow');
  const tooSlow = { code: 'out-of-time', whatToDo };

  it.each<[string, StateChanges, Partial<MemoryPartner>, string[], object]>([
    ['a total that agrees again', { unexplained: 2 }, {}, [], { count: 0 }],
    ['another total', { unexplained: 2 }, { count: () => 2 }, ['differs'], { count: 2 }],
    ['news for the next tick', {}, { count: () => 2 }, [], { count: 2 }],
    ['news for late ticks', late, { count: () => 2 }, ['behind', 'differs'], { count: 2 }],
    ['no answer', {}, { fault: serverError }, ['partner-silent'], problem('unavailable')],
    ['refusals for pace', {}, { fault: tooManyRequests(2) }, [], problem('rate-limited')],
    ['a slow one', {}, { answerMs: 100_000 }, ['partner-silent'], { problem: tooSlow }],
    ['a back-off', { backOff }, {}, ['backing-off'], problem('backing-off')],
    ['a pause', isPaused, {}, ['paused'], problem('paused')],
  ])("is explained by the partner's total: %s", async (_, changes, host, reasons, partner) => {
    await story.settle();
    await story.ledger.saveState(changes);
    Object.assign(story.host, host);
    expect(await status()).toMatchObject({ reasons, partner });
    expect(story.requests).toEqual('backOff' in changes || 'paused' in changes ? [] : ['count']);
  });

  const denied = new AccessDeniedError({ action: 'a:B', resource: 'c' }, '(d)', {});
  const deny = () => Promise.reject(denied);
  const refused = async (owed: readonly OwedEvent[]) => ({
    accepted: [],
    refused: owed.map((one) => ({ owed: one, code: 'd' })),
    denial: denied,
  });
  const mute = async () => ({ accepted: false, code: 'd', denial: denied }) as const;

  it.each<[string, Partial<Ledger>, Partial<Announcer>]>([
    ['the table to a commit', { commit: deny }, {}],
    ['the table to a tick that fails of it', { known: deny }, {}],
    ['the topic to an event', {}, { publish: refused }],
    ['the topic of operations to a notice', {}, { notify: mute }],
  ])('has the denial of %s, until a tick meets none', async (_, ledger, announcer) => {
    story.world = [on('2026-11-20', 1)];
    await story.settle();
    await story.ledger.saveState(open('credentials-refused'));
    story.host.edit(1, { email: 'changed@example.org' });
    story.clock.advance({ minutes: 1 });
    const denying = { ...story.subscribers, ...announcer };
    const parts = { ledger: story.ledgerWith(ledger), announcer: denying };
    await story.tick(parts).catch((error: unknown) => expect(error).toBe(denied));
    const { message: what, whatToDo } = denied;
    expect((await status()).denial).toEqual({ at: '2026-11-21T08:01:00Z', what, whatToDo });
    story.clock.advance({ minutes: 1 });
    await story.tick();
    expect(await status()).not.toHaveProperty('denial');
  });

  const all = { backOff, ...isPaused, ...open('credentials-refused', 'held') };
  const since1970 = { since: '1970-01-01T00:00:00Z', toldAt: '1970-01-01T00:00:00Z' };
  const one = { name: 'held', number: 1, ...since1970 };

  it.each<[object, StateChanges, string[], object[]]>([
    [{ pending: 1, held: 2 }, open('held'), ['held', 'owing'], [{ ...one, number: 2 }]],
    [{ undeliverable: 1 }, open('held'), ['undeliverable'], []],
    // The index has a held event under the digest that its item owes as well.
    [{ digest: 1 }, open('held'), ['held'], [one]],
    [{ digest: 1, pending: 1 }, open('held'), ['owing'], []],
    [
      { held: 1, pending: 1 },
      all,
      ['paused', 'backing-off', 'credentials-refused', 'held', 'owing'],
      [{ ...one, name: 'credentials-refused' }, one],
    ],
  ])('is explained by the events that wait: %j', async (some, changes, reasons, conditions) => {
    await story.settle();
    await story.ledger.saveState(changes);
    const waiting = { pending: 0, digest: 0, held: 0, undeliverable: 0, ...some };
    story.opsLedger.waiting = async () => waiting;
    const found = await status({ partner: false });
    expect(found).toMatchObject({ state: reasons[0], reasons, waiting });
    expect(found.conditions).toEqual(conditions);
  });

  const before = Temporal.PlainDate.from('2020-01-01');

  it.each<[string, Partial<State['baseline']> | undefined, object]>([
    ['no state', undefined, { status: 'none', counted: 0 }],
    ['a completed one', { status: 'completed' }, { status: 'completed', counted: 7 }],
    ['one under way', { begunAt: 2, before }, { before: '2020-01-01', counted: 5 }],
    ['one that has not begun', {}, { counted: 0 }],
  ])('has the progress of a baseline: %s', (_, position, progress) => {
    const state = position && { baseline: { ...baseline, ...position } };
    const calendar = new Map(
      [-1, 3, 1, 4].map((count, index) => [`2020-01-0${index + 1}`, { count, readAt: index }]),
    );
    expect(progressOf(state, calendar)).toEqual({ status: 'running', ...progress });
  });
});

describe('the activity', () => {
  it('has the last ticks and hours, newest first, beside the changes of the day', async () => {
    await story.settle();
    story.settings = { holdAbove: 3 };
    for (let id = 1; id <= 40; id += 1) story.add(on('2026-11-20', id));
    story.clock.advance({ minutes: 1 });
    await story.tick();
    story.host.fault = serverError;
    story.clock.advance({ minutes: 59 });
    await story.minutes(1);
    const { activity: { ticks = [], hours = [] } = {}, today } = await status({ activity: true });
    const flood = { found: 40, held: 40 };
    const none = { requests: 1, found: 0, held: 0, failed: 0 };
    expect(ticks.slice(0, 3)).toEqual([
      { ...none, at: '2026-11-21T09:00:00Z', failed: 1 },
      { ...none, at: '2026-11-21T08:01:00Z', ...flood },
      { ...none, at: '2026-11-21T08:00:00Z' },
    ]);
    expect(hours).toEqual([
      { ...none, at: '2026-11-21T09:00:00Z', failed: 1 },
      { ...none, at: '2026-11-21T08:00:00Z', ...flood, requests: 8 },
    ]);
    expect(today).toMatchObject({ day: '2026-11-21', created: 40 });
    story.clock.advance({ hours: 24 });
    expect((await status()).today).toMatchObject({ day: '2026-11-22', created: 0 });
  });

  it('is there only on request, and empty before the first tick', async () => {
    expect(await status()).not.toHaveProperty('activity');
    expect((await status({ activity: true })).activity).toEqual({ ticks: [], hours: [] });
  });
});

describe('the history of commands', () => {
  const { by } = pause;
  const history = async () => (await status({ history: true })).history ?? [];

  it('has each command that has changed something: caller, time, settings and outcome', async () => {
    await story.operate({ command: 'restart-baseline' });
    await story.settle();
    story.clock.advance({ minutes: 1 });
    await story.operate(pause);
    const ids = Array.from({ length: 30 }, (_, index) => index + 1);
    story.clock.advance({ minutes: 1 });
    await story.operate({ command: 'discard', ids });
    for (const reading of ['status', 'holds', 'baseline', 'check'])
      await story.operate({ command: reading });
    await story.operate({ command: 'explain', id: 1 });
    await story.operate({ command: 'prove', from: '2026-11-01', to: '2026-11-02' });
    await story.operate({ command: 'replay', ids: [1], dryRun: true });
    const listed = [...ids.slice(0, 20), 'and 10 more'];
    expect(await history()).toMatchObject([
      { command: 'discard', settings: { ids: listed }, outcome: { ok: true, changed: false } },
      {
        ...{ command: 'pause', by, at: '2026-11-21T08:01:00.000Z' },
        ...{ settings: { reason: pause.reason }, outcome: { ok: true, changed: true } },
      },
      { command: 'restart-baseline', outcome: { ok: false, code: 'nothing-recorded' } },
    ]);
    expect(await status()).not.toHaveProperty('history');
  });

  it.each<[string, object, boolean]>([
    ['a pause of a paused integration', { command: 'pause', reason: 'again' }, false],
    ['a discard', { command: 'discard', ids: [2] }, true],
    ['a replay', { command: 'replay', ids: [1] }, true],
    ['a tick during a pause', { command: 'tick' }, false],
    ['credentials without a waiting tick', { command: 'credentials-stored' }, true],
    ['credentials to be stored', { command: 'credentials-stored', stored: false }, false],
  ])('says whether %s has changed anything', async (_, command, changed) => {
    await story.settle();
    await story.show(on('2026-11-20', 1));
    await story.commit([on('2026-11-20', 2)], 'held');
    await story.operate(pause);
    story.clock.advance({ minutes: 1 });
    await story.operate(command);
    const newest = { at: '2026-11-21T08:01:00.000Z', outcome: { ok: true, changed } };
    expect((await history())[0]).toMatchObject(newest);
  });

  it('has a command of several calls once, with the outcome of the last', async () => {
    await story.settle();
    for (let id = 1; id <= 5; id += 1) await story.show(on('2026-11-20', id));
    await resultsOf(story, 'replay', { days: {}, eventsPerSecond: 1 }, 11);
    // The last call had nothing left to send. The ones before had.
    const outcome = { at: '2026-11-21T08:00:05Z', changed: true };
    const replay = { command: 'replay', at: '2026-11-21T08:00:00.000Z', outcome };
    expect(await history()).toMatchObject([replay]);
  });

  it('has a separate entry for a command that claims to continue an unknown or different one', async () => {
    await story.settle();
    await story.operate({ command: 'discard', ids: [1], by });
    const operation = (await history())[0]?.operation;
    for (const command of [
      { command: 'discard', ids: [1], operation: 'made-up' },
      { command: 'discard', ids: [2], by, operation },
      { command: 'discard', ids: [1], operation },
      { command: 'release', ids: [1], by, operation },
      { command: 'discard', ids: [1], by, operation, after: 'held/2026-11-21/1' },
    ]) {
      story.clock.advance({ minutes: 1 });
      await story.operate(command);
    }
    const all = await history();
    expect(
      all.map(({ command, at, settings }) => `${command} ${settings.ids} ${at.slice(11, 16)}`),
    ).toEqual([
      ...['release 1 08:04', 'discard 1 08:03', 'discard 2 08:02', 'discard 1 08:01'],
      'discard 1 08:00',
    ]);
    expect(all.at(-1)?.outcome?.at).toBe('2026-11-21T08:05:00Z');
    expect(all.map((one) => one.operation)).not.toContain('made-up');
  });
});
