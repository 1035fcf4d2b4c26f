import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { Answer, CommandInput } from '../../../lambda/operations/contract.ts';
import { noLease } from '../../../lambda/ports/state.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

beforeEach(async () => {
  story = new IntegrationWithPast();
  await story.settle();
});

const listed = z.object({
  list: z.array(
    z.looseObject({ id: z.int(), type: z.string(), organization_id: z.int(), year: z.int() }),
  ),
});
const looked = z.looseObject({ next: z.looseObject({ command: z.string() }).optional() });

/** Sends the commands of `next` until there is none. */
async function toTheEnd(command: CommandInput | z.output<typeof looked>['next'], seconds?: number) {
  const answers: Answer[] = [];
  let next: typeof command | undefined = command;
  while (next !== undefined) {
    const answer: Answer = await story.operate(next, seconds);
    answers.push(answer);
    next = answer.ok ? looked.parse(answer.result).next : undefined;
  }
  return answers;
}

/** The same, with how long each call took. */
async function timed(command: CommandInput, seconds: number) {
  const took: number[] = [];
  const operate = story.operate.bind(story);
  vi.spyOn(story, 'operate').mockImplementation(async (...call) => {
    const began = story.clock.now();
    const answer = await operate(...call);
    took.push(story.clock.now().since(began).total('seconds'));
    return answer;
  });
  return { answers: await toTheEnd(command, seconds), seconds: took };
}

const counted = z.looseObject({ events: z.int() });
const sumOf = (answers: readonly Answer[]) =>
  answers.reduce((sum, { result }) => sum + counted.parse(result).events, 0);

const holdMany = (many: number) =>
  story.commit(
    Array.from({ length: many }, (_, index) =>
      assessment({ id: index + 1, certified_on: '2026-11-20' }),
    ),
    'held',
  );
const hold = (id: number, more = {}) =>
  story.commit([assessment({ id, certified_on: '2026-11-20', ...more })], 'held');
const listOf = ({ result }: Answer) => listed.parse(result).list;
const waiting = async (selection = {}) =>
  listOf(await story.operate({ command: 'holds', ...selection }));
const subjects = () => story.heard.map(({ subject }) => Number(subject));

