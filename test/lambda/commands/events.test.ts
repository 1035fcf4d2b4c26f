import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { OpsLedger } from '../../../lambda/commands/ops-ledger.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { MemoryOpsLedger } from '../../scaffold/memory-ops-ledger.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';
import { resultOf, resultsOf } from './answers.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

const of = (id: number, more: Partial<Assessment> = {}) => ({ ...assessment({ id }), ...more });

const asked = (more: object = {}, opsLedger: OpsLedger = story.opsLedger) =>
  resultOf(story, 'events', more, 55, { opsLedger });

/** Events as `<id>/<revision>`. */
const listed = async (more: object = {}) =>
  (await asked(more)).events.map(({ id, revision }) => `${id}/${revision}`);

/** Makes an event of each kind, on one day after the other. */
async function lives() {
  await story.recall(of(9));
  await story.show(of(1, { organization_id: 7 }));
  story.clock.advance({ hours: 24 });
  await story.show(of(2, { organization_id: 8, assessment_name: 'Dry Stone Walling' }));
  await story.show(of(1, { organization_id: 7, email: 'anew@example.org' }));
  story.clock.advance({ hours: 24 });
  await story.commit([of(3, { certified_on: '2016-02-03' })], 'held');
  await story.commit([of(4, { organization_id: null })]);
  await story.withdraw(2);
}

describe.each(['memory', 'DynamoDB'] as const)('events, of a ledger in %s,', (place) => {
  beforeEach(() => {
    if (place === 'DynamoDB') story = new IntegrationWithPast(database);
  });

  it('are the newest first, each with its delivery, in pages that resume where the last one stopped', async () => {
    await lives();
    const { events, ...rest } = await asked();
    expect(rest).toEqual({ unreadable: 0 });
    expect(events).toMatchObject([
      { id: 4, type: 'created', delivery: 'pending', organization_id: null, late: false },
      { id: 3, type: 'created', delivery: 'held', day: '2016-02-03', late: true },
      { id: 2, type: 'withdrawn', delivery: 'announced', presence: 'withdrawn', changed: [] },
      { id: 2, type: 'created', delivery: 'announced', assessment_name: 'Dry Stone Walling' },
      { id: 1, type: 'updated', changed: ['email'], at: '2026-11-22T08:00:00Z' },
      { id: 1, type: 'created', event: `${story.name}/1/1`, at: '2026-11-21T08:00:00Z' },
    ]);
    const first = await asked({ limit: 4 });
    expect(first).toEqual({
      ...{ events: events.slice(0, 4), unreadable: 0 },
      next: {
        ...{ command: 'events', from: '2026-11-17', limit: 4 },
        after: '2026-11-22T08:00:00.000Z/2/1',
      },
    });
    expect(await asked(first.next)).toEqual({ events: events.slice(4), unreadable: 0 });
  });

  it.each([
    [{ from: '2026-11-22', to: '2026-11-22' }, ['2/1', '1/2']],
    [{ to: '2026-11-21' }, ['1/1']],
    [{ types: ['updated', 'withdrawn'] }, ['2/2', '1/2']],
    [{ organizations: [8] }, ['2/2', '2/1']],
    [{ organizations: [99] }, []],
    [{ assessments: ['Dry Stone Walling'] }, ['2/2', '2/1']],
    [{ late: false, types: ['created'] }, ['4/1', '2/1', '1/1']],
    [{ delivery: ['held', 'pending'] }, ['4/1', '3/1']],
  ])('are selected by %j', async (selection, expected) => {
    await lives();
    expect(await listed(selection)).toEqual(expected);
  });

  it("are by default of the last seven days in the partner's time zone", async () => {
    story.settings = { timeZone: 'America/New_York' };
    // It is 03:00 there, and the day before in the partner's zone.
    await story.show(of(1));
    story.clock.advance({ hours: -4 });
    story.clock.advance({ hours: 6 * 24 });
    await story.show(of(2));
    expect(await listed()).toEqual(['2/1', '1/1']);
    expect(await listed({ from: '2026-11-21', to: '2026-11-21' })).toEqual(['1/1']);
    expect(await listed({ from: '2026-11-20', to: '2026-11-20' })).toEqual([]);
    // It is 23:59 of the seventh day, and a minute later.
    story.clock.advance({ hours: 20, minutes: 59 });
    expect(await listed()).toEqual(['2/1', '1/1']);
    story.clock.advance({ minutes: 1 });
    expect(await listed()).toEqual(['2/1']);
  });
});

