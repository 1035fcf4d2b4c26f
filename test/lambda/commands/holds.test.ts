import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { noLease } from '../../../lambda/decisions/state.ts';
import { type DynamoDbLedgers, ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { on, resultOf, resultsOf } from './answers.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

async function begin(ledgers?: DynamoDbLedgers) {
  story = new IntegrationWithPast(ledgers);
  await story.settle();
}
beforeEach(() => begin());

const edited = { email: 'b@example.org' };
const hold = (id: number, more = {}) => story.commit([on('2026-11-20', id, more)], 'held');
const holdMany = (many: number, more = {}) =>
  story.commit(
    Array.from({ length: many }, (_, index) => on('2026-11-20', index + 1, more)),
    'held',
  );
const waiting = async (selection: object = {}) => (await resultOf(story, 'holds', selection)).list;
const heard = () => story.heard.map(({ subject, sequence }) => `${subject}/${sequence}`).sort();

describe('the list of held events', () => {
  it('has kind, organization and year of each event, no personal data, and changes nothing', async () => {
    await begin(database);
    await hold(1);
    await story.commit([on('2026-11-20', 1, edited)]);
    story.clock.advance({ minutes: 1 });
    await hold(2, { organization_id: 9, certified_on: '2019-05-05' });
    const before = await story.items();
    const first = { id: 1, organization_id: 7, year: 2026, since: '2026-11-21T08:00:00.000Z' };
    const second = { id: 2, organization_id: 9, year: 2019, since: '2026-11-21T08:01:00.000Z' };
    const name = 'Larkspur Valley Schools';
    expect(await resultOf(story, 'holds')).toEqual({
      at: '2026-11-21T08:01:00Z',
      list: [
        { ...first, revision: 1, type: 'created' },
        { ...first, revision: 2, type: 'updated' },
        { ...second, revision: 1, type: 'created' },
      ],
      ...{ organizationNames: { 7: name, 9: name }, unreadable: 0 },
    });
    expect(await story.items()).toEqual(before);
  });

  it('resumes after ten thousand events, and after its time is over', async () => {
    await holdMany(10_150);
    const lists = (await resultsOf(story, 'holds', {})).map(({ list }) => list);
    expect(lists.map(({ length }) => length)).toEqual([10_000, 150]);
    expect(new Set(lists.flat().map(({ id }) => id)).size).toBe(10_150);
    const { list, next } = await resultOf(story, 'holds', { years: [2026] }, 5);
    expect(list).toEqual(lists[0]?.slice(0, 100));
    const after = expect.stringMatching(/^held\//);
    expect(next).toEqual({ command: 'holds', waiting: 'held', years: [2026], after });
  });

  it.each([
    [{ organizations: [9] }, [3]],
    [{ years: [2019] }, [2]],
    [{ types: ['created'] }, [1, 2, 3]],
    [{ types: ['withdrawn'] }, []],
    [{ ids: [1, 3] }, [1, 3]],
    [{ organizations: [7], years: [2026] }, [1]],
    [{ until: '2026-11-21T08:00:00Z' }, [1, 2]],
  ] as const)('is released in part by %j', async (selection, expected) => {
    await hold(1);
    await hold(2, { certified_on: '2019-05-05' });
    story.clock.advance({ seconds: 5 });
    await hold(3, { organization_id: 9 });
    const ids = (await waiting(selection)).map(({ id }) => id);
    expect(ids.sort()).toEqual(expected);
    const result = { events: expected.length, behind: 0 };
    expect(await story.operate({ command: 'release', ...selection })).toMatchObject({ result });
    await story.tick();
    expect(heard()).toEqual(expected.map((id) => `${id}/1`));
    expect(await waiting()).toHaveLength(3 - expected.length);
  });
});

describe('a decision', () => {
  it.each<[{ command: string; as?: string; types?: string[] }, object, string[]]>([
    [{ command: 'release' }, { events: 2, byType: { created: 1, updated: 1 } }, ['1/1', '1/2']],
    [{ command: 'release', types: ['created'] }, { events: 1, freed: 1 }, ['1/1', '1/2']],
    [{ command: 'release', types: ['updated'] }, { events: 0, behind: 1 }, []],
    [{ command: 'release', as: 'digest' }, { events: 2 }, []],
    [{ command: 'discard' }, { events: 2, byType: { created: 1, updated: 1 } }, []],
    [{ command: 'discard', types: ['created'] }, { events: 1, freed: 1 }, ['1/2']],
    [{ command: 'discard', types: ['updated'] }, { events: 1, freed: 0, behind: 0 }, []],
  ])('is delivered once, by the next tick: %j', async (command, result, expected) => {
    await hold(1);
    await story.commit([on('2026-11-20', 1, edited)]);
    expect(await story.operate(command)).toMatchObject({ ok: true, result });
    expect(story.heard).toEqual([]);
    expect(await story.operate(command)).toMatchObject({ result: { events: 0 } });
    await story.tick();
    expect(await story.operate(command)).toMatchObject({ result: { events: 0 } });
    await story.tick();
    expect(heard()).toEqual(expected);
    expect(story.mails).toHaveLength(expected.length > 0 || command.as === 'digest' ? 1 : 0);
  });

  it('reads only earlier decisions of the history', async () => {
    await begin(database);
    await holdMany(2);
    const found = new UpdateItemCommand({
      TableName: database.tableName,
      Key: { pk: { S: `CERT#${story.name}#1` } },
      UpdateExpression: 'SET #revision.#found = :found',
      ExpressionAttributeNames: { '#revision': 'revision:1', '#found': 'found' },
      ExpressionAttributeValues: { ':found': { S: 'as a newer version says it' } },
    });
    await database.client.send(found);
    const result = { events: 2 };
    expect(await story.operate({ command: 'release' })).toMatchObject({ ok: true, result });
  });

  it('waits for a tick at work, and reports one that does not end', async () => {
    await hold(1);
    const until = story.clock.now().add({ minutes: 5 });
    await story.ledger.takeLease({ owner: 'a tick', until }, story.clock.now());
    const problem = { code: 'busy', retryHelps: true };
    const result = { events: 0, next: { command: 'release' } };
    expect(await story.operate({ command: 'release' })).toMatchObject({ problem, result });
    await story.ledger.saveState(noLease, { owner: 'a tick', until });
    expect(await story.operate({ command: 'release' })).toMatchObject({ result: { events: 1 } });
  });

  it('that is killed is sent again, beside a tick, and loses and repeats no event', async () => {
    await holdMany(6);
    const { ledger } = story;
    let asked = 0;
    const dying = story.ledgerWith({
      decide: (...decision) => {
        asked += 1;
        return asked > 2 ? new Promise(() => {}) : ledger.decide(...decision);
      },
    });
    void story.operate({ command: 'release' }, 55, { ledger: dying });
    await expect.poll(async () => (await waiting()).length).toBe(4);
    story.clock.advance({ minutes: 2 });
    const release = () => story.operate({ command: 'release' });
    await Promise.all([release(), story.tick()]);
    await release();
    await story.minutes(2);
    expect(heard()).toEqual([1, 2, 3, 4, 5, 6].map((id) => `${id}/1`));
  });

  it('has its lease until it is killed, and ends a batch before it, also if one event of it fails', async () => {
    await holdMany(20);
    const { ledger } = story;
    const killedAt = story.clock.now().add({ seconds: 55 });
    const decide = ledger.decide.bind(ledger);
    const failing = vi.spyOn(ledger, 'decide').mockImplementation(async (id, ...rest) => {
      expect((await ledger.recordedState())?.leaseUntil).toEqual(killedAt.add({ seconds: 5 }));
      if (id === 1) throw new TypeError('odd');
      return decide(id, ...rest);
    });
    const result = { events: 19, next: { command: 'release' } };
    expect(await story.operate({ command: 'release' })).toMatchObject({ ok: false, result });
    const state = await ledger.recordedState();
    // The next tick looks for the released events.
    expect([state?.leaseUntil, state?.dirtySince]).toEqual([undefined, expect.anything()]);
    failing.mockRestore();
    expect(await waiting()).toHaveLength(1);
  });
});

describe('a release for a busy day', () => {
  const busy = (from: number) => {
    for (let id = from; id < from + 30; id += 1) story.add(on('2026-11-20', id));
  };
  beforeEach(() => {
    story.settings = { holdAbove: 10 };
  });

  it('holds no new event for its hours, unless another one of no hours ends it', async () => {
    const openUntil = story.clock.now().add({ hours: 12 }).toString();
    const release = { command: 'release', forHours: 12 };
    expect(await story.operate(release)).toMatchObject({ result: { events: 0, openUntil } });
    expect(await story.operate({ command: 'status' })).toMatchObject({ result: { openUntil } });
    busy(1_000);
    expect(await story.tick()).toMatchObject({ created: 30, held: 0 });
    const { result } = await story.operate({ ...release, forHours: 0 });
    expect(result).not.toHaveProperty('openUntil');
    busy(2_000);
    expect(await story.tick()).toMatchObject({ created: 30, held: 30 });
  });

  it.each<['release' | 'discard', object, number]>([
    ['release', {}, 0],
    ['release', { as: 'digest' }, 0],
    ['release', { ids: [1_000] }, 1],
    ['discard', {}, 1],
  ])('needs none after a release of all: %s %j', async (...decision) => {
    const [command, selection, held] = decision;
    const holding = { until: '2026-11-21T09:10:00Z', types: ['created'] };
    busy(1_000);
    expect(await story.minute()).toMatchObject({ created: 30, held: 30 });
    expect(await resultOf(story, 'holds')).toMatchObject({ holding });
    const decided = await story.operate({ command, ...selection });
    const left = expect.objectContaining({ holding });
    expect(decided).toMatchObject({
      result: held > 0 ? left : expect.not.objectContaining({ holding }),
    });
    story.add(on('2026-11-20', 1));
    expect(await story.tick()).toMatchObject({ created: 1, held });
  });

  it('releases held events, and begins only once, over any number of calls', async () => {
    await holdMany(250);
    const results = await resultsOf(story, 'release', { forHours: 1, eventsPerSecond: 4 });
    expect(results.reduce((sum, { events }) => sum + events, 0)).toBe(250);
    const [first, ...later] = results.map(({ openUntil }) => openUntil);
    expect(first).toBeDefined();
    expect(later).toEqual(later.map(() => undefined));
    expect(later.length).toBeGreaterThan(0);
  });

  const selections = { ids: [1], organizations: [7], years: [2026], types: ['created'] };
  const others = { as: 'digest', waiting: 'undeliverable', forHours: 73 };

  it.each(Object.entries({ ...selections, ...others }))(
    'lets all events pass, and is refused with a selection: %s %j',
    async (name, value) => {
      const answer = await story.operate({ command: 'release', forHours: 1, [name]: value });
      expect(answer).toMatchObject({ ok: false, problem: { code: 'command-invalid' } });
    },
  );
});

describe('an event that SNS has refused for good', () => {
  it.each([
    ['release', ['1/1'], 'announced', [{ decision: 'retried' }]],
    ['discard', [], 'discarded', [{ decision: 'discarded' }]],
  ])('is listed, and decided by itself: %s', async (command, expected, verdict, decisions) => {
    story.add(on('2026-11-20', 1));
    story.subscribers.refuse = () => ({ code: 'InvalidParameter', forGood: true });
    await story.tick();
    story.subscribers.refuse = () => undefined;
    const undeliverable = { waiting: 'undeliverable' };
    const [revision, type, code] = [1, 'created', 'InvalidParameter'];
    expect(await waiting(undeliverable)).toMatchObject([{ id: 1, revision, type, code }]);
    expect(await waiting()).toEqual([]);
    const explained = () => resultOf(story, 'explain', { id: 1 });
    const known = { revisions: [{ delivery: 'undeliverable', code }] };
    expect(await explained()).toMatchObject({ verdict: 'undeliverable', known });
    const answer = await story.operate({ command, ...undeliverable });
    expect(answer).toMatchObject({ result: { events: 1 } });
    await story.tick();
    expect(heard()).toEqual(expected);
    expect(await explained()).toMatchObject({ verdict, known: { revisions: [{ decisions }] } });
    expect(await waiting(undeliverable)).toEqual([]);
  });
});
