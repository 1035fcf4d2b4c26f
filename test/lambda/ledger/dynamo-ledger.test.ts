import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { ResourceUnusableError } from '../../../lambda/access-denied.ts';
import { systemClock } from '../../../lambda/clock.ts';
import { type GateMemory, nothingFound } from '../../../lambda/decisions/gate.ts';
import type { Missing } from '../../../lambda/decisions/missing.ts';
import { noLease } from '../../../lambda/decisions/state.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { dynamoLedger } from '../../../lambda/ledger/dynamo-ledger.ts';
import { LedgerCorruptError, LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { Table } from '../../../lambda/ledger/table.ts';
import type { Journal } from '../../../lambda/ports/journal.ts';
import type { Ledger } from '../../../lambda/ports/ledger.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { assessment } from '../../support/assessments.ts';
import { changesOf, LedgerInUse, later, now } from './ledgers.ts';

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
const lease = { owner: 'a', until: later };
const keyOf = (id: number) => `CERT#${integration}#${id}`;
const item = (one = id) => table.get(keyOf(one));

describe('the item of the state', () => {
  const pk = () => `STATE#${integration}`;

  it('has its own salt, made by the first of several ticks', async () => {
    const other = dynamoLedger(table, integration, journal);
    const [one, two] = await Promise.all([ledger.state(), other.state()]);
    expect(one).toEqual(two);
    const neighbour = dynamoLedger(table, `${integration}-b`, journal);
    expect((await neighbour.state()).salt).not.toBe(one.salt);
  });

  it('has one attribute per field, named in snake case, and none for absent fields', async () => {
    const { salt } = await ledger.state();
    await ledger.takeLease(lease, now);
    await ledger.saveState({ pace: { since: 1, sent: 2 }, pulseDigest: 'seen' });
    const startDay = Temporal.PlainDate.from('2026-11-21');
    const bookmark = { range: { to: startDay }, offset: 9, anchors: [1] };
    await ledger.saveState({ baseline: { status: 'running', startDay, bookmark } }, lease);
    const conditions = new Map([['held', { since: 3, number: 4 }]] as const);
    await ledger.saveState({ pace: undefined, conditions });
    await used.end(lease, now, { dueAt: 7 });
    expect(await table.get(pk())).toEqual({
      ...{ pk: pk(), schema: 1, salt, dirty_since: now.epochMilliseconds, pulse_digest: 'seen' },
      baseline: {
        ...{ status: 'running', start_day: '2026-11-21' },
        bookmark: { range: { to: '2026-11-21' }, offset: 9, anchors: [1] },
      },
      ...{ 'condition:held': { since: 3, number: 4 }, due_at: 7, heartbeat: now.toString() },
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
    for (const absent of ['digest', 'searching']) expect(state).not.toHaveProperty(absent);
  });

  it.each([
    ['baseline', { baseline: { status: 'running' } }],
    ['baseline.startDay', { baseline: { status: 'completed', start_day: '2026-02-30' } }],
    ['missing.total', { missing: { total: '1' } }],
    ['conditions', { 'condition:held': { since: 'then', number: 1 } }],
    ['leaseUntil', { lease_until: '2026-11-21' }],
  ])('that is malformed is named, with its field: %s', async (field, malformed) => {
    await table.putAll([{ pk: pk(), schema: 1, salt: 'salt', ...malformed }]);
    await expect(ledger.state()).rejects.toMatchObject({
      constructor: LedgerCorruptError,
      message: expect.stringContaining(`The ledger item ${pk()} is not as written: ${field}`),
    });
  });
});

describe("the item of the lease holder's memory", () => {
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
  const pk = () => `MEMORY#${integration}`;
  const left = (attributes: object) => table.putAll([{ pk: pk(), ...attributes }]);

  /** A ledger whose writes are noted, or fail if they are of the memory. */
  function watched(isFailing = true) {
    const keys: string[] = [];
    const update: Table['update'] = async (key, input) => {
      if (isFailing && key === pk()) throw new LedgerUnavailableError('UpdateItem', {});
      keys.push(key);
      return table.update(key, input);
    };
    const watchedTable = Object.assign(Object.create(table), { update });
    return { faulty: dynamoLedger(watchedTable, integration, journal), keys };
  }
  beforeEach(() => ledger.state());

  it('is separate from the state, and only the holder of the lease reads it', async () => {
    await ledger.takeLease(lease, now);
    const twins = [{ id: 1, days: ['2026-11-20'] }];
    await used.end(lease, now, { missing, gate, twins });
    expect((await ledger.state()).missing).toEqual({ total: 300, tooManySince: at, lookAt: at });
    expect(await ledger.takeLease(lease, now)).toMatchObject({ missing, gate, twins });
  });

  it('is written after the time of the next look', async () => {
    await ledger.takeLease(lease, now);
    await expect(watched().faulty.saveState({ missing }, lease)).rejects.toThrow('UpdateItem');
    expect((await ledger.state()).missing).toMatchObject({ lookAt: at });
    const known = await ledger.takeLease(lease, now);
    expect(known?.missing).toMatchObject({ lookAt: at, notes: [], withdrawn: [], accepted: 0 });
  });

  it('is written before the lease is given back', async () => {
    await ledger.takeLease(lease, now);
    const end = watched().faulty.saveState({ gate, ...noLease }, lease);
    await expect(end).rejects.toThrow(LedgerUnavailableError);
    expect(await ledger.state()).toMatchObject({ leaseUntil: later, dirtySince: now });
  });

  it('cannot be written by a tick whose lease another one has taken', async () => {
    await ledger.takeLease(lease, now);
    const next = { owner: 'b', until: later.add({ minutes: 2 }) };
    await ledger.takeLease(next, later.add({ seconds: 1 }));
    const { faulty, keys } = watched(false);
    expect(await faulty.saveState({ gate, ...noLease }, lease)).toBe(false);
    expect(keys).toEqual([pk()]);
    expect(await ledger.takeLease(next, later)).toMatchObject({ gate: nothingFound });
  });

  it('gives the lease back if it cannot be read', async () => {
    await expect(watched().faulty.takeLease(lease, now)).rejects.toThrow(LedgerUnavailableError);
    expect(await ledger.takeLease({ ...lease, owner: 'b' }, now)).toBeDefined();
  });

  it.each([
    ['an older gate', { gate: { counted: 'otherwise' } }],
    ['other marks', { lease_owner: 'newer', agreed_by: 'newer', agreed: { of: 'another kind' } }],
  ])("is accepted with another version's formats, which are dropped: %s", async (_, others) => {
    const flood = { is_flooded: true, passed_edits: [{ since: 4, number: 3 }] };
    await table.putAll([{ pk: `STATE#${integration}`, salt: 'salt', expected: 3, flood }]);
    await left(others);
    const state = await ledger.takeLease(lease, now);
    expect(state).toMatchObject({ expected: 3, gate: nothingFound });
    expect(state).not.toHaveProperty('agreed');
  });

  it('has marks of the page that an older version leaves, and that are then ignored', async () => {
    await ledger.takeLease(lease, now);
    const end = { agreed: ['aB3dE6gH'], dirtySince: undefined, ...noLease };
    expect(await ledger.saveState(end, lease)).toBe(true);
    await table.update(pk(), { set: { schema: 1, lease_owner: 'older' } });
    expect(await ledger.takeLease({ ...lease, owner: 'b' }, now)).not.toHaveProperty('agreed');
  });
});

describe('the item of a certification', () => {
  it('has no personal data once all its events were delivered', async () => {
    await ledger.settle([await used.create(assessment())], 'nothing');
    const mine = (await database.items(integration)).map((raw) => unmarshall(raw));
    expect(mine).not.toEqual([]);
    expect(JSON.stringify(mine)).not.toMatch(/Odalys|Quillfeather|SEID|@|Larkspur|Thornbury/);
  });

  it('is filed again by the next read if a crash left it under the wrong place', async () => {
    await used.create(assessment(), now, 'held');
    await table.putAll([{ ...(await item()), undelivered: `${integration}#pending` }]);
    expect(await used.leftovers()).toEqual([]);
    expect(await item()).toMatchObject({ undelivered: `${integration}#held` });
  });

  it('that is older than histories begins one with the next change', async () => {
    await used.create(assessment());
    await table.update(keyOf(id), { set: { first_seen: undefined, 'revision:1': undefined } });
    const life = async () => (await ledger.lives([id])).get(id);
    expect(await life()).toMatchObject({ firstSeen: undefined, revisions: [] });
    await used.update(assessment({ name: 'Odalys Ashgrove' }));
    expect((await life())?.revisions).toMatchObject([{ revision: 2 }]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['the largest event that SNS accepts', { name: 'é'.repeat(130_000) }, undefined],
    ['a name that is larger than an item', { assessment_name: 'Knots '.repeat(100_000) }, true],
  ])('has room for %s', async (_, large, truncated) => {
    const owed = await used.create(assessment(large));
    expect(owed.event.data.truncated).toBe(truncated);
    expect(await used.leftovers()).toEqual([owed]);
  });

  it("has a cut name with which a withdrawal passes the assessment's filters", async () => {
    const created = await used.create(assessment({ assessment_name: 'Knöts '.repeat(1_000) }));
    const gone = await used.withdraw(id);
    if (typeof gone !== 'object') throw new Error('not committed');
    const [before, after] = [created, gone].map(({ event }) => messageOf(event).attributes);
    expect(after?.assessment_name).toEqual(before?.assessment_name);
  });
});

it('an outbox of hundreds is read only as far as requested', async () => {
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
  const { value } = await ledger.leftovers('event')[Symbol.asyncIterator]().next();
  database.client.middlewareStack.remove('reads');
  expect(value?.owed).toHaveLength(200);
  expect(reads).toEqual(['QueryCommand', 'BatchGetItemCommand', 'BatchGetItemCommand']);
});

describe('a failure', () => {
  it('of one item is reported, hides no others, and has no silent record put over it', async () => {
    for (const id of [1, 2]) await used.create(assessment({ id }));
    await table.update(keyOf(1), { set: { revision: 'one' } });
    expect([...(await ledger.known([1, 2])).keys()]).toEqual([2]);
    expect(warnings).toEqual(['ledger item unreadable']);
    const read = changesOf([1, 3].map((one) => assessment({ id: one })));
    expect(await ledger.recordSilently(read, now)).toBe(1);
    expect(await table.get(keyOf(1))).toHaveProperty('revision', 'one');
  });

  it('of one outbox entry is reported by its key and does not hide the others', async () => {
    await used.create(assessment({ id: 1 }), now);
    await used.create(assessment({ id: 2 }), later);
    const outbox = { '1': { event: '{"name":', owes: 'event-and-digest' } };
    await table.update(keyOf(1), { set: { outbox } });
    const [batch] = await Array.fromAsync(ledger.leftovers('event'));
    expect(batch?.owed.map(({ certificationId }) => certificationId)).toEqual([2]);
    const message = expect.stringContaining(`${keyOf(1)} is not as written: item`);
    expect(batch?.unreadable).toMatchObject([{ constructor: LedgerCorruptError, message }]);
  });

  it('that others write each time names the write that a decision could not make', async () => {
    await used.create(assessment(), now, 'held');
    table.update = async () => undefined;
    const decided = dynamoLedger(table, integration, journal).decide(
      id,
      'held',
      'released',
      () => true,
      now,
    );
    await expect(decided).rejects.toThrow('UpdateItem');
  });

  it('of a deleted table is a typed error with its cause, which no retry repairs', async () => {
    const nowhere = new Table(database.client, 'no-such-table', systemClock);
    await expect(dynamoLedger(nowhere, 'x', journal).state()).rejects.toMatchObject({
      constructor: ResourceUnusableError,
      retryHelps: false,
      message: expect.stringContaining('dynamodb:GetItem on the table no-such-table'),
      cause: { name: 'ResourceNotFoundException' },
    });
  });
});
