import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoStore, StoreUnavailableError } from '../../consumer/dynamodb.ts';
import {
  ClaimLostError,
  type HandledStore,
  InHandError,
  inOrder,
  memoryStore,
  onlyOnce,
  parseEvent,
} from '../../consumer/index.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { event } from './events.ts';
import { startHandledTables } from './handled-table.ts';

let tables: Awaited<ReturnType<typeof startHandledTables>>;

beforeAll(async () => {
  tables = await startHandledTables();
});
afterAll(() => tables.close());

function storeIn(table: string, consumer = 'payroll') {
  return dynamoStore({ client: tables.client, table, consumer });
}

const stores: [string, () => Promise<HandledStore>][] = [
  ['memory', async () => memoryStore()],
  ['DynamoDB', async () => storeIn(await tables.create())],
];

/** A handler that waits for a signal. */
function slow() {
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  const { promise: gate, resolve: finish } = Promise.withResolvers<void>();
  return {
    started,
    finish,
    handler: () => {
      start();
      return gate;
    },
  };
}

describe.each(stores)('with a store in %s', (_, newStore) => {
  const nothing = async () => {};
  const broken = async () => {
    throw new RangeError('broken');
  };

  it('an event is handled once, and its duplicates are recognized', async () => {
    const once = onlyOnce(await newStore());
    const seen: string[] = [];
    const note = async ({ id }: { id: string }) => seen.push(id);
    expect(await once(event(), note)).toBe('handled');
    expect(await once(event(), note)).toBe('duplicate');
    expect(await once(event({ revision: 2 }), note)).toBe('handled');
    expect(seen).toEqual(['district-a/48213/1', 'district-a/48213/2']);
  });

  it('an event whose handler failed is handled again at once', async () => {
    const once = onlyOnce(await newStore());
    await expect(once(event(), broken)).rejects.toThrow(RangeError);
    expect(await once(event(), nothing)).toBe('handled');
  });

  it('one of several workers with the same event handles it, and the others leave it', async () => {
    const store = await newStore();
    const { handler, finish } = slow();
    let left = 0;
    const attempts = Array.from({ length: 8 }, () =>
      onlyOnce(store)(event(), handler).catch((error) => {
        left += 1;
        if (left === 7) finish();
        return error.constructor;
      }),
    );
    const outcomes = await Promise.all(attempts);
    expect(outcomes.filter((one) => one === 'handled')).toHaveLength(1);
    expect(outcomes.filter((one) => one === InHandError)).toHaveLength(7);
  });

  it('an event in hand is not called a duplicate, since its worker may still die', async () => {
    const store = await newStore();
    const { handler, finish, started } = slow();
    const first = onlyOnce(store)(event(), handler);
    await started;
    await expect(onlyOnce(store)(event(), nothing)).rejects.toThrow(InHandError);
    finish();
    expect(await first).toBe('handled');
    expect(await onlyOnce(store)(event(), nothing)).toBe('duplicate');
  });

  it('the event of a dead worker is handled again after its claim, and not before', async () => {
    const store = await newStore();
    const clock = new ManualClock();
    const once = onlyOnce(store, { clock, claimFor: { seconds: 90 } });
    const { handler, started } = slow();
    void once(event(), handler);
    await started;
    clock.advance({ seconds: 89 });
    await expect(once(event(), nothing)).rejects.toThrow(InHandError);
    clock.advance({ seconds: 1 });
    expect(await once(event(), nothing)).toBe('handled');
  });

  it('a handler that outlasted its claim learns that another one has begun', async () => {
    const store = await newStore();
    const clock = new ManualClock();
    const once = onlyOnce(store, { clock });
    const [first, second] = [slow(), slow()];
    const late = once(event(), first.handler);
    await first.started;
    clock.advance({ minutes: 5 });
    const next = once(event(), second.handler);
    await second.started;
    first.finish();
    await expect(late).rejects.toThrow(ClaimLostError);
    second.finish();
    expect(await next).toBe('handled');
    expect(await once(event(), nothing)).toBe('duplicate');
  });

  it('a handler that outlasted its claim has handled the event if no other began', async () => {
    const clock = new ManualClock();
    const once = onlyOnce(await newStore(), { clock });
    const { handler, finish, started } = slow();
    const late = once(event(), handler);
    await started;
    clock.advance({ hours: 1 });
    finish();
    expect(await late).toBe('handled');
  });

  it('in order, an event older than a handled one is outdated, for each assessment separately', async () => {
    const ordered = inOrder(await newStore());
    const outcomes: string[] = [];
    for (const [id, revision] of [
      [1, 2],
      [1, 1],
      [1, 2],
      [2, 1],
      [1, 3],
      [1, 2],
    ] as const)
      outcomes.push(await ordered(event({ id, revision }), nothing));
    expect(outcomes).toEqual(['handled', 'outdated', 'outdated', 'handled', 'handled', 'outdated']);
  });

  it('in order, compares sequences as numbers', async () => {
    const ordered = inOrder(await newStore());
    await ordered(event({ revision: 9 }), nothing);
    expect(await ordered(event({ revision: 10 }), nothing)).toBe('handled');
  });

  it('in order, two events of one assessment are not in hand at once', async () => {
    const store = await newStore();
    const { handler, finish, started } = slow();
    const older = inOrder(store)(event({ revision: 1 }), handler);
    await started;
    await expect(inOrder(store)(event({ revision: 2 }), nothing)).rejects.toThrow(InHandError);
    finish();
    expect(await older).toBe('handled');
    expect(await inOrder(store)(event({ revision: 2 }), nothing)).toBe('handled');
  });

  it('in order, a late worker cannot record an older event', async () => {
    const store = await newStore();
    const clock = new ManualClock();
    const ordered = inOrder(store, { clock });
    const { handler, finish, started } = slow();
    const late = ordered(event({ revision: 1 }), handler);
    await started;
    clock.advance({ hours: 1 });
    await ordered(event({ revision: 5 }), nothing);
    finish();
    await expect(late).rejects.toThrow(ClaimLostError);
    expect(await ordered(event({ revision: 4 }), nothing)).toBe('outdated');
  });

  it('a replay of a handled event is skipped, unless requested', async () => {
    const store = await newStore();
    const replay = event({ revision: 2, replay: true });
    await onlyOnce(store)(event({ revision: 2 }), nothing);
    expect(await onlyOnce(store)(replay, nothing)).toBe('duplicate');
    const again = onlyOnce(store, { replays: 'handle' });
    expect(await again(replay, nothing)).toBe('handled');
    expect(await again(event({ revision: 2 }), nothing)).toBe('duplicate');
  });

  it('a requested replay does not bring back an older event', async () => {
    const store = await newStore();
    const ordered = inOrder(store, { replays: 'handle' });
    await ordered(event({ revision: 2 }), nothing);
    expect(await ordered(event({ revision: 1, replay: true }), nothing)).toBe('outdated');
    expect(await ordered(event({ revision: 2, replay: true }), nothing)).toBe('handled');
    expect(await ordered(event({ revision: 2 }), nothing)).toBe('outdated');
  });

  it('a replay of an unhandled event is handled', async () => {
    expect(await inOrder(await newStore())(event({ replay: true }), nothing)).toBe('handled');
  });

  it('an event of a later version is handled once and in order, too', async () => {
    const store = await newStore();
    const later = parseEvent({ ...event({ revision: 3 }), type: 'certification.merged' });
    expect(await inOrder(store)(later, nothing)).toBe('handled');
    expect(await inOrder(store)(event({ revision: 2 }), nothing)).toBe('outdated');
  });

  it('a request that is repeated after a lost answer has the first answer', async () => {
    const store = await newStore();
    const now = new ManualClock().now();
    const claim = {
      key: 'k',
      position: 1,
      again: false,
      owner: 'me',
      now,
      until: now.add({ seconds: 9 }),
    };
    expect(await store.claim(claim)).toBe('granted');
    expect(await store.claim(claim)).toBe('granted');
    expect(await store.settle(claim, 'handled')).toBe(true);
    expect(await store.settle(claim, 'handled')).toBe(true);
    expect(await store.claim(claim)).toBe('handled');
  });
});

