import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { dynamoStore, StoreUnavailableError } from '../../consumer/dynamodb.ts';
import {
  ClaimLostError,
  type HandledStore,
  type Handling,
  InHandError,
  inOrder,
  memoryStore,
  onlyOnce,
  parseEvent,
} from '../../consumer/index.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { event } from './events.ts';
import { startHandledTables } from './handled-table.ts';

const tables = await startHandledTables();
afterAll(() => tables.close());

function storeIn(table: string, consumer = 'payroll') {
  return dynamoStore({ client: tables.client, table, consumer });
}

const stores: [string, () => Promise<HandledStore>][] = [
  ['memory', async () => memoryStore()],
  ['DynamoDB', async () => storeIn(await tables.create())],
];

/** Begins with an event. @returns a function that ends its handler, with the outcome */
async function begun(handling: Handling<string>, one = event()) {
  const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const outcome = handling(one, () => {
    started.resolve();
    return gate.promise;
  });
  await started.promise;
  return () => {
    gate.resolve();
    return outcome;
  };
}
const nothing = async () => {};

/** `2:7r` is revision 7 of assessment 2 as a replay; `2:7?` is of a later version. */
function eventOf(text: string) {
  const [, id, revision, more] = /(\d+):(\d+)(.?)/.exec(text) ?? [];
  const one = event({ id: Number(id), revision: Number(revision), replay: more === 'r' });
  return parseEvent(more === '?' ? { ...one, type: 'certification.merged' } : one);
}

