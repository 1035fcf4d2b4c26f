import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { CommandAnswer, CommandInput } from '../../../lambda/operations/contract.ts';
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

/** Sends the commands of `next` until none is left. */
async function toTheEnd(command: CommandInput | z.output<typeof looked>['next'], seconds?: number) {
  const answers: CommandAnswer[] = [];
  let next: typeof command | undefined = command;
  while (next !== undefined) {
    const answer: CommandAnswer = await story.operate(next, seconds);
    answers.push(answer);
    next = answer.ok ? looked.parse(answer.result).next : undefined;
  }
  return answers;
}

/** Sends them as above, and measures each call. */
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
const sumOf = (answers: readonly CommandAnswer[]) =>
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
const listOf = ({ result }: CommandAnswer) => listed.parse(result).list;
const waiting = async (selection = {}) =>
  listOf(await story.operate({ command: 'holds', ...selection }));
const subjects = () => story.heard.map(({ subject }) => Number(subject));

describe('the list of held events', () => {
  it('has kind, organization and year, and no personal data', async () => {
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

  it('has the kind "restored" if the partner has a withdrawn certification again', async () => {
    await story.show(assessment({ id: 1, certified_on: '2026-11-20' }));
    await story.withdraw(1);
    await hold(1);
    expect(await waiting({ types: ['created'] })).toEqual([]);
    expect(await waiting({ types: ['restored'] })).toMatchObject([{ id: 1, type: 'restored' }]);
  });

  it('has each event separately', async () => {
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

  it('is complete over several answers', async () => {
    const ids = Array.from({ length: 10_150 }, (_, index) => index + 1);
    await hold(1);
    const [page] = await Array.fromAsync(story.ledger.waitingForOps('held'));
    const event = page?.owed[0];
    if (event === undefined) throw new Error('nothing is held');
    vi.spyOn(story.ledger, 'waitingForOps').mockImplementation(async function* (
      _,
      after = 'held/x/0',
    ) {
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
    ['at one moment', { seconds: 0 }],
  ])('has each event once, over any number of calls (%s)', async (_, distance) => {
    for (let id = 1; id <= 250; id += 1) {
      await hold(id);
      story.clock.advance(distance);
    }
    // There is time for one page only.
    const answers = await toTheEnd({ command: 'holds' }, 5);
    expect(answers.length).toBeGreaterThan(2);
    expect(answers.every(({ ok }) => ok)).toBe(true);
    const ids = answers.flatMap((answer) => listOf(answer).map(({ id }) => id));
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
  });

  it('changes nothing', async () => {
    story = new IntegrationWithPast(database);
    await story.settle();
    await hold(1);
    const before = await story.items();
    await story.operate({ command: 'holds' });
    expect(await story.items()).toEqual(before);
  });

  it('includes events behind a held one, also if the index has the item under another place', async () => {
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

  it('does not release events that came after it was read', async () => {
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

  it('reads only earlier decisions of the history', async () => {
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

    it('holds no new event until its hours are over, and holds again after them', async () => {
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

    it('releases held events, and begins only once, over any number of calls', async () => {
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
    ])('lets all events pass, and is refused with a selection: %j', async (more) => {
      const answer = await story.operate({ command: 'release', forHours: 1, ...more });
      expect(answer).toMatchObject({ ok: false, problem: { code: 'command-invalid' } });
    });

    it('is refused, and releases nothing, if another tick has taken the lease since', async () => {
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

  it('has no effect when it is sent again', async () => {
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

  it('leaves an event held behind one that was not selected', async () => {
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
    ['of all events', {}],
    ['of the true change alone', { types: ['updated'] }],
  ])(
    '%s sends the true change, and not the withdrawal and the restoration behind it',
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

  it('of the first event frees those that only waited behind it', async () => {
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
    'and other decisions include any number of events behind the first: %j',
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

  it('resumes after its time was over, with ticks in between', async () => {
    await holdMany(120);
    const { answers } = await timed({ command: 'release', eventsPerSecond: 2 }, 30);
    expect(answers.length).toBeGreaterThan(1);
    expect(answers.every(({ ok }) => ok)).toBe(true);
    expect(sumOf(answers)).toBe(120);
    await story.tick();
    expect(new Set(subjects()).size).toBe(120);
  });

  it.each([1, 3, 5, 50])(
    'keeps its pace over all calls, none of which lasts until it is killed: %j a second',
    async (eventsPerSecond) => {
      await holdMany(230);
      const { answers, seconds } = await timed({ command: 'release', eventsPerSecond }, 55);
      expect(sumOf(answers)).toBe(230);
      expect(Math.max(...seconds)).toBeLessThan(50.1);
      const altogether = seconds.reduce((sum, one) => sum + one, 0);
      expect(altogether).toBeGreaterThan(230 / eventsPerSecond - 0.001);
      // It is not much slower than requested, either.
      expect(altogether).toBeLessThan(1.1 * (230 / eventsPerSecond) + 1);
    },
  );

  it('keeps its pace also if certifications have several events each', async () => {
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

  it('ends in time if one certification has more events than one call may send', async () => {
    for (let version = 1; version <= 70; version += 1)
      await hold(1, { email: `b${version}@example.org` });
    await hold(2);
    const { answers, seconds } = await timed({ command: 'release', eventsPerSecond: 1 }, 55);
    // The index decides which of the two comes first.
    expect(answers).toHaveLength(2);
    expect(sumOf(answers)).toBe(71);
    expect(Math.max(...seconds)).toBeLessThan(50.1);
  });

  it('waits for a tick at work, and reports one that does not end', async () => {
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
    // The moments: before the kill, then, four seconds later, and two more.
    expect(taken).toEqual([false, false, false, true]);
  });

  it('completes a batch before it gives the lease back, also if one event of it fails', async () => {
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

  it('has the next tick look for its events even if a tick had just ended clean', async () => {
    await story.tick();
    await hold(1);
    await story.operate({ command: 'release' });
    const state = await story.ledger.recordedState();
    expect(state?.dirtySince).toBeDefined();
    expect(state?.leaseUntil).toBeUndefined();
  });

  it('ends the condition of held events', async () => {
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
  it('removes events from their outboxes for good, and explain reports it', async () => {
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

  it('of the first event frees those behind it, and counts them', async () => {
    await hold(1);
    await story.commit([assessment({ id: 1, certified_on: '2026-11-20', email: 'b@example.org' })]);
    expect(await story.operate({ command: 'discard', types: ['created'] })).toMatchObject({
      result: { events: 1, freed: 1 },
    });
    await story.tick();
    expect(story.heard.map(({ sequence }) => sequence)).toEqual(['2']);
  });

  it('does not end the certification: its next change is announced', async () => {
    await hold(1);
    await story.operate({ command: 'discard' });
    await story.commit([assessment({ id: 1, certified_on: '2026-11-20', email: 'b@example.org' })]);
    await story.tick();
    expect(story.heard.map(({ sequence }) => sequence)).toEqual(['2']);
  });
});

describe('an event that SNS has refused for good', () => {
  beforeEach(async () => {
    story.add(assessment({ id: 1, certified_on: '2026-11-20' }));
    story.subscribers.refuse = () => ({ code: 'InvalidParameter', forGood: true });
    await story.tick();
    story.subscribers.refuse = () => undefined;
  });

  it('is listed, and is retried by the next tick once it is released', async () => {
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