describe('events of a certification', () => {
  it('that are unreadable are counted once, and hide no others', async () => {
    story = new IntegrationWithPast(database);
    await lives();
    await database.client.send(
      new UpdateItemCommand({
        TableName: database.tableName,
        Key: { pk: { S: `CERT#${story.name}#2` } },
        UpdateExpression: 'SET revision = :no',
        ExpressionAttributeValues: { ':no': { S: 'no number' } },
      }),
    );
    const pages = await resultsOf(story, 'events', { limit: 1 });
    expect(pages.flatMap(({ events }) => events.map(({ id }) => id))).toEqual([4, 3, 1, 1]);
    expect(pages.reduce((sum, { unreadable }) => sum + unreadable, 0)).toBe(1);
  });

  it('are looked for no further back than the first version, and else from the first day on', async () => {
    const latest = vi.spyOn(story.opsLedger, 'latest');
    const days = [{ from: '0000-01-01' }, { to: '0000-01-01' }, { from: '2026-02-01' }];
    for (const some of days) await asked(some);
    const [first, another] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
    expect(latest.mock.calls.map(([from]) => String(from))).toEqual([first, first, another]);
  });

  it('above the page cost no read of the item, if its certification has one event', async () => {
    const latest = vi.spyOn(story.opsLedger, 'latest');
    await asked({ from: '2026-11-20', after: '2026-11-21T08:00:00.000Z/5/2' });
    const isWanted = (id: number, revision: number, later: number) =>
      latest.mock.calls[0]?.[2]({ id, revision, at: Date.parse('2026-11-21T08:00:00Z') + later });
    expect([isWanted(5, 1, 1), isWanted(6, 1, 0)]).toEqual([false, false]);
    expect([isWanted(4, 1, 0), isWanted(5, 1, 0), isWanted(9, 1, -1)]).toEqual([true, true, true]);
    // It may have another event below.
    expect(isWanted(5, 2, 1)).toBe(true);
  });
});

describe('a call whose time ends', () => {
  /** Five events, and a ledger that takes so many seconds for each page. */
  const slowly = async (hoursApart: number, together: number, seconds: number) => {
    for (let id = 1; id <= 5; id += 1) {
      await story.show(of(id));
      story.clock.advance({ hours: hoursApart });
    }
    const opsLedger = new MemoryOpsLedger(story.memory, together);
    return among(opsLedger, async () => story.clock.advance({ seconds }));
  };

  it('returns the events found so far, and the next one resumes there', async () => {
    const slow = await slowly(1, 2, 30);
    const { events, next } = await asked({}, slow);
    expect(events.map(({ id }) => id)).toEqual([5, 4, 3, 2]);
    expect((await asked(next)).events.map(({ id }) => id)).toEqual([1]);
  });

  it('before its first event returns that it has stalled', async () => {
    const opsLedger = await slowly(24, 1, 60);
    const to = { command: 'events', to: '2026-11-21' };
    expect(await story.operate(to, 55, { opsLedger })).toMatchObject({
      ...{ ok: false, problem: { code: 'stalled' } },
      result: { events: [], next: { ...to, from: '2026-11-15' } },
    });
  });
});

/** The ledger, with a hook after each page of certifications. */
function among(opsLedger: OpsLedger, happens: () => Promise<void>): OpsLedger {
  return new Proxy(opsLedger, {
    get(target, name) {
      if (name !== 'latest' && name !== 'latestSince') return Reflect.get(target, name);
      return async function* (...looked: Parameters<OpsLedger['latest']>) {
        for await (const page of opsLedger[name](...looked)) {
          yield page;
          await happens();
        }
      };
    },
  });
}

/** A change of the ledger: its certification, and the time to the next change. */
const change = fc.record({
  id: fc.integer({ min: 1, max: 8 }),
  kind: fc.constantFrom('shown', 'withdrawn'),
  destiny: fc.constantFrom('pending', 'held'),
  laterMs: fc.constantFrom(0, 0, 1, 1_000, 90_000, 36 * 3_600_000),
});
type Coming = typeof change extends fc.Arbitrary<infer One> ? One : never;

let edits = 0;
async function comes({ id, kind, destiny, laterMs }: Coming): Promise<void> {
  edits += 1;
  story.clock.advance({ milliseconds: laterMs });
  if (kind === 'shown') await story.commit([of(id, { email: `e${edits}@example.org` })], destiny);
  const known = (await story.ledger.known([id])).get(id);
  if (kind === 'withdrawn' && known?.presence === 'present') await story.withdraw(id);
}

/** The ids of the ledger's events. */
const ofLedger = () =>
  [...story.memory.items].flatMap(([id, { history }]) =>
    history.map(({ revision }) => `${story.name}/${id}/${revision}`),
  );

describe('pages of events', () => {
  it('lose and repeat no event, for any changes between or during them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 25 }),
        fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 4 }),
        async (before, meanwhile, limits, together) => {
          story = new IntegrationWithPast();
          for (const one of before) await comes(one);
          const there = ofLedger();
          const batches = meanwhile.map((batch) =>
            batch.map((one) => ({ ...one, laterMs: Math.min(one.laterMs, 1_000) })),
          );
          const happens = async () => {
            for (const one of batches.shift() ?? []) await comes(one);
          };
          const opsLedger = among(new MemoryOpsLedger(story.memory, together), happens);
          const all: { event: string; at: string }[] = [];
          let next: object | undefined = { from: '2026-11-01' };
          for (let page = 0; next !== undefined; page += 1) {
            const limit = limits[page % limits.length];
            const answer = await asked({ ...next, limit }, opsLedger);
            all.push(...answer.events);
            ({ next } = answer);
            await happens();
          }
          const names = all.map(({ event }) => event);
          expect(new Set(names).size).toBe(names.length);
          expect(there.filter((event) => !names.includes(event))).toEqual([]);
          expect(names.filter((event) => !ofLedger().includes(event))).toEqual([]);
          const times = all.map(({ at }) => Date.parse(at));
          expect(times).toEqual(times.toSorted((a, b) => b - a));
        },
      ),
    );
  });
});