describe.each(stores)('with a store in %s', (_, newStore) => {
  const replays = 'handle';

  it.each([
    ['its first delivery only', onlyOnce, {}, '1:1 1:1 1:2', 'handled duplicate handled'],
    ['no replay after that', onlyOnce, {}, '1:2 1:2r', 'handled duplicate'],
    ['each requested replay', onlyOnce, { replays }, '1:2 1:2r 1:2', 'handled handled duplicate'],
    ['its newest revision', inOrder, {}, '1:2 1:1 1:2 1:3', 'handled outdated outdated handled'],
    ['it apart from others', inOrder, {}, '1:2 2:1', 'handled handled'],
    ['a number behind 9', inOrder, {}, '1:9 1:10', 'handled handled'],
    ['an unknown replay', inOrder, {}, '1:1r', 'handled'],
    ['a later version, too', inOrder, {}, '1:3? 1:2', 'handled outdated'],
    ['its newest replay', inOrder, { replays }, '1:2 1:1r 1:2r', 'handled outdated handled'],
  ] as const)('of an assessment, a handler gets %s', async (_, handlingOf, options, sent, told) => {
    const handling = handlingOf(await newStore(), options);
    const outcomes: string[] = [];
    const seen: string[] = [];
    for (const one of sent.split(' '))
      outcomes.push(await handling(eventOf(one), async ({ id }) => seen.push(id)));
    expect(outcomes.join(' ')).toBe(told);
    expect(seen).toHaveLength(outcomes.filter((one) => one === 'handled').length);
  });

  it('an event whose handler failed is handled again at once', async () => {
    const once = onlyOnce(await newStore());
    const broken = () => Promise.reject(new RangeError('broken'));
    await expect(once(event(), broken)).rejects.toThrow(RangeError);
    expect(await once(event(), nothing)).toBe('handled');
  });

  it('one of several workers with the same event handles it, and the others leave it', async () => {
    const store = await newStore();
    const gate = Promise.withResolvers<void>();
    const outcomes: unknown[] = [];
    const work = async () => {
      outcomes.push(await onlyOnce(store)(event(), () => gate.promise).catch(({ code }) => code));
      if (outcomes.length === 7) gate.resolve();
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(outcomes).toEqual([...Array(7).fill('in-hand'), 'handled']);
  });

  it('while one is in hand, a newer event of the assessment is left', async () => {
    const handling = inOrder(await newStore());
    const first = await begun(handling);
    await expect(handling(event({ revision: 2 }), nothing)).rejects.toThrow(InHandError);
    expect(await first()).toBe('handled');
    expect(await handling(event({ revision: 2 }), nothing)).toBe('handled');
  });

  it('the event of a dead worker is handled again after its claim, and not before', async () => {
    const clock = new ManualClock();
    const once = onlyOnce(await newStore(), { clock, claimFor: { seconds: 90 } });
    await begun(once);
    clock.advance({ seconds: 89 });
    await expect(once(event(), nothing)).rejects.toThrow(InHandError);
    clock.advance({ seconds: 1 });
    expect(await once(event(), nothing)).toBe('handled');
  });

  it.each([
    ['the same event', onlyOnce, 1, 'duplicate'],
    ['a newer event of the assessment', inOrder, 5, 'outdated'],
  ] as const)('a handler learns that its claim was lost to %s', async (_, of, revision, after) => {
    const clock = new ManualClock();
    const handling = of(await newStore(), { clock });
    const late = await begun(handling);
    clock.advance({ minutes: 5 });
    const next = await begun(handling, event({ revision }));
    await expect(late()).rejects.toThrow(ClaimLostError);
    expect(await next()).toBe('handled');
    expect(await handling(event(), nothing)).toBe(after);
  });

  it('a handler that outlasted its claim has handled the event if no other began', async () => {
    const clock = new ManualClock();
    const once = onlyOnce(await newStore(), { clock });
    const late = await begun(once);
    clock.advance({ hours: 1 });
    expect(await late()).toBe('handled');
    expect(await once(event(), nothing)).toBe('duplicate');
  });

  it('a request that is repeated after a lost answer has the first answer', async () => {
    const store = await newStore();
    const now = new ManualClock().now();
    const until = now.add({ seconds: 9 });
    const claim = { key: 'k', position: 1, again: false, owner: 'me', now, until };
    for (const _ of [1, 2]) expect(await store.claim(claim)).toBe('granted');
    for (const _ of [1, 2]) expect(await store.settle(claim, 'handled')).toBe(true);
    expect(await store.claim(claim)).toBe('handled');
  });
});

const aDay = { remember: { hours: 24 } };
it.each([
  ['for ever', {}, { hours: 24 * 365 * 20 }, 'duplicate'],
  ['for the configured time', aDay, { hours: 23, minutes: 59 }, 'duplicate'],
  ['no longer', aDay, { hours: 24 }, 'handled'],
])('a handled event is remembered %s', async (_, remembering, after, told) => {
  const clock = new ManualClock();
  const once = onlyOnce(memoryStore(), { clock, ...remembering });
  await once(event(), nothing);
  clock.advance(after);
  expect(await once(event({ replay: true }), nothing)).toBe(told);
});

describe('the store of handled events in DynamoDB', () => {
  it("lets DynamoDB forget an event on request, and never an assessment's progress", async () => {
    const table = await tables.create();
    const store = storeIn(table);
    const clock = new ManualClock('2026-11-21T08:00:00Z');
    await onlyOnce(store, { clock, ...aDay })(event(), nothing);
    await onlyOnce(store, { clock })(event({ revision: 2 }), nothing);
    await inOrder(store, { clock })(event(), nothing);
    const itemOf = async (key: string) => {
      const Key = { pk: { S: `HANDLED#payroll#${key}` } };
      return (await tables.client.send(new GetItemCommand({ TableName: table, Key }))).Item;
    };
    const forget_at = { N: String(Date.parse('2026-11-22T08:00:00Z') / 1000) };
    const handled = { N: '1' };
    expect(await itemOf('event district-a/48213/1')).toMatchObject({ handled, forget_at });
    const subject = 'subject urn:certification-notifier:district-a 48213';
    for (const item of [await itemOf('event district-a/48213/2'), await itemOf(subject)]) {
      expect(item).toMatchObject({ handled });
      expect(item).not.toHaveProperty('forget_at');
    }
  });

  it('separates the events of two consumers with one table, also in order', async () => {
    const table = await tables.create();
    for (const handle of [onlyOnce, inOrder]) {
      const done: string[] = [];
      for (const consumer of ['payroll', 'letters', 'payroll'])
        await handle(storeIn(table, consumer))(event(), async () => {
          done.push(consumer);
        });
      expect(done).toEqual(['payroll', 'letters']);
    }
  });

  it.each(['', 'a#b', 'a b', 'x'.repeat(65), undefined])(
    'is refused without a proper consumer name: %j',
    (consumer) => {
      const options = { client: tables.client, table: 'handled', consumer };
      const unnamed = expect.objectContaining({ code: 'consumer-unnamed' });
      expect(() => Reflect.apply(dynamoStore, undefined, [options])).toThrow(unnamed);
    },
  );

  it('reports its failure, and the handler is not run', async () => {
    const handler = vi.fn(nothing);
    const attempt = onlyOnce(storeIn('not-there'))(event(), handler);
    await expect(attempt).rejects.toThrow(StoreUnavailableError);
    expect(handler).not.toHaveBeenCalled();
  });
});
