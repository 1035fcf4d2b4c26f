import { GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import { type Certification, type Change, compare } from '../../../lambda/detection/compare.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { certificationEvent } from '../../../lambda/events/event.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import { DynamoLedger } from '../../../lambda/ledger/dynamo-ledger.ts';
import { LedgerCorruptError, LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { Table } from '../../../lambda/ledger/table.ts';
import { assessment } from '../../support/assessments.ts';
import { startLedgerTable } from '../../support/ledger-table.ts';

const now = Temporal.Instant.from('2026-11-21T08:00:00Z');
const later = now.add({ minutes: 1 });
const salt = 'salt-of-the-tests';

let database: Awaited<ReturnType<typeof startLedgerTable>>;
let table: Table;
let ledger: DynamoLedger;
let integration: string;
let integrations = 0;

beforeAll(async () => {
  database = await startLedgerTable();
  table = new Table(database.client, database.name, systemClock);
});
afterAll(() => database.close());
beforeEach(() => {
  integrations += 1;
  integration = `district-${integrations}`;
  ledger = new DynamoLedger(table, integration);
});

function onlyChange(
  read: Assessment,
  known: ReadonlyMap<number, Certification> = new Map(),
): Change {
  const [change] = compare([read], known, salt);
  if (change === undefined) throw new Error('nothing changed');
  return change;
}

function commit(change: Change, at = now) {
  const event = certificationEvent({
    integration,
    type: `certification.${change.kind}`,
    assessment: change.assessment,
    revision: change.revision,
    changed: change.changed,
    late: false,
    time: at,
  });
  return ledger.commit(change, event, at);
}

async function leftovers(): Promise<OwedEvent[]> {
  const all: OwedEvent[] = [];
  for await (const { owed } of ledger.leftovers()) all.push(...owed);
  return all;
}

async function item(id: number) {
  const { Item } = await database.client.send(
    new GetItemCommand({
      TableName: database.name,
      Key: { pk: { S: `CERT#${integration}#${id}` } },
    }),
  );
  return Item && unmarshall(Item);
}

async function update(before: Assessment, after: Assessment, at = later) {
  const known = await ledger.known([before.id]);
  return commit(onlyChange(after, known), at);
}

describe('the state', () => {
  it('is made once, with a salt of its own, by whichever first tick comes first', async () => {
    const [one, two] = await Promise.all([ledger.state(), ledger.state()]);
    expect(one).toEqual(two);
    expect(one).toMatchObject({ baselineCompleted: false, dirty: false });
    expect((await new DynamoLedger(table, `${integration}-b`).state()).salt).not.toBe(one.salt);
  });

  it('gives the lease to exactly one of several ticks, and says dirty from then on', async () => {
    await ledger.state();
    const until = now.add({ seconds: 65 });
    const taken = await Promise.all(
      ['a', 'b', 'c', 'd'].map((owner) => ledger.takeLease({ owner, until }, now)),
    );
    expect(taken.filter((state) => state !== undefined)).toMatchObject([{ dirty: false }]);
    expect(await ledger.state()).toMatchObject({ dirty: true });
  });

  it('gives the lease of a tick that died to the next one, after it has run out', async () => {
    await ledger.state();
    const until = now.add({ seconds: 65 });
    await ledger.takeLease({ owner: 'dead', until }, now);
    const next = { owner: 'next', until: until.add({ seconds: 65 }) };
    expect(await ledger.takeLease(next, until)).toBeUndefined();
    expect(await ledger.takeLease(next, until.add({ milliseconds: 1 }))).toMatchObject({
      dirty: true,
    });
  });

  it('is clean again after a tick that delivered everything, and stays dirty otherwise', async () => {
    await ledger.state();
    const lease = { owner: 'a', until: now.add({ seconds: 65 }) };
    await ledger.takeLease(lease, now);
    await ledger.complete(lease, now, { allDelivered: false, baselineCompleted: true });
    expect(await ledger.state()).toMatchObject({ dirty: true, baselineCompleted: true });
    await ledger.takeLease(lease, now);
    await ledger.complete(lease, now, { allDelivered: true, baselineCompleted: false });
    expect(await ledger.state()).toMatchObject({ dirty: false, baselineCompleted: true });
  });

  it('is not touched by a tick that has lost its lease', async () => {
    await ledger.state();
    const until = now.add({ seconds: 65 });
    await ledger.takeLease({ owner: 'slow', until }, now);
    await ledger.takeLease(
      { owner: 'next', until: until.add({ hours: 1 }) },
      until.add({ seconds: 1 }),
    );
    const end = { allDelivered: true, baselineCompleted: true };
    expect(await ledger.complete({ owner: 'slow', until }, later, end)).toBe(false);
    await ledger.giveBackLease({ owner: 'slow', until });
    expect(await ledger.state()).toMatchObject({ dirty: true, baselineCompleted: false });
    expect((await ledger.state()).leasedUntil).toBeDefined();
  });

  it('has its lease given back by a tick that failed, and stays dirty', async () => {
    await ledger.state();
    const lease = { owner: 'a', until: now.add({ seconds: 65 }) };
    await ledger.takeLease(lease, now);
    await ledger.giveBackLease(lease);
    const state = await ledger.state();
    expect(state.dirty).toBe(true);
    expect(state.leasedUntil).toBeUndefined();
  });
});

describe('a commit', () => {
  it('makes a certification known and its event owed, in one item', async () => {
    const read = assessment();
    const owed = await commit(onlyChange(read));
    expect(owed).toMatchObject({ revision: 1, owes: 'event-and-digest' });
    expect(await leftovers()).toEqual([owed]);
    expect((await ledger.known([read.id, 1])).get(read.id)).toMatchObject({
      day: read.certified_on,
      revision: 1,
    });
  });

  it('of the same new certification by four ticks at once succeeds for exactly one', async () => {
    const change = onlyChange(assessment());
    const owed = await Promise.all([1, 2, 3, 4].map(() => commit(change)));
    expect(owed.filter((event) => event !== undefined)).toHaveLength(1);
  });

  it('of an update that another tick has made already changes nothing', async () => {
    const before = assessment();
    await commit(onlyChange(before));
    const known = await ledger.known([before.id]);
    const change = onlyChange({ ...before, name: 'Odalys Ashgrove' }, known);
    expect(await commit(change, later)).toBeDefined();
    expect(await commit(change, later)).toBeUndefined();
    expect((await leftovers()).map(({ event }) => event.sequence)).toEqual(['1', '2']);
  });

  it('of a move leaves the certification under its new day only', async () => {
    const before = assessment();
    await commit(onlyChange(before));
    await update(before, { ...before, certified_on: '2024-02-29' });
    expect(await item(before.id)).toMatchObject({
      integration_day: `${integration}#2024-02-29`,
      day: '2024-02-29',
    });
  });

  it('keeps the time since when something is owed, so that the oldest goes first', async () => {
    const before = assessment();
    await commit(onlyChange(assessment({ id: 2 })), now.add({ seconds: 30 }));
    await commit(onlyChange(before));
    await update(before, { ...before, name: 'Odalys Ashgrove' });
    expect((await leftovers()).map(({ event }) => event.id)).toEqual([
      `${integration}/${before.id}/1`,
      `${integration}/${before.id}/2`,
      `${integration}/2/1`,
    ]);
  });
});

describe('settling', () => {
  it('removes what was delivered, and with the last of it the item from the index', async () => {
    const read = assessment();
    const owed = await commit(onlyChange(read));
    await ledger.settle(owed ? [owed] : [], 'nothing');
    expect(await leftovers()).toEqual([]);
    expect(await item(read.id)).toMatchObject({ outbox: {} });
    expect(await item(read.id)).not.toHaveProperty('undelivered');
  });

  it('leaves nothing personal in the item', async () => {
    const read = assessment();
    const owed = await commit(onlyChange(read));
    await ledger.settle(owed ? [owed] : [], 'nothing');
    const { Items } = await database.client.send(new ScanCommand({ TableName: database.name }));
    const mine = (Items ?? [])
      .map((raw) => unmarshall(raw))
      .filter(({ pk }) => pk.includes(integration));
    expect(JSON.stringify(mine)).not.toMatch(/Odalys|Quillfeather|SEID|@|Larkspur|Rope/);
  });

  it('does not lose a revision that was committed meanwhile', async () => {
    const before = assessment();
    const owed = await commit(onlyChange(before));
    const next = await update(before, { ...before, name: 'Odalys Ashgrove' });
    await ledger.settle(owed ? [owed] : [], 'nothing');
    expect(await leftovers()).toEqual([next]);
  });

  it('does not lose one that took the place of what another tick had settled', async () => {
    const before = assessment();
    const owed = await commit(onlyChange(before));
    const delivered = owed ? [owed] : [];
    await ledger.settle(delivered, 'nothing');
    const next = await update(before, { ...before, name: 'Odalys Ashgrove' });
    await ledger.settle(delivered, 'nothing');
    expect(await leftovers()).toEqual([next]);
  });

  it('of several revisions at once empties the outbox', async () => {
    const before = assessment();
    await commit(onlyChange(before));
    await update(before, { ...before, name: 'Odalys Ashgrove' });
    await ledger.settle(await leftovers(), 'nothing');
    expect(await leftovers()).toEqual([]);
  });

  it('can note that only the digest is still owed', async () => {
    const owed = await commit(onlyChange(assessment()));
    await ledger.settle(owed ? [owed] : [], 'digest');
    expect(await leftovers()).toMatchObject([{ owes: 'digest' }]);
  });
});

describe('the baseline', () => {
  it('records hundreds of certifications that nobody is owed anything of', async () => {
    const read = Array.from({ length: 260 }, (_, index) => assessment({ id: index + 1 }));
    await ledger.recordSilently(compare(read, new Map(), salt), now);
    const known = await ledger.known(read.map(({ id }) => id));
    expect(known.size).toBe(260);
    expect(compare(read, known, salt)).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });

  it('lets what it recorded be updated and announced later', async () => {
    const read = assessment();
    await ledger.recordSilently(compare([read], new Map(), salt), now);
    const owed = await update(read, { ...read, email: 'new@example.org' });
    expect(await leftovers()).toEqual([owed]);
  });
});

describe('trouble', () => {
  it('with one outbox entry is reported by its key and does not hide the others', async () => {
    await commit(onlyChange(assessment({ id: 1 })));
    await commit(onlyChange(assessment({ id: 2 })), later);
    const broken = {
      ...(await item(1)),
      outbox: { '1': { event: '{"name":', owes: 'event-and-digest' } },
    };
    await table.put(broken);
    const [batch] = await Array.fromAsync(ledger.leftovers());
    expect(batch?.owed.map(({ certificationId }) => certificationId)).toEqual([2]);
    expect(batch?.unreadable).toMatchObject([{ constructor: LedgerCorruptError }]);
    expect(batch?.unreadable[0]?.message).toContain(`CERT#${integration}#1`);
  });

  it('with the table is a typed error with its cause', async () => {
    const nowhere = new DynamoLedger(new Table(database.client, 'no-such-table', systemClock), 'x');
    await expect(nowhere.state()).rejects.toMatchObject({
      constructor: LedgerUnavailableError,
      retryHelps: true,
      cause: { name: 'ResourceNotFoundException' },
    });
  });
});