describe('a handled event', () => {
  const nothing = async () => {};

  it('is remembered for ever, so a replay years later is a duplicate', async () => {
    const clock = new ManualClock('2026-11-21T08:00:00Z');
    const once = onlyOnce(memoryStore(), { clock });
    await once(event(), nothing);
    clock.advance({ hours: 24 * 365 * 20 });
    expect(await once(event({ replay: true }), nothing)).toBe('duplicate');
  });

  it('is forgotten after the configured time, and not before', async () => {
    const clock = new ManualClock('2026-11-21T08:00:00Z');
    const once = onlyOnce(memoryStore(), { clock, remember: { hours: 24 } });
    await once(event(), nothing);
    clock.advance({ hours: 23, minutes: 59 });
    expect(await once(event(), nothing)).toBe('duplicate');
    clock.advance({ minutes: 1 });
    expect(await once(event(), nothing)).toBe('handled');
  });
});

describe('the store of handled events in DynamoDB', () => {
  it('forgets nothing by default', async () => {
    const { client } = tables;
    const table = await tables.create();
    await onlyOnce(storeIn(table))(event(), async () => {});
    const Key = { pk: { S: 'HANDLED#payroll#event district-a/48213/1' } };
    const { Item } = await client.send(new GetItemCommand({ TableName: table, Key }));
    expect(Item).toMatchObject({ handled: { N: '1' } });
    expect(Item).not.toHaveProperty('forget_at');
  });

  it("lets DynamoDB forget an event, and never an assessment's progress", async () => {
    const { client } = tables;
    const table = await tables.create();
    const store = storeIn(table);
    const clock = new ManualClock('2026-11-21T08:00:00Z');
    await onlyOnce(store, { clock, remember: { hours: 24 } })(event(), async () => {});
    await inOrder(store, { clock })(event(), async () => {});
    const item = async (pk: string) =>
      (await client.send(new GetItemCommand({ TableName: table, Key: { pk: { S: pk } } }))).Item;
    expect(await item('HANDLED#payroll#event district-a/48213/1')).toMatchObject({
      handled: { N: '1' },
      forget_at: { N: String(Date.parse('2026-11-22T08:00:00Z') / 1000) },
    });
    const subject = await item(
      'HANDLED#payroll#subject urn:certification-notifier:district-a 48213',
    );
    expect(subject).toMatchObject({ handled: { N: '1' } });
    expect(subject).not.toHaveProperty('forget_at');
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
      expect(() => Reflect.apply(dynamoStore, undefined, [options])).toThrow(
        expect.objectContaining({ code: 'consumer-unnamed' }),
      );
    },
  );

  it('reports its failure, and the handler is not run', async () => {
    const once = onlyOnce(storeIn('not-there'));
    let runs = 0;
    const attempt = once(event(), async () => {
      runs += 1;
    });
    await expect(attempt).rejects.toThrow(StoreUnavailableError);
    expect(runs).toBe(0);
  });
});
