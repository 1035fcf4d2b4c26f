import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { AccessDeniedError } from '../../../lambda/access-denied.ts';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { contract } from '../../../lambda/operations/contract.ts';
import type { Announcer } from '../../../lambda/ports/announcer.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { isOfDays, serverError } from '../../scaffold/partner.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

const on = (certified_on: string, id: number, more = {}) =>
  assessment({ id, certified_on, ...more });

async function status(more = {}) {
  const answer = await story.operate({ command: 'status', ...more });
  expect(answer).toMatchObject({ ok: true });
  return z.strictObject(contract.status.result.shape).parse(answer.result);
}

describe('the status', () => {
  it('before the very first tick says that there was none, and leaves the ledger empty', async () => {
    story = new IntegrationWithPast(database);
    expect(await status()).toMatchObject({
      state: 'never-ticked',
      baseline: { status: 'none', counted: 0 },
      certifications: 0,
    });
    expect(await story.items()).toEqual([]);
  });

  it('of an up-to-date integration has the last tick, the next one, and both totals', async () => {
    story.world = [on('2026-11-20', 1), on('2019-04-03', 2)];
    await story.settle();
    story.clock.advance({ seconds: 20 });
    expect(await status()).toMatchObject({
      at: '2026-11-21T08:00:20Z',
      state: 'up-to-date',
      reasons: [],
      busy: false,
      lastTick: '2026-11-21T08:00:00Z',
      certifications: 2,
      partner: { count: 2 },
      unexplained: 0,
      baseline: { status: 'completed', counted: 2 },
      oldestProof: { day: '2019-04-03', at: '2026-11-21T08:00:00Z' },
      unproven: { days: 0, first: [] },
      waiting: { pending: 0, digest: 0, held: 0, undeliverable: 0 },
      conditions: [],
      settings: { integration: story.name, timeZone: 'UTC' },
    });
  });

  it('changes nothing', async () => {
    story = new IntegrationWithPast(database);
    story.world = [on('2026-11-20', 1)];
    await story.settle();
    const before = await story.items();
    await status({ history: true });
    expect(await story.items()).toEqual(before);
  });

  it('counts the changes of the day, and begins again the next day', async () => {
    await story.settle();
    story.world = [on('2026-11-21', 1), on('2026-11-21', 2)];
    await story.tick();
    story.host.edit(1, { email: 'b@example.org' });
    await story.tick();
    expect((await status()).today).toEqual({
      day: '2026-11-21',
      created: 2,
      updated: 1,
      withdrawn: 0,
      restored: 0,
    });
    story.clock.advance({ hours: 24 });
    expect((await status()).today).toMatchObject({ day: '2026-11-22', created: 0 });
    story.add(on('2026-11-22', 3));
    await story.tick();
    expect((await status()).today).toMatchObject({ day: '2026-11-22', created: 1, updated: 0 });
  });

  it('of a paused integration has the person, the time and the reason', async () => {
    await story.settle();
    await story.operate({ command: 'pause', reason: 'the partner moves', by: 'arn:aws:iam::1:x' });
    story.requests.length = 0;
    const paused = await status();
    expect(paused).toMatchObject({
      state: 'paused',
      paused: {
        since: '2026-11-21T08:00:00Z',
        by: 'arn:aws:iam::1:x',
        reason: 'the partner moves',
      },
      reasons: ['paused'],
      partner: { problem: { code: 'paused' } },
    });
    expect(story.requests).toEqual([]);
  });

  it('of a long pause is not "behind", since no ticks are expected', async () => {
    await story.settle();
    await story.operate({ command: 'pause', reason: 'the partner moves' });
    story.clock.advance({ minutes: 60 });
    await story.tick();
    expect(await status()).toMatchObject({ reasons: ['paused'] });
  });

  it('of an integration that the partner has refused has the end of the back-off', async () => {
    await story.settle();
    const until = story.clock.now().add({ minutes: 8 });
    await story.ledger.saveState({ backOff: { until, failures: 3 } });
    expect(await status()).toMatchObject({
      state: 'backing-off',
      reasons: ['backing-off'],
      backingOff: { until: until.toString(), failures: 3 },
      partner: { problem: { code: 'backing-off' } },
    });
    expect(story.requests).toEqual([]);
    story.clock.advance({ minutes: 8 });
    expect(await status()).not.toHaveProperty('backingOff');
  });

  it('of an integration whose ticks do not complete is "behind"', async () => {
    await story.settle();
    story.clock.advance({ minutes: 3 });
    expect(await status()).toMatchObject({ state: 'up-to-date' });
    story.clock.advance({ seconds: 1 });
    expect(await status()).toMatchObject({ state: 'behind', reasons: ['behind'] });
  });

  it('is not up to date while the partner does not answer', async () => {
    await story.settle();
    story.host.fault = serverError;
    expect(await status()).toMatchObject({
      state: 'partner-silent',
      partner: { problem: { code: 'unavailable' } },
    });
    story.host.fault = undefined;
    expect(await status()).toMatchObject({ state: 'up-to-date' });
  });

  it('advises about a partner that is too slow for a command', async () => {
    await story.settle();
    story.requestSeconds = 100;
    expect(await status()).toMatchObject({
      partner: {
        problem: {
          code: 'out-of-time',
          whatToDo: expect.stringContaining('ask the partner why the host is slow'),
        },
      },
    });
  });

  it('is up to date as of the last tick, and leaves later changes to the next one', async () => {
    await story.settle();
    story.add(on('2026-11-21', 1));
    story.clock.advance({ minutes: 3 });
    expect(await status()).toMatchObject({
      state: 'up-to-date',
      reasons: [],
      certifications: 0,
      partner: { count: 1 },
    });
    story.clock.advance({ seconds: 1 });
    expect(await status()).toMatchObject({ reasons: ['behind', 'differs'] });
    await story.tick();
    expect(await status()).toMatchObject({ state: 'up-to-date', certifications: 1 });
  });

  it("is not up to date while the last tick has not found all of the total's difference", async () => {
    story.world = [on('2026-11-20', 1), on('2026-10-01', 2)];
    await story.settle();
    // They are more than a page, so they have to be located, and a tick has no time for that.
    for (let id = 1_000; id < 1_250; id += 1)
      story.add(on(id % 2 === 0 ? '2026-10-01' : '2026-10-02', id));
    story.requestSeconds = 15;
    const { outcome, created } = await story.tick();
    expect(outcome).toBe('completed');
    expect(created).toBeLessThan(250);
    story.requestSeconds = 0;
    expect(await status()).toMatchObject({ reasons: ['unfinished'] });
    expect(await status({ partner: false })).toMatchObject({
      reasons: ['unfinished'],
      unexplained: 0,
    });
    await story.tick();
    expect(await status()).toMatchObject({ state: 'up-to-date', certifications: 252 });
  });

  it('is not up to date while an edit cannot be committed, though no total shows it', async () => {
    story.world = [on('2026-11-20', 1), on('2019-04-03', 2)];
    await story.settle();
    story.host.edit(1, { email: 'changed@example.org' });
    const { commit } = story.ledger;
    story.ledger.commit = async () => {
      throw new LedgerUnavailableError('UpdateItem', { cause: new Error('throttled') });
    };
    for (let ticks = 0; ticks < 5; ticks += 1) {
      story.clock.advance({ minutes: 1 });
      expect(await story.tick()).toMatchObject({ failed: 1 });
      expect(await status()).toMatchObject({ reasons: ['unfinished'], partner: { count: 2 } });
      expect(await status({ partner: false })).toMatchObject({ reasons: ['unfinished'] });
    }
    story.ledger.commit = commit;
    await story.tick();
    expect(await status()).toMatchObject({ state: 'up-to-date' });
  });

  it('has the denial that a tick met, until a tick meets none', async () => {
    story.world = [on('2026-11-20', 1)];
    await story.settle();
    const denial = new AccessDeniedError(
      { action: 'dynamodb:UpdateItem', resource: 'the table' },
      '(AccessDeniedException, request 0b3a1c52)',
      {},
    );
    const { message: what, whatToDo } = denial;
    const deny = () => Promise.reject(denial);
    const { commit, known } = story.ledger;
    story.host.edit(1, { email: 'changed@example.org' });
    for (const denied of [{ commit: deny }, { known: deny }, {}]) {
      Object.assign(story.ledger, { commit, known }, denied);
      story.clock.advance({ minutes: 1 });
      await story.tick().catch((error: unknown) => expect(error).toBe(denial));
      const at = story.clock.now().toString();
      const told = Object.keys(denied).length > 0 ? { at, what, whatToDo } : undefined;
      expect((await status()).denial).toEqual(told);
    }
  });

  it('has a denial by SNS, with which a tick completes all the same', async () => {
    story.world = [on('2026-11-20', 1)];
    await story.settle();
    story.host.edit(1, { email: 'changed@example.org' });
    const asked = { action: 'kms:Decrypt', resource: 'the key of the topic' };
    const denial = new AccessDeniedError(asked, '(KMSAccessDenied)', {});
    const { subscribers } = story;
    const announcer: Announcer = {
      tellPeople: (...events) => subscribers.tellPeople(...events),
      notify: (...notice) => subscribers.notify(...notice),
      publish: async (owed) => {
        const refused = owed.map((one) => ({ owed: one, code: 'KMSAccessDenied' }));
        return { accepted: [], refused, stopped: 'KMSAccessDenied', denial };
      },
    };
    story.clock.advance({ minutes: 1 });
    expect(await story.tick({ announcer })).toMatchObject({ outcome: 'completed', undelivered: 1 });
    const { message: what, whatToDo } = denial;
    expect((await status()).denial).toMatchObject({ what, whatToDo });
    await story.settle();
    expect((await status()).denial).toBeUndefined();
  });

  it('has a denial by the topic of operations, also for a quiet tick', async () => {
    story.world = [on('2026-11-20', 1)];
    await story.settle();
    const asked = { action: 'sns:Publish', resource: 'the topic of operations' };
    const denial = new AccessDeniedError(asked, '(AuthorizationErrorException)', {});
    const refused = { accepted: false, code: 'AuthorizationErrorException', denial } as const;
    const announcer: Announcer = { ...story.subscribers, notify: async () => refused };
    const condition = { since: 0, number: 1, told: { at: 0, number: 1 } };
    await story.ledger.saveState({ conditions: new Map([['credentials-refused', condition]]) });
    story.clock.advance({ minutes: 1 });
    await story.tick({ announcer });
    const { message: what, whatToDo } = denial;
    const reasons = ['denied'];
    expect(await status()).toMatchObject({ denial: { what, whatToDo }, reasons });
    story.clock.advance({ minutes: 1 });
    await story.tick();
    const after = await status();
    expect(after).toMatchObject({ state: 'up-to-date' });
    expect(after.denial).toBeUndefined();
  });

  it('is not up to date while a difference is unexplained, also without a request to the partner', async () => {
    story.world = [on('2026-11-20', 1)];
    await story.settle();
    // The total has two without a day, which are in no range.
    story.host.count = (right, { filter }) => (isOfDays(filter) ? right : right + 2);
    story.clock.advance({ minutes: 1 });
    expect(await story.tick()).toMatchObject({ unexplained: 2 });
    expect(await status({ partner: false })).toMatchObject({ state: 'differs', unexplained: 2 });
  });

  it('is not up to date while events are held, and has their present number', async () => {
    await story.settle();
    for (let id = 1; id <= 501; id += 1) story.add(on('2026-11-20', id));
    await story.tick();
    expect(await status()).toMatchObject({
      state: 'held',
      reasons: ['held'],
      conditions: [{ name: 'held', number: 501 }],
    });
    await story.operate({ command: 'discard', ids: [1, 2, 3] });
    expect(await status()).toMatchObject({ conditions: [{ name: 'held', number: 498 }] });
    await story.operate({ command: 'discard' });
    expect(await status()).toMatchObject({ state: 'up-to-date', conditions: [] });
  });

  it('is not up to date while all held events wait behind ones without their mail', async () => {
    await story.settle();
    const hold = { since: 0, number: 1, told: { at: 0, number: 1 } };
    await story.ledger.saveState({ conditions: new Map([['held', hold]]) });
    await story.ledger.settle(await story.commit([on('2026-11-20', 1)]), 'digest');
    await story.commit([on('2026-11-20', 1, { name: 'Odalys Ashgrove' })], 'held');
    expect(await status()).toMatchObject({
      state: 'held',
      waiting: { digest: 1, held: 0 },
      conditions: [{ name: 'held', number: 1 }],
    });
    await story.operate({ command: 'discard' });
    // The index alone cannot show it. The next tick can.
    await story.tick();
    expect(await status()).toMatchObject({ conditions: [] });
  });

  it('does not search all pending events for held ones behind them', async () => {
    await story.settle();
    const hold = { since: 0, number: 1, told: { at: 0, number: 1 } };
    await story.ledger.saveState({ conditions: new Map([['held', hold]]) });
    await story.ledger.settle(await story.commit([on('2026-11-20', 1)]), 'digest');
    await story.commit([on('2026-11-20', 2)]);
    const listed = vi.spyOn(story.ledger, 'waitingForOps');
    expect(await status()).toMatchObject({
      reasons: ['owing'],
      waiting: { pending: 1, digest: 1, held: 0 },
      conditions: [],
    });
    expect(listed).not.toHaveBeenCalled();
  });

  it('has all reasons, the gravest first', async () => {
    await story.settle();
    await story.commit([on('2026-11-20', 1)]);
    await story.commit([on('2026-11-20', 2)], 'held');
    await story.ledger.saveState({
      conditions: new Map([
        ['credentials-refused', { since: 0, number: 1, owes: 'begins' }],
        ['unproven', { since: 0, number: 1, told: { at: 0, number: 1 }, owes: 'ends' }],
      ]),
    });
    await story.ledger.saveState({
      backOff: { until: story.clock.now().add({ minutes: 8 }), failures: 3 },
    });
    story.clock.advance({ minutes: 5 });
    await story.operate({ command: 'pause', reason: 'a reason' });
    const { state, reasons, conditions } = await status();
    expect(state).toBe('paused');
    expect(reasons).toEqual(['paused', 'backing-off', 'credentials-refused', 'held', 'owing']);
    expect(conditions.map(({ name }) => name)).toEqual(['credentials-refused']);
  });

  it('does not call a resumed integration paused before its next tick', async () => {
    await story.settle();
    await story.operate({ command: 'pause', reason: 'the partner moves' });
    story.clock.advance({ hours: 25 });
    await story.tick();
    expect(await status()).toMatchObject({ state: 'paused', conditions: [{ name: 'paused' }] });
    await story.operate({ command: 'resume' });
    expect(await status()).toMatchObject({ reasons: ['behind'], conditions: [] });
    await story.tick();
    expect(await status()).toMatchObject({ state: 'up-to-date' });
  });

  it('of a baseline without progress is "behind", too', async () => {
    story.world = [on('2026-11-20', 1), on('2019-04-03', 2)];
    story.requestSeconds = 17;
    await story.tick();
    story.requestSeconds = 0;
    story.clock.advance({ minutes: 4 });
    expect(await status()).toMatchObject({ reasons: ['baseline', 'behind'] });
  });

  it('of a running baseline is "baseline"', async () => {
    story.world = [on('2026-11-20', 1), on('2019-04-03', 2)];
    story.requestSeconds = 17;
    await story.tick();
    story.requestSeconds = 0;
    expect(await status()).toMatchObject({
      state: 'baseline',
      baseline: { status: 'running' },
    });
  });

  it('says that a tick is at work', async () => {
    await story.settle();
    const until = story.clock.now().add({ minutes: 1 });
    await story.ledger.takeLease({ owner: 'a tick', until }, story.clock.now());
    expect(await status()).toMatchObject({ busy: true });
    story.clock.advance({ minutes: 2 });
    expect(await status()).toMatchObject({ busy: false });
  });

  it('counts waiting events by their place', async () => {
    await story.settle();
    await story.commit([on('2026-11-20', 1)]);
    await story.commit([on('2026-11-20', 2)], 'held');
    expect(await status()).toMatchObject({
      state: 'held',
      reasons: ['held', 'owing'],
      waiting: { pending: 1, digest: 0, held: 1, undeliverable: 0 },
    });
  });

  it('names unproven days, and the conditions told to ops', async () => {
    story.world = [on('2026-11-20', 1), on('2026-10-01', 2)];
    await story.settle();
    await story.passSelfChecks();
    story.host.hidden.add(2);
    for (let days = 0; days < 2; days += 1) {
      story.clock.advance({ hours: 25 });
      // First, it is read together with others.
      for (let ticks = 0; ticks < 5; ticks += 1) {
        await story.tick();
        story.clock.advance({ minutes: 1 });
      }
    }
    const { unproven, conditions } = await status();
    expect(unproven.first).toContain('2026-10-01');
    expect(conditions).toMatchObject([{ name: 'unproven' }]);
  });

  it('sends the partner no request if told so', async () => {
    await story.settle();
    expect(await status({ partner: false })).not.toHaveProperty('partner');
    expect(story.requests).toEqual([]);
  });

  it('has the time in which each kind of change is found at worst', async () => {
    await story.settle();
    expect((await status()).detection).toEqual({
      news: 1,
      withdrawn: 12,
      editedRecent: 16,
      editedHistory: 26,
    });
  });
});