describe('what is held', () => {
  it('is shown by kind, organization and year, and nothing personal with it', async () => {
    await hold(1, { organization_id: 7 });
    await hold(2, { organization_id: 7, certified_on: '2019-05-05' });
    await hold(3, { organization_id: 9 });
    const answer = await story.operate({ command: 'holds' });
    expect(answer).toMatchObject({ ok: true, result: { unreadable: 0 } });
    const type = 'created';
    expect(listOf(answer).toSorted((a, b) => a.id - b.id)).toMatchObject([
      { id: 1, type, organization_id: 7, year: 2026 },
      { id: 2, type, organization_id: 7, year: 2019 },
      { id: 3, type, organization_id: 9, year: 2026 },
    ]);
    expect(answer).toMatchObject({ result: { organizationNames: { 7: expect.any(String) } } });
    expect(answer.result).not.toHaveProperty('next');
    expect(JSON.stringify(answer)).not.toMatch(/Odalys|Quillfeather|@example/);
  });

  it('is of the restored kind where the partner has again what was withdrawn', async () => {
    await story.show(assessment({ id: 1, certified_on: '2026-11-20' }));
    await story.withdraw(1);
    await hold(1);
    expect(await waiting({ types: ['created'] })).toEqual([]);
    expect(await waiting({ types: ['restored'] })).toMatchObject([{ id: 1, type: 'restored' }]);
  });

  it('is listed event by event', async () => {
    await hold(1);
    await hold(1, { email: 'b@example.org' });
    story.clock.advance({ minutes: 1 });
    await hold(2);
    const answer = await story.operate({ command: 'holds' });
    expect(listOf(answer).toSorted((a, b) => a.id - b.id)).toMatchObject([
      { id: 1, revision: 1, type: 'created', since: '2026-11-21T08:00:00Z' },
      { id: 1, revision: 2, type: 'updated', since: '2026-11-21T08:00:00Z' },
      { id: 2, revision: 1, type: 'created', since: '2026-11-21T08:01:00Z' },
    ]);
    expect(JSON.stringify(answer)).not.toMatch(/Odalys|Quillfeather|@example|"code"/);
    expect(await waiting({ ids: [2] })).toMatchObject([{ id: 2 }]);
  });

  it('is listed to its end over several answers', async () => {
    const ids = Array.from({ length: 10_150 }, (_, index) => index + 1);
    await hold(1);
    const [page] = await Array.fromAsync(story.ledger.kept('held'));
    const event = page?.owed[0];
    if (event === undefined) throw new Error('nothing is held');
    vi.spyOn(story.ledger, 'kept').mockImplementation(async function* (_, after = 'held/x/0') {
      const rest = ids.slice(Number(after.split('/').at(-1)));
      for (let from = 0; from < rest.length; from += 100) {
        const some = rest.slice(from, from + 100);
        const owed = some.map((certificationId) => ({ ...event, certificationId }));
        yield { owed, unreadable: [], end: `held/x/${some.at(-1)}` };
      }
    });
    const lists = (await toTheEnd({ command: 'holds' })).map((answer) => listOf(answer));
    vi.restoreAllMocks();
    expect(lists.map(({ length }) => length)).toEqual([10_000, 150]);
    expect(lists.flat().map(({ id }) => id)).toEqual(ids);
  });

  it.each([
    ['one after the other', { seconds: 1 }],
    ['in one moment', { seconds: 0 }],
  ])('is counted once, however many calls it takes (%s)', async (_, distance) => {
    for (let id = 1; id <= 250; id += 1) {
      await hold(id);
      story.clock.advance(distance);
    }
    // No time for more than a page.
    const answers = await toTheEnd({ command: 'holds' }, 5);
    expect(answers.length).toBeGreaterThan(2);
    expect(answers.every(({ ok }) => ok)).toBe(true);
    const ids = answers.flatMap((answer) => listOf(answer).map(({ id }) => id));
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
  });

  it('is not touched by looking at it', async () => {
    story = new IntegrationWithPast(database);
    await story.settle();
    await hold(1);
    const before = await story.items();
    await story.operate({ command: 'holds' });
    expect(await story.items()).toEqual(before);
  });

  it('includes what waits behind it, also where that makes the index name something else', async () => {
    await hold(1);
    await story.commit([assessment({ id: 1, certified_on: '2026-11-20', email: 'b@example.org' })]);
    expect(await waiting()).toMatchObject([
      { id: 1, type: 'created' },
      { id: 1, type: 'updated' },
    ]);
  });

  it.each([
    [{ organizations: [9] }, [3]],
    [{ years: [2019] }, [2]],
    [{ types: ['created'] }, [1, 2, 3]],
    [{ types: ['withdrawn'] }, []],
    [{ ids: [1, 3] }, [1, 3]],
    [{ organizations: [7], years: [2026] }, [1]],
  ] as const)('is released in part by %j', async (selection, expected) => {
    await hold(1, { organization_id: 7 });
    await hold(2, { organization_id: 7, certified_on: '2019-05-05' });
    await hold(3, { organization_id: 9 });
    expect(await waiting(selection)).toHaveLength(expected.length);
    expect(await story.operate({ command: 'release', ...selection })).toMatchObject({
      ok: true,
      result: { events: expected.length, behind: 0 },
    });
    await story.tick();
    expect(subjects().sort()).toEqual(expected);
    expect(await waiting()).toHaveLength(3 - expected.length);
  });

  it('that has come since somebody looked is not released with what was seen', async () => {
    await hold(1);
    const { result } = await story.operate({ command: 'holds' });
    const { at } = z.looseObject({ at: z.string() }).parse(result);
    story.clock.advance({ seconds: 5 });
    await hold(2);
    await story.operate({ command: 'release', until: at });
    await story.tick();
    expect(subjects()).toEqual([1]);
  });
});

