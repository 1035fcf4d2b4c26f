import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { ResourceUnusableError } from '../../../lambda/access-denied.ts';
import { systemClock } from '../../../lambda/clock.ts';
import { type GateMemory, nothingFound } from '../../../lambda/detection/gate.ts';
import type { Missing } from '../../../lambda/detection/missing.ts';
import { dynamoLedger } from '../../../lambda/ledger/dynamo-ledger.ts';
import { LedgerCorruptError, LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { Table } from '../../../lambda/ledger/table.ts';
import type { Journal } from '../../../lambda/ports/journal.ts';
import type { Ledger } from '../../../lambda/ports/ledger.ts';
import { noLease } from '../../../lambda/ports/state.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { assessment } from '../../support/assessments.ts';
import { LedgerInUse, later, now } from './ledgers.ts';

// The tests beside this one hold each ledger's behaviour. This file holds the items in DynamoDB.

const database = ledgersInDynamoDb();
let table: Table;
let ledger: Ledger;
let used: LedgerInUse;
let integration: string;
let integrations = 0;
const warnings: string[] = [];
const journal: Journal = { warn: (what) => warnings.push(what) };

beforeEach(() => {
  integrations += 1;
  integration = `district-${integrations}`;
  warnings.length = 0;
  table = database.table(systemClock);
  const ledgers = database.of(integration, systemClock, journal);
  ledger = ledgers.ledger;
  used = new LedgerInUse(ledgers, integration);
});

const { id } = assessment();
const renamed = assessment({ name: 'Odalys Ashgrove' });

async function item(id: number) {
  const { Item } = await database.client.send(
    new GetItemCommand({
      TableName: database.tableName,
      Key: { pk: { S: `CERT#${integration}#${id}` } },
    }),
  );
  return Item && unmarshall(Item);
}

describe('the item of the state', () => {
  it('has its own salt, made by the first of several ticks', async () => {
    const other = dynamoLedger(table, integration, journal);
    const [one, two] = await Promise.all([ledger.state(), other.state()]);
    expect(one).toEqual(two);
    const neighbour = dynamoLedger(table, `${integration}-b`, journal);
    expect((await neighbour.state()).salt).not.toBe(one.salt);
  });

  it.each([
    ['STATE', { flood: { is_flooded: true, passed_edits: [{ since: 4, number: 3 }] } }],
    ['MEMORY', { gate: { counted: 'otherwise' } }],
  ])(
    "left by another version, %s with %j, is accepted, and the gate's memory is empty",
    async (item, left) => {
      await table.putAll([{ pk: `STATE#${integration}`, salt: 'salt', expected: 3 }]);
      await table.putAll([{ pk: `${item}#${integration}`, salt: 'salt', expected: 3, ...left }]);
      const lease = { owner: 'a', until: later };
      expect(await ledger.takeLease(lease, now)).toMatchObject({ expected: 3, gate: nothingFound });
    },
  );
});

describe('the marks of the newest page', () => {
  it('are ignored after another version had the lease, which does not know them and leaves them', async () => {
    await ledger.state();
    const lease = { owner: 'new', until: later };
    await ledger.takeLease(lease, now);
    const end = { agreed: ['aB3dE6gH'], dirtySince: undefined, ...noLease };
    expect(await ledger.saveState(end, lease)).toBe(true);
    await table.update(`MEMORY#${integration}`, { set: { schema: 1, lease_owner: 'older' } });
    const state = await ledger.takeLease({ owner: 'new again', until: later }, now);
    expect(state).not.toHaveProperty('agreed');
  });

  it("are ignored in another version's format", async () => {
    await ledger.state();
    const left = { lease_owner: 'newer', agreed_by: 'newer', agreed: { of: 'another kind' } };
    await table.putAll([{ pk: `MEMORY#${integration}`, ...left }]);
    const state = await ledger.takeLease({ owner: 'a', until: later }, now);
    expect(state).toMatchObject({ gate: nothingFound });
    expect(state).not.toHaveProperty('agreed');
  });
});

describe('the item of a certification', () => {
  it('is under its day in the index, and after a move only under the new one', async () => {
    const before = assessment();
    await used.create(before);
    await used.update({ ...before, certified_on: '2024-02-29' });
    expect(await item(id)).toMatchObject({
      integration_day: `${integration}#2024-02-29`,
      day: '2024-02-29',
    });
  });

  it('leaves the index of the undelivered with the last entry of its outbox', async () => {
    const owed = await used.create(assessment());
    expect(await item(id)).toMatchObject({ undelivered: `${integration}#pending` });
    await ledger.settle([owed], 'nothing');
    expect(await item(id)).toMatchObject({ outbox: {} });
    expect(await item(id)).not.toHaveProperty('undelivered');
  });

  it('is read also without the time when it was first seen', async () => {
    await used.create(assessment());
    await table.update(`CERT#${integration}#${id}`, { set: { first_seen: undefined } });
    const lives = await ledger.lives([id]);
    expect(lives.get(id)).toMatchObject({ firstSeen: undefined, revisions: [{ revision: 1 }] });
    expect(warnings).toEqual([]);
  });

  it('has no personal data once all its events were delivered', async () => {
    await ledger.settle([await used.create(assessment())], 'nothing');
    const mine = (await database.items(integration)).map((raw) => unmarshall(raw));
    expect(mine).not.toEqual([]);
    expect(JSON.stringify(mine)).not.toMatch(/Odalys|Quillfeather|SEID|@|Larkspur|Thornbury/);
  });

  it('is filed under the remaining entries when one of several is settled', async () => {
    const first = await used.create(assessment());
    const second = await used.update(renamed);
    await ledger.settle([first], 'digest');
    expect(await item(id)).toMatchObject({ undelivered: `${integration}#pending` });
    await ledger.settle([second], 'nothing');
    expect(await item(id)).toMatchObject({ undelivered: `${integration}#digest` });
  });

  it('is filed as held, and each entry has its own mark', async () => {
    const first = await used.create(assessment());
    await used.update(renamed, later, 'held');
    await ledger.settle([first], 'nothing');
    expect(await item(id)).toMatchObject({
      undelivered: `${integration}#held`,
      outbox: { '2': { held: true } },
    });
  });

  it('with an event behind a held one is filed as held', async () => {
    await used.create(assessment(), now, 'held');
    await used.update(renamed);
    expect(await item(id)).toMatchObject({ undelivered: `${integration}#held` });
  });

  it('is filed again by the next read if a crash left it under the wrong place', async () => {
    await used.create(assessment(), now, 'held');
    await table.putAll([{ ...(await item(id)), undelivered: `${integration}#pending` }]);
    expect(await used.leftovers()).toEqual([]);
    expect(await item(id)).toMatchObject({ undelivered: `${integration}#held` });
  });

  it('has the code with which SNS refused an event for good', async () => {
    await used.park(await used.create(assessment()));
    const refused = {
      undelivered: `${integration}#undeliverable`,
      outbox: { '1': { undeliverable: 'InvalidParameter' } },
    };
    expect(await item(id)).toMatchObject(refused);
    await ledger.settle([await used.update(renamed)], 'nothing');
    expect(await item(id)).toMatchObject(refused);
  });

  it('that is older than histories begins one with the next change', async () => {
    await used.create(assessment());
    const { 'revision:1': _, ...old } = (await item(id)) ?? {};
    await table.putAll([old]);
    expect((await ledger.lives([id])).get(id)?.revisions).toEqual([]);
    await used.update(renamed);
    expect((await ledger.lives([id])).get(id)?.revisions).toMatchObject([{ revision: 2 }]);
  });
});

describe("the item of the lease holder's memory", () => {
  const lease = { owner: 'a', until: later };
  const at = now.epochMilliseconds;
  const missing: Missing = {
    ...{ total: 300, tooManySince: at, lookAt: at, accepted: 0, withdrawn: [] },
    notes: Array.from({ length: 300 }, (_, id) => ({ id, day: '2024-02-29', since: at })),
  };
  const gate: GateMemory = {
    found: [{ at, known: 10_000, created: 500, updated: 0, restored: 0 }],
    edits: [],
    unsettled: Array.from({ length: 500 }, (_, id) => ({ id, revision: 1, at, isOut: true })),
  };

  /**
   * A ledger that fails some writes of the memory as they are sent. @returns it, and the items that
   * were written
   */
  function failing(isHit: (key: string) => boolean) {
    const keys: string[] = [];
    const update: Table['update'] = async (key, input) => {
      if (isHit(key)) throw new LedgerUnavailableError('UpdateItem', {});
      keys.push(key);
      return table.update(key, input);
    };
    const faulty = Object.assign(Object.create(table), { update });
    return { faulty: dynamoLedger(faulty, integration, journal), keys };
  }

  it('is separate from the state, and only the holder of the lease reads it', async () => {
    await ledger.state();
    await ledger.takeLease(lease, now);
    await used.end(lease, now, { missing, gate });
    expect((await ledger.state()).missing).toEqual({ total: 300, tooManySince: at, lookAt: at });
    expect(await ledger.takeLease(lease, now)).toMatchObject({ missing, gate });
  });

  it('is written after the time of the next look', async () => {
    await ledger.state();
    await ledger.takeLease(lease, now);
    const { faulty } = failing((key) => key.startsWith('MEMORY#'));
    await expect(faulty.saveState({ missing }, lease)).rejects.toThrow(LedgerUnavailableError);
    expect((await ledger.state()).missing).toMatchObject({ lookAt: at });
    const known = await ledger.takeLease(lease, now);
    expect(known?.missing).toMatchObject({ lookAt: at, notes: [], withdrawn: [], accepted: 0 });
  });

  it('is written before the lease is given back', async () => {
    await ledger.state();
    await ledger.takeLease(lease, now);
    const { faulty } = failing((key) => key.startsWith('MEMORY#'));
    await expect(faulty.saveState({ gate, ...noLease }, lease)).rejects.toThrow(
      LedgerUnavailableError,
    );
    expect(await ledger.state()).toMatchObject({ leaseUntil: later, dirtySince: now });
  });

  it('cannot be written by a tick whose lease another one has taken', async () => {
    await ledger.state();
    await ledger.takeLease(lease, now);
    const next = { owner: 'b', until: later.add({ minutes: 2 }) };
    await ledger.takeLease(next, later.add({ seconds: 1 }));
    const { faulty, keys } = failing(() => false);
    expect(await faulty.saveState({ gate, ...noLease }, lease)).toBe(false);
    expect(keys).toEqual([`MEMORY#${integration}`]);
    expect(await ledger.takeLease(next, later)).toMatchObject({ gate: nothingFound });
  });

  it('gives the lease back if it cannot be read', async () => {
    await ledger.state();
    const { faulty } = failing((key) => key.startsWith('MEMORY#'));
    await expect(faulty.takeLease(lease, now)).rejects.toThrow(LedgerUnavailableError);
    expect(await ledger.takeLease({ ...lease, owner: 'b' }, now)).toBeDefined();
  });
});

describe('an outbox of hundreds', () => {
  it('is read only as far as requested', async () => {
    const ids = Array.from({ length: 201 }, (_, index) => index + 1);
    await Promise.all(ids.map((id) => used.create(assessment({ id }))));
    const reads: string[] = [];
    database.client.middlewareStack.add(
      (next, { commandName = '' }) =>
        (call) => {
          reads.push(commandName);
          return next(call);
        },
      { name: 'reads', step: 'initialize' },
    );
    for await (const { owed } of ledger.leftovers('event')) {
      expect(owed).toHaveLength(200);
      break;
    }
    database.client.middlewareStack.remove('reads');
    expect(reads).toEqual(['QueryCommand', 'BatchGetItemCommand', 'BatchGetItemCommand']);
  });
});

describe('a state item', () => {
  const pk = () => `STATE#${integration}`;

  it('has one attribute per field, named in snake case, and none for absent fields', async () => {
    const lease = { owner: 'a', until: later };
    const { salt } = await ledger.state();
    await ledger.takeLease(lease, now);
    await ledger.saveState({ pace: { since: 1, sent: 2 }, pulseDigest: 'seen' });
    const startDay = Temporal.PlainDate.from('2026-11-21');
    const bookmark = { range: { to: startDay }, offset: 9, anchors: [1] };
    await ledger.saveState({ baseline: { status: 'running', startDay, bookmark } }, lease);
    await ledger.saveState({
      pace: undefined,
      conditions: new Map([['held', { since: 3, number: 4 }]]),
    });
    await used.end(lease, now, { dueAt: 7 });
    expect(await table.get(pk())).toEqual({
      pk: pk(),
      schema: 1,
      salt,
      dirty_since: now.epochMilliseconds,
      pulse_digest: 'seen',
      baseline: {
        status: 'running',
        start_day: '2026-11-21',
        bookmark: { range: { to: '2026-11-21' }, offset: 9, anchors: [1] },
      },
      'condition:held': { since: 3, number: 4 },
      due_at: 7,
      heartbeat: now.toString(),
    });
  });

  it("is read in the first version's format: null is absent, and an old place in the list is dropped", async () => {
    const place = { from: '2015-01-01', offset: 270, anchors: [4] };
    await table.putAll([
      {
        ...{ pk: pk(), schema: 1, salt: 'salt', accepted: null, digest: null, searching: null },
        baseline: { status: 'running', start_day: '2026-11-21', bookmark: place, is_anew: false },
        cursor: { ...place, day: '2015-01-01', count: 400 },
        flood: { is_flooded: true, doubtful_until: 5 },
      },
    ]);
    const state = await ledger.state();
    expect(state).toMatchObject({ baseline: { status: 'running', isAnew: false } });
    expect([state.cursor, state.baseline.bookmark]).toEqual([undefined, undefined]);
    expect(state).not.toHaveProperty('digest');
    expect(state).not.toHaveProperty('searching');
  });

  it.each([
    ['salt', { salt: '' }],
    ['baseline', { baseline: { status: 'running' } }],
    ['baseline.startDay', { baseline: { status: 'completed', start_day: '2026-02-30' } }],
    ['dueAt', { due_at: 'soon' }],
    ['missing.total', { missing: { total: '1' } }],
    ['conditions', { 'condition:held': { since: 'then', number: 1 } }],
    ['leaseUntil', { lease_until: '2026-11-21' }],
  ])('that is malformed is named, with its field: %s', async (field, malformed) => {
    await table.putAll([{ pk: pk(), schema: 1, salt: 'salt', ...malformed }]);
    const error: unknown = await ledger.state().catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(LedgerCorruptError);
    expect(String(error)).toContain(`The ledger item ${pk()} is not as written: ${field}`);
  });
});

describe('a failure', () => {
  it('of one item is reported and does not hide the others', async () => {
    await used.create(assessment({ id: 1 }));
    await used.create(assessment({ id: 2 }));
    await table.putAll([{ ...(await item(1)), revision: 'one' }]);
    expect([...(await ledger.known([1, 2])).keys()]).toEqual([2]);
    expect(warnings).toEqual(['ledger item unreadable']);
  });

  it('of one outbox entry is reported by its key and does not hide the others', async () => {
    await used.create(assessment({ id: 1 }));
    await used.create(assessment({ id: 2 }), later);
    const broken = {
      ...(await item(1)),
      outbox: { '1': { event: '{"name":', owes: 'event-and-digest' } },
    };
    await table.putAll([broken]);
    const [batch] = await Array.fromAsync(ledger.leftovers('event'));
    expect(batch?.owed.map(({ certificationId }) => certificationId)).toEqual([2]);
    expect(batch?.unreadable).toMatchObject([{ constructor: LedgerCorruptError }]);
    expect(batch?.unreadable[0]?.message).toContain(`CERT#${integration}#1`);
  });

  it('of a deleted table is a typed error with its cause, which no retry repairs', async () => {
    const nowhere = dynamoLedger(
      new Table(database.client, 'no-such-table', systemClock),
      'x',
      journal,
    );
    await expect(nowhere.state()).rejects.toMatchObject({
      constructor: ResourceUnusableError,
      retryHelps: false,
      message: expect.stringContaining('dynamodb:GetItem on the table no-such-table'),
      cause: { name: 'ResourceNotFoundException' },
    });
  });
});