describe('the activity', () => {
  it('has the last ticks and hours, newest first, failed ones among them', async () => {
    await story.baseline();
    story.world = [...story.world, assessment({ id: 9_001, certified_on: '2026-11-20' })];
    await story.minutes(1);
    await story.minutes(2);
    story.host.fault = serverError;
    await story.minutes(1);
    const { activity } = await status({ activity: true });
    const [failed, , quiet, found] = activity?.ticks ?? [];
    expect(failed).toMatchObject({ found: 0, failed: 1 });
    expect(quiet).toMatchObject({ requests: 1, found: 0, held: 0, failed: 0 });
    expect(found).toMatchObject({ found: 1, held: 0, failed: 0 });
    expect(found?.requests).toBeGreaterThan(0);
    const minutes = activity?.ticks.map(({ at }) => Date.parse(at) / 60_000) ?? [];
    expect(minutes.slice(0, 3)).toEqual([0, -1, -2].map((after) => (minutes[0] ?? 0) + after));
    const sums = activity?.hours.map((hour) => hour.found) ?? [];
    expect(sums.reduce((sum, number) => sum + number, 0)).toBe(1);
    expect(activity?.hours[0]).toMatchObject({ failed: 1 });
  });

  it('has the found and the held changes of a flood', async () => {
    await story.baseline();
    story.settings = { holdAbove: 3 };
    story.world = Array.from({ length: 40 }, (_, index) =>
      assessment({ id: 9_001 + index, certified_on: '2026-11-20' }),
    );
    await story.minutes(1);
    const { activity } = await status({ activity: true });
    const all = activity?.hours.map(({ found, held }) => ({ found, held })) ?? [];
    expect(all).toContainEqual({ found: 40, held: 40 });
  });

  it('is there only on request, and empty before the first tick', async () => {
    expect(await status()).not.toHaveProperty('activity');
    expect((await status({ activity: true })).activity).toEqual({ ticks: [], hours: [] });
  });
});