describe('a release', () => {
  it('is delivered by the next tick, with a digest, each event once', async () => {
    await hold(1);
    await hold(2);
    await story.operate({ command: 'release' });
    expect(story.heard).toEqual([]);
    await story.tick();
    await story.tick();
    expect(subjects().sort()).toEqual([1, 2]);
    expect(story.mails).toHaveLength(1);
    expect(story.mails[0]).toHaveLength(2);
  });

  it('needs nothing of the history but what was decided before', async () => {
    story = new IntegrationWithPast(database);
    await story.settle();
    await hold(1);
    await hold(2);
    const found = new UpdateItemCommand({
      TableName: database.tableName,
      Key: { pk: { S: `CERT#${story.name}#1` } },
      UpdateExpression: 'SET #revision.#found = :found',
      ExpressionAttributeNames: { '#revision': 'revision:1', '#found': 'found' },
      ExpressionAttributeValues: { ':found': { S: 'as a newer version says it' } },
    });
    await database.client.send(found);
    expect(await story.operate({ command: 'release' })).toMatchObject({
      ok: true,
      result: { events: 2 },
    });
  });

  describe('for a busy day', () => {
    const busy = (from: number) =>
      story.add(
        ...Array.from({ length: 30 }, (_, index) =>
          assessment({ id: from + index, certified_on: '2026-11-20' }),
        ),
      );
    beforeEach(() => {
      story.settings = { holdAbove: 10 };
    });

    it('holds nothing new until its hours are over, and what comes then as ever', async () => {
      const openUntil = story.clock.now().add({ hours: 12 }).toString();
      expect(await story.operate({ command: 'release', forHours: 12 })).toMatchObject({
        result: { events: 0, openUntil },
      });
      busy(1_000);
      expect(await story.tick()).toMatchObject({ created: 30, held: 0 });
      story.clock.advance({ hours: 13 });
      busy(2_000);
      expect(await story.tick()).toMatchObject({ created: 30, held: 30 });
    });

    it('is ended by another one of no hours', async () => {
      await story.operate({ command: 'release', forHours: 12 });
      const { result } = await story.operate({ command: 'release', forHours: 0 });
      expect(result).not.toHaveProperty('openUntil');
      busy(1_000);
      expect(await story.tick()).toMatchObject({ created: 30, held: 30 });
    });

    it('releases what is held, and begins only once, however many calls that takes', async () => {
      await holdMany(250);
      const answers = await toTheEnd({ command: 'release', forHours: 1, eventsPerSecond: 4 }, 55);
      expect(answers.length).toBeGreaterThan(1);
      expect(sumOf(answers)).toBe(250);
      const said = answers.filter(({ result }) => JSON.stringify(result).includes('openUntil'));
      expect(said).toHaveLength(1);
    });

    it.each([
      { ids: [1] },
      { organizations: [7] },
      { years: [2026] },
      { types: ['created'] },
      { as: 'digest' },
      { waiting: 'undeliverable' },
      { forHours: 73 },
    ])('lets everything through, or is no command: %j', async (more) => {
      const answer = await story.operate({ command: 'release', forHours: 1, ...more });
      expect(answer).toMatchObject({ ok: false, problem: { code: 'command-invalid' } });
    });

    it('is refused, and nothing released, when another one has taken the lease since', async () => {
      await hold(1);
      const ledger = story.ledgerWith({
        saveState: async (changes, lease) =>
          changes.gate === undefined && story.ledger.saveState(changes, lease),
      });
      expect(
        await story.operate({ command: 'release', forHours: 1 }, undefined, { ledger }),
      ).toMatchObject({ ok: false, problem: { code: 'busy' } });
      expect(await story.operate({ command: 'release' })).toMatchObject({ result: { events: 1 } });
    });
  });

  it('does nothing when it is sent again', async () => {
    await hold(1);
    await story.operate({ command: 'release' });
    expect(await story.operate({ command: 'release' })).toMatchObject({ result: { events: 0 } });
    await story.tick();
    expect(await story.operate({ command: 'release' })).toMatchObject({ result: { events: 0 } });
    await story.tick();
    expect(subjects()).toEqual([1]);
  });

  it('keeps the order of a subject', async () => {
    await hold(1);
    await hold(1, { email: 'b@example.org' });
    await hold(1, { email: 'c@example.org' });
    await story.operate({ command: 'release' });
    await story.tick();
    expect(story.heard.map(({ sequence }) => sequence)).toEqual(['1', '2', '3']);
  });

  it('leaves held what is behind an event that was not chosen', async () => {
    await hold(1);
    await hold(1, { email: 'b@example.org' });
    expect(await story.operate({ command: 'release', types: ['updated'] })).toMatchObject({
      ok: true,
      result: { events: 0, behind: 1 },
    });
    await story.tick();
    expect(story.heard).toEqual([]);
    expect(await waiting()).toHaveLength(2);
  });

  it.each([
    ['of all of it', {}],
    ['of the true change alone', { types: ['updated'] }],
  ])(
    '%s sends the true change, and not what was withdrawn and restored behind it',
    async (_, some) => {
      story = new IntegrationWithPast(database);
      await story.settle();
      const edited = { email: 'b@example.org' };
      const row = assessment({ id: 1, certified_on: '2026-11-20', ...edited });
      await story.show(assessment({ id: 1, certified_on: '2026-11-20' }));
      await hold(1, edited);
      await story.withdraw(1);
      await story.commit([row]);
      story.heard.length = 0;
      expect(await story.operate({ command: 'release', ...some })).toMatchObject({
        ok: true,
        result: { events: 1, byType: { updated: 1 }, freed: 0, undone: 2 },
      });
      await story.tick();
      expect(story.heard.map(({ type, sequence }) => [type, sequence])).toEqual([
        ['certification.updated', '2'],
      ]);
      const { result } = await story.operate({ command: 'explain', id: 1 });
      expect(result).toMatchObject({
        verdict: 'undone',
        known: {
          revision: 4,
          revisions: [{}, { delivery: 'announced' }, { delivery: 'undone' }, {}],
        },
      });
      const { result: recorded } = await story.operate({ command: 'status', history: true });
      expect(recorded).toMatchObject({
        history: [{ command: 'release', outcome: { changed: true } }],
      });
      story.host.edit(1, { email: 'c@example.org' });
      story.clock.advance({ minutes: 60 });
      await story.tick();
      expect(story.heard.map(({ sequence }) => sequence)).toEqual(['2', '5']);
    },
  );

  it('of the first lets go what only waited behind it', async () => {
    await hold(1);
    await story.commit([assessment({ id: 1, certified_on: '2026-11-20', email: 'b@example.org' })]);
    expect(await story.operate({ command: 'release', types: ['created'] })).toMatchObject({
      result: { events: 1, freed: 1 },
    });
    await story.tick();
    expect(story.heard.map(({ sequence }) => sequence)).toEqual(['1', '2']);
  });

  it.each([
    [{ command: 'release' }, 25, 0],
    [{ command: 'release', as: 'digest' }, 0, 1],
    [{ command: 'discard' }, 0, 0],
  ] as const)(
    'or another decision is for all that waits behind the first, however many: %j',
    async (decision, heard, mails) => {
      await hold(1);
      for (let version = 2; version <= 25; version += 1)
        await story.commit([
          assessment({ id: 1, certified_on: '2026-11-20', email: `b${version}@example.org` }),
        ]);
      expect(await story.operate(decision)).toMatchObject({ result: { events: 25, freed: 0 } });
      await story.tick();
      expect(story.heard.map(({ sequence }) => Number(sequence))).toEqual(
        Array.from({ length: heard }, (_, index) => index + 1),
      );
      if (heard === 0) expect(story.mails).toHaveLength(mails);
      expect(await waiting()).toHaveLength(0);
    },
  );

  it('for people only is one mail and no event', async () => {
    await hold(1);
    await hold(2);
    expect(await story.operate({ command: 'release', as: 'digest' })).toMatchObject({
      ok: true,
      result: { events: 2 },
    });
    await story.tick();
    await story.tick();
    expect(story.heard).toEqual([]);
    expect(story.mails.map((ids) => ids.length)).toEqual([2]);
    expect(await story.operate({ command: 'explain', id: 1 })).toMatchObject({
      result: { verdict: 'announced-to-people' },
    });
  });

  it('goes on where its time was over, and ticks come in between', async () => {
    await holdMany(120);
    const { answers } = await timed({ command: 'release', eventsPerSecond: 2 }, 30);
    expect(answers.length).toBeGreaterThan(1);
    expect(answers.every(({ ok }) => ok)).toBe(true);
    expect(sumOf(answers)).toBe(120);
    await story.tick();
    expect(new Set(subjects()).size).toBe(120);
  });

  it.each([1, 3, 5, 50])(
    'keeps its pace over all calls, and no call lasts until it is killed: %j a second',
    async (eventsPerSecond) => {
      await holdMany(230);
      const { answers, seconds } = await timed({ command: 'release', eventsPerSecond }, 55);
      expect(sumOf(answers)).toBe(230);
      expect(Math.max(...seconds)).toBeLessThan(50.1);
      const altogether = seconds.reduce((sum, one) => sum + one, 0);
      expect(altogether).toBeGreaterThan(230 / eventsPerSecond - 0.001);
      // Nor is it much slower than asked for.
      expect(altogether).toBeLessThan(1.1 * (230 / eventsPerSecond) + 1);
    },
  );

  it('keeps its pace also where certifications have several events each', async () => {
    for (let version = 1; version <= 10; version += 1)
      await story.commit(
        Array.from({ length: 40 }, (_, index) =>
          assessment({
            id: index + 1,
            certified_on: '2026-11-20',
            email: `b${version}@example.org`,
          }),
        ),
        'held',
      );
    const { answers, seconds } = await timed({ command: 'release', eventsPerSecond: 5 }, 55);
    expect(sumOf(answers)).toBe(400);
    expect(seconds.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(400 / 5 - 0.001);
  });

  it('ends in time where one certification has more than a call may hand on', async () => {
    for (let version = 1; version <= 70; version += 1)
      await hold(1, { email: `b${version}@example.org` });
    await hold(2);
    const { answers, seconds } = await timed({ command: 'release', eventsPerSecond: 1 }, 55);
    // Which of the two comes first is the index's to say.
    expect(answers).toHaveLength(2);
    expect(sumOf(answers)).toBe(71);
    expect(Math.max(...seconds)).toBeLessThan(50.1);
  });

  it('waits for a tick that is at work, and says so if that does not end', async () => {
    await hold(1);
    const until = story.clock.now().add({ minutes: 5 });
    await story.ledger.takeLease({ owner: 'a tick', until }, story.clock.now());
    expect(await story.operate({ command: 'release' })).toMatchObject({
      ok: false,
      problem: { code: 'busy', retryHelps: true },
      result: { events: 0, next: { command: 'release' } },
    });
    await story.ledger.saveState(noLease, { owner: 'a tick', until });
    expect(await story.operate({ command: 'release' })).toMatchObject({ result: { events: 1 } });
  });

  it('lasts until the function is dead, however late it gives the lease back', async () => {
    await hold(1);
    const killedAt = story.clock.now().add({ seconds: 55 });
    const lease = { owner: 'a tick', until: killedAt.add({ minutes: 5 }) };
    const taken: boolean[] = [];
    const decide = vi.spyOn(story.opsLedger, 'decide').mockImplementation(async () => {
      for (const seconds of [54, 1, 4, 2]) {
        story.clock.advance({ seconds });
        taken.push((await story.ledger.takeLease(lease, story.clock.now())) !== undefined);
      }
      return { done: [], behind: 0, freed: 0, undone: 0 };
    });
    await story.operate({ command: 'release' });
    expect(decide).toHaveBeenCalledOnce();
    // Before it is killed, then, four seconds later, and two more.
    expect(taken).toEqual([false, false, false, true]);
  });

  it('does all of a batch, also if one of it fails, before it gives the lease back', async () => {
    for (let id = 1; id <= 20; id += 1) await hold(id);
    const { opsLedger } = story;
    const decide = opsLedger.decide.bind(opsLedger);
    vi.spyOn(opsLedger, 'decide').mockImplementation(async (id, ...rest) => {
      if (id === 1) throw new TypeError('odd');
      return decide(id, ...rest);
    });
    expect(await story.operate({ command: 'release' })).toMatchObject({
      ok: false,
      result: { events: 19, next: { command: 'release' } },
    });
    expect((await story.ledger.recordedState())?.leaseUntil).toBeUndefined();
    vi.restoreAllMocks();
    expect(await waiting()).toHaveLength(1);
  });

  it('lets the next tick look for it even if a tick had just ended clean', async () => {
    await story.tick();
    await hold(1);
    await story.operate({ command: 'release' });
    const state = await story.ledger.recordedState();
    expect(state?.dirtySince).toBeDefined();
    expect(state?.leaseUntil).toBeUndefined();
  });

  it('ends the notice that something is held', async () => {
    await story.ledger.saveState({
      conditions: new Map([['held', { since: 0, number: 1, told: { at: 0, number: 1 } }]]),
    });
    await hold(1);
    await story.operate({ command: 'release' });
    await story.tick();
    expect(story.notices.map(({ subject }) => subject)).toContainEqual(
      expect.stringContaining('nothing is held any more'),
    );
  });
});

describe('a discard', () => {
  it('takes events out of their outboxes for good, and explain knows', async () => {
    await hold(1);
    await hold(2);
    expect(await story.operate({ command: 'discard', ids: [1] })).toMatchObject({
      ok: true,
      result: { events: 1, byType: { created: 1 } },
    });
    await story.tick();
    expect(story.heard).toEqual([]);
    expect(await waiting()).toHaveLength(1);
    expect(await story.operate({ command: 'explain', id: 1 })).toMatchObject({
      result: { verdict: 'discarded' },
    });
    expect(await story.operate({ command: 'discard', ids: [1] })).toMatchObject({
      result: { events: 0 },
    });
  });

  it('of the first lets go what was behind it, and says so', async () => {
    await hold(1);
    await story.commit([assessment({ id: 1, certified_on: '2026-11-20', email: 'b@example.org' })]);
    expect(await story.operate({ command: 'discard', types: ['created'] })).toMatchObject({
      result: { events: 1, freed: 1 },
    });
    await story.tick();
    expect(story.heard.map(({ sequence }) => sequence)).toEqual(['2']);
  });

  it('is not an end of the certification: its next change is announced', async () => {
    await hold(1);
    await story.operate({ command: 'discard' });
    await story.commit([assessment({ id: 1, certified_on: '2026-11-20', email: 'b@example.org' })]);
    await story.tick();
    expect(story.heard.map(({ sequence }) => sequence)).toEqual(['2']);
  });
});

describe('what SNS has refused for good', () => {
  beforeEach(async () => {
    story.add(assessment({ id: 1, certified_on: '2026-11-20' }));
    story.subscribers.refuse = () => ({ code: 'InvalidParameter', forGood: true });
    await story.tick();
    story.subscribers.refuse = () => undefined;
  });

  it('is shown, and tried again by the next tick once it is released', async () => {
    expect(await story.operate({ command: 'holds', waiting: 'undeliverable' })).toMatchObject({
      result: { list: [{ id: 1, revision: 1, type: 'created', code: 'InvalidParameter' }] },
    });
    expect(await waiting({ waiting: 'undeliverable' })).toHaveLength(1);
    expect(await waiting()).toHaveLength(0);
    expect(await story.operate({ command: 'explain', id: 1 })).toMatchObject({
      result: {
        verdict: 'undeliverable',
        known: { revisions: [{ delivery: 'undeliverable', code: 'InvalidParameter' }] },
      },
    });
    expect(await story.operate({ command: 'release', waiting: 'undeliverable' })).toMatchObject({
      ok: true,
      result: { events: 1 },
    });
    await story.tick();
    expect(subjects()).toEqual([1]);
    expect(await story.operate({ command: 'explain', id: 1 })).toMatchObject({
      result: {
        verdict: 'announced',
        known: { revisions: [{ decisions: [{ decision: 'retried' }] }] },
      },
    });
  });

  it('is discarded', async () => {
    await story.operate({ command: 'discard', waiting: 'undeliverable' });
    await story.tick();
    expect(story.heard).toEqual([]);
    expect(await story.operate({ command: 'status' })).toMatchObject({
      result: { waiting: { pending: 0, digest: 0, held: 0, undeliverable: 0 } },
    });
  });
});
