import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { contract } from '../../../lambda/operations/contract.ts';
import type { OpsLedger } from '../../../lambda/operations/ops-ledger.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { MemoryOpsLedger } from '../../scaffold/memory-ops-ledger.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

const of = (id: number, more: Partial<Assessment> = {}): Assessment => ({
  ...assessment({ id }),
  ...more,
});

async function asked(more: object = {}, opsLedger: OpsLedger = story.opsLedger) {
  const answer = await story.operate({ command: 'events', ...more }, 55, { opsLedger });
  expect(answer).toMatchObject({ ok: true });
  expect(JSON.stringify(answer)).not.toMatch(/Odalys|Quillfeather|@example/);
  return z.strictObject(contract.events.result.shape).parse(answer.result);
}

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
    story = new IntegrationWithPast(place === 'DynamoDB' ? database : undefined);
  });

  it('are the newest first, each with its delivery', async () => {
    await lives();
    const { events, ...rest } = await asked();
    expect(rest).toEqual({ unreadable: 0 });
    expect(events.map(({ id, revision }) => `${id}/${revision}`)).toEqual([
      ...['4/1', '3/1', '2/2', '2/1', '1/2', '1/1'],
    ]);
    expect(events).toMatchObject([
      { type: 'created', delivery: 'pending', organization_id: null, late: false },
      { type: 'created', delivery: 'held', day: '2016-02-03', late: true },
      { type: 'withdrawn', delivery: 'announced', presence: 'withdrawn', changed: [] },
      { type: 'created', delivery: 'announced', assessment_name: 'Dry Stone Walling' },
      { type: 'updated', delivery: 'announced', changed: ['email'], at: '2026-11-22T08:00:00Z' },
      { type: 'created', event: `${story.name}/1/1`, at: '2026-11-21T08:00:00Z' },
    ]);
  });

  it('are selected by day, type, organization, assessment, lateness and delivery', async () => {
    await lives();
    expect(await listed({ from: '2026-11-22', to: '2026-11-22' })).toEqual(['2/1', '1/2']);
    expect(await listed({ to: '2026-11-21' })).toEqual(['1/1']);
    expect(await listed({ types: ['updated', 'withdrawn'] })).toEqual(['2/2', '1/2']);
    expect(await listed({ organizations: [8] })).toEqual(['2/2', '2/1']);
    expect(await listed({ assessments: ['Dry Stone Walling'] })).toEqual(['2/2', '2/1']);
    expect(await listed({ late: true })).toEqual(['3/1']);
    expect(await listed({ late: false, types: ['created'] })).toEqual(['4/1', '2/1', '1/1']);
    expect(await listed({ delivery: ['held', 'pending'] })).toEqual(['4/1', '3/1']);
    expect(await listed({ organizations: [99] })).toEqual([]);
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

  it('come in pages that resume where the last one stopped', async () => {
    await lives();
    const first = await asked({ limit: 4 });
    expect(first.next).toEqual({
      ...{ command: 'events', from: '2026-11-17', limit: 4 },
      after: '2026-11-22T08:00:00.000Z/2/1',
    });
    const second = await asked({ ...first.next });
    expect(second.events.map(({ event }) => event)).toEqual([
      ...[`${story.name}/1/2`, `${story.name}/1/1`],
    ]);
    expect(second).not.toHaveProperty('next');
  });
});

describe('events of a certification', () => {
  beforeEach(() => {
    story = new IntegrationWithPast(database);
  });

  it('that are unreadable are counted once, and hide no others', async () => {
    await lives();
    await database.client.send(
      new UpdateItemCommand({
        TableName: database.tableName,
        Key: { pk: { S: `CERT#${story.name}#2` } },
        UpdateExpression: 'SET revision = :no',
        ExpressionAttributeValues: { ':no': { S: 'no number' } },
      }),
    );
    const pages = [await asked({ limit: 1 })];
    for (let next = pages[0]?.next; next; next = pages.at(-1)?.next) pages.push(await asked(next));
    expect(pages.flatMap(({ events }) => events.map(({ id }) => id))).toEqual([4, 3, 1, 1]);
    expect(pages.reduce((sum, { unreadable }) => sum + unreadable, 0)).toBe(1);
  });

  it('are not looked for in months before the first version, for any days', async () => {
    await story.show(of(1));
    let pages = 0;
    const counted = among(story.opsLedger, async () => {
      pages += 1;
    });
    for (const days of [{ from: '0000-01-01' }, { to: '0000-01-01' }, { from: '0001-01-01' }])
      await asked(days, counted);
    expect(pages).toBeLessThan(3 * 20);
    const { events } = await asked({ from: '0001-01-01', to: '9999-12-31' });
    expect(events).toMatchObject([{ id: 1 }]);
  });

  it('above the page cost no read of the item, if its certification has one event', async () => {
    for (let id = 1; id <= 20; id += 1) {
      await story.show(of(id));
      story.clock.advance({ minutes: 5 });
    }
    const { next } = await asked({ limit: 19 });
    expect(await itemsRead(() => asked({ ...next }))).toBe(1);
    await story.show(of(20, { email: 'anew@example.org' }));
    // The certification may have another event below.
    expect(await itemsRead(() => asked({ ...next }))).toBe(2);
  });
});

/** The number of items that this work reads in batches. */
async function itemsRead(work: () => Promise<unknown>): Promise<number> {
  const read = new Set<string>();
  database.client.middlewareStack.add(
    (next) => async (call) => {
      const { data } = batchGet.safeParse(call.input);
      for (const { Keys } of Object.values(data?.RequestItems ?? {}))
        for (const key of Keys) read.add(JSON.stringify(key));
      return next(call);
    },
    { name: 'items', step: 'initialize' },
  );
  await work().finally(() => database.client.middlewareStack.remove('items'));
  return read.size;
}

const batchGet = z.object({
  RequestItems: z.record(z.string(), z.object({ Keys: z.array(z.unknown()) })),
});

describe('a call whose time ends', () => {
  beforeEach(() => {
    story = new IntegrationWithPast();
  });

  it('returns the events found so far, and the next one resumes there', async () => {
    for (let id = 1; id <= 5; id += 1) {
      await story.show(of(id));
      story.clock.advance({ minutes: 5 });
    }
    const slow = slowly(new MemoryOpsLedger(story.memory, 2), 30);
    const pages = [await asked({}, slow)];
    for (let next = pages[0]?.next; next; next = pages.at(-1)?.next)
      pages.push(await asked(next, slowly(new MemoryOpsLedger(story.memory, 2), 15)));
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flatMap(({ events }) => events.map(({ id }) => id))).toEqual([5, 4, 3, 2, 1]);
  });

  it('before its first event returns that it has stalled', async () => {
    for (let id = 1; id <= 5; id += 1) {
      await story.show(of(id));
      story.clock.advance({ hours: 24 });
    }
    const slow = slowly(new MemoryOpsLedger(story.memory, 1), 60);
    const to = { command: 'events', to: '2026-11-21' };
    expect(await story.operate(to, 55, { opsLedger: slow })).toMatchObject({
      ...{ ok: false, problem: { code: 'stalled' } },
      result: { events: [], next: { ...to, from: '2026-11-15' } },
    });
  });
});

/** The ledger, with so many seconds for each page. */
function slowly(opsLedger: MemoryOpsLedger, seconds: number): OpsLedger {
  return among(opsLedger, async () => story.clock.advance({ seconds }));
}

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