describe('the history of commands', () => {
  it('has each command that has changed something: caller, time, settings and outcome', async () => {
    await story.settle();
    const by = 'arn:aws:sts::111122223333:assumed-role/ops/odile';
    await story.operate({ command: 'pause', reason: 'a migration', by });
    story.clock.advance({ minutes: 1 });
    await story.operate({ command: 'resume' });
    story.clock.advance({ minutes: 1 });
    await story.operate({ command: 'accept-total', total: 0, by });
    for (const reading of ['status', 'holds', 'baseline', 'check'])
      await story.operate({ command: reading });
    await story.operate({ command: 'explain', id: 1 });
    await story.operate({ command: 'prove', from: '2026-11-01', to: '2026-11-02' });
    await story.operate({ command: 'replay', ids: [1], dryRun: true });
    expect((await status({ history: true })).history).toMatchObject([
      {
        command: 'accept-total',
        by,
        settings: { total: 0 },
        outcome: { ok: true, changed: false },
      },
      {
        command: 'resume',
        at: '2026-11-21T08:01:00.000Z',
        settings: {},
        outcome: { ok: true, changed: true },
      },
      {
        command: 'pause',
        by,
        settings: { reason: 'a migration' },
        outcome: { ok: true, changed: true },
      },
    ]);
    expect(await status()).not.toHaveProperty('history');
  });

  it.each<[string, object, boolean]>([
    ['a pause of a paused integration', { command: 'pause', reason: 'again' }, false],
    ['a release of nothing', { command: 'release' }, false],
    ['a replay of nobody', { command: 'replay', ids: [99] }, false],
    ['a replay', { command: 'replay', ids: [1] }, true],
    ['a tick during a pause', { command: 'tick' }, false],
    ['credentials without a waiting tick', { command: 'credentials-stored' }, true],
    [
      'credentials that are about to be stored',
      { command: 'credentials-stored', stored: false },
      false,
    ],
  ])('says whether %s has changed anything', async (_, command, changed) => {
    await story.settle();
    await story.show(on('2026-11-20', 1));
    await story.operate({ command: 'pause', reason: 'once' });
    story.clock.advance({ minutes: 1 });
    await story.operate(command);
    const { history: [newest] = [] } = await status({ history: true });
    expect(newest?.outcome).toMatchObject({ ok: true, changed });
    expect(newest?.at).toBe('2026-11-21T08:01:00.000Z');
  });

  it('has a command of several calls once, with the outcome of the last', async () => {
    await story.settle();
    for (let id = 1; id <= 5; id += 1) await story.show(on('2026-11-20', id));
    let command: object | undefined = {
      command: 'replay',
      days: {},
      eventsPerSecond: 1,
    };
    while (command !== undefined) {
      story.clock.advance({ minutes: 1 });
      const { result } = await story.operate(command, 11);
      command = z.looseObject({ next: z.looseObject({}).optional() }).parse(result).next;
    }
    expect((await status({ history: true })).history).toMatchObject([
      {
        command: 'replay',
        at: '2026-11-21T08:01:00.000Z',
        // The last call had nothing left to send. The ones before had.
        outcome: { at: '2026-11-21T08:06:05Z', changed: true },
      },
    ]);
  });

  it('has a separate entry for a command that claims to continue an unknown or different one', async () => {
    await story.settle();
    const by = 'arn:aws:sts::111122223333:assumed-role/ops/odile';
    await story.operate({ command: 'discard', ids: [1], by });
    const [begun] = (await status({ history: true })).history ?? [];
    const operation = begun?.operation;
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
    const { history = [] } = await status({ history: true });
    expect(history.map(({ command, at, settings }) => [command, at, settings])).toEqual([
      ['release', '2026-11-21T08:04:00.000Z', expect.objectContaining({ ids: [1] })],
      ['discard', '2026-11-21T08:03:00.000Z', { waiting: 'held', ids: [1] }],
      ['discard', '2026-11-21T08:02:00.000Z', { waiting: 'held', ids: [2] }],
      ['discard', '2026-11-21T08:01:00.000Z', { waiting: 'held', ids: [1] }],
      ['discard', '2026-11-21T08:00:00.000Z', { waiting: 'held', ids: [1] }],
    ]);
    expect(history.at(-1)?.outcome?.at).toBe('2026-11-21T08:05:00Z');
    expect(history.map(({ operation }) => operation)).not.toContain('made-up');
  });

  it('has the reason of a failed command', async () => {
    await story.operate({ command: 'restart-baseline' });
    expect((await status({ history: true })).history).toMatchObject([
      { command: 'restart-baseline', outcome: { ok: false, code: 'nothing-recorded' } },
    ]);
  });

  it('has the last hundred, with the beginning of long lists', async () => {
    await story.settle();
    const ids = Array.from({ length: 1_000 }, (_, index) => index + 1);
    for (let calls = 0; calls < 103; calls += 1) {
      story.clock.advance({ seconds: 1 });
      await story.operate({ command: 'discard', ids });
    }
    const { history = [] } = await status({ history: true });
    expect(history).toHaveLength(100);
    expect(history[0]?.at).toBe('2026-11-21T08:01:43.000Z');
    expect(history[0]?.settings.ids).toHaveLength(21);
  });
});
