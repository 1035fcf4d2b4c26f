import { GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import {
  type Certification,
  compare,
  type Sighting,
  withdrawal,
} from '../../../lambda/detection/compare.ts';
import type { ConditionName, OpenCondition } from '../../../lambda/detection/conditions.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { sightingEvent, withdrawalEvent } from '../../../lambda/events/event.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import { DynamoLedger } from '../../../lambda/ledger/dynamo-ledger.ts';
import { LedgerCorruptError, LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { Table } from '../../../lambda/ledger/table.ts';
import type { Journal } from '../../../lambda/parts.ts';
import { assessment } from '../../support/assessments.ts';
import { startLedgerTable } from '../../support/ledger-table.ts';

const now = Temporal.Instant.from('2026-11-21T08:00:00Z');
const later = now.add({ minutes: 1 });
const salt = 'salt-of-the-tests';
const completed = {
  status: 'completed',
  startDay: Temporal.PlainDate.from('2026-11-21'),
} as const;

let database: Awaited<ReturnType<typeof startLedgerTable>>;
let table: Table;
let ledger: DynamoLedger;
let integration: string;
let integrations = 0;
const warnings: string[] = [];
const journal: Journal = { warn: (what) => warnings.push(what) };

beforeAll(async () => {
  database = await startLedgerTable();
  table = new Table(database.client, database.name, systemClock);
});
afterAll(() => database.close());
beforeEach(() => {
  integrations += 1;
  integration = `district-${integrations}`;
  warnings.length = 0;
  ledger = new DynamoLedger(table, integration, journal);
});

function onlyChange(
  read: Assessment,
  known: ReadonlyMap<number, Certification> = new Map(),
): Sighting {
  const [change] = compare([read], known, salt);
  if (change === undefined) throw new Error('nothing changed');
  return change;
}

function eventOf(change: Sighting, at: Temporal.Instant) {
  return sightingEvent({
    integration,
    type: `certification.${change.kind}`,
    assessment: change.assessment,
    fields: 'all',
    revision: change.revision,
    changed: change.changed,
    late: false,
    time: at,
  });
}

function commit(change: Sighting, at = now) {
  return ledger.commit(change, eventOf(change, at), at, 'pending');
}

async function leftovers(owing: 'event' | 'digest' = 'event'): Promise<OwedEvent[]> {
  const all: OwedEvent[] = [];
  for await (const { owed } of ledger.leftovers(owing)) all.push(...owed);
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
    expect(one).toMatchObject({ baseline: { status: 'none' } });
    expect((await new DynamoLedger(table, `${integration}-b`, journal).state()).salt).not.toBe(
      one.salt,
    );
  });

  it('gives the lease to exactly one of several ticks, and says dirty from then on', async () => {
    await ledger.state();
    const until = now.add({ seconds: 65 });
    const taken = await Promise.all(
      ['a', 'b', 'c', 'd'].map((owner) => ledger.takeLease({ owner, until }, now)),
    );
    expect(taken.filter((state) => state !== undefined)).toHaveLength(1);
    expect(await ledger.state()).toMatchObject({ dirtySince: now });
  });

  it('keeps each condition for itself, with or without the lease', async () => {
    const { conditions } = await ledger.state();
    expect(conditions.size).toBe(0);
    const held = { since: 5, number: 600, told: { at: 6, number: 300 } };
    const collapsed = { since: 7, number: 1, owes: 'begins' as const, details: ['12 left'] };
    await ledger.saveConditions(new Map([['held', held]]));
    await ledger.saveConditions(new Map([['collapsed', collapsed]]));
    expect((await ledger.state()).conditions).toEqual(
      new Map<ConditionName, OpenCondition>([
        ['held', held],
        ['collapsed', collapsed],
      ]),
    );
    await ledger.saveConditions(
      new Map<ConditionName, OpenCondition | undefined>([
        ['held', undefined],
        ['unproven', held],
      ]),
    );
    await ledger.saveConditions(new Map([['collapsed', undefined]]));
    expect([...(await ledger.state()).conditions.keys()]).toEqual(['unproven']);
  });

  it('gives the lease of a tick that died to the next one, after it has run out', async () => {
    await ledger.state();
    const until = now.add({ seconds: 65 });
    await ledger.takeLease({ owner: 'dead', until }, now);
    const next = { owner: 'next', until: until.add({ seconds: 65 }) };
    expect(await ledger.takeLease(next, until)).toBeUndefined();
    expect(await ledger.takeLease(next, until.add({ milliseconds: 1 }))).toMatchObject({
      dirtySince: now,
    });
  });

  it('is clean again after a tick that delivered everything, and stays dirty otherwise', async () => {
    await ledger.state();
    const lease = { owner: 'a', until: now.add({ seconds: 65 }) };
    await ledger.takeLease(lease, now);
    await ledger.complete(lease, now, { dirty: true, baseline: completed });
    expect(await ledger.state()).toMatchObject({ dirtySince: now, baseline: completed });
    await ledger.takeLease(lease, later);
    expect(await ledger.state()).toMatchObject({ dirtySince: later });
    await ledger.complete(lease, later, { dirty: true, dirtySince: now });
    expect(await ledger.state()).toMatchObject({ dirtySince: now });
    await ledger.takeLease(lease, now);
    await ledger.complete(lease, now, { dirty: false });
    const state = await ledger.state();
    expect(state).toMatchObject({ baseline: completed, heartbeat: now.toString() });
    expect(state.dirtySince).toBeUndefined();
  });

  it('is not touched by a tick that has lost its lease', async () => {
    await ledger.state();
    const until = now.add({ seconds: 65 });
    await ledger.takeLease({ owner: 'slow', until }, now);
    await ledger.takeLease(
      { owner: 'next', until: until.add({ hours: 1 }) },
      until.add({ seconds: 1 }),
    );
    const end = { dirty: false, baseline: completed };
    expect(await ledger.complete({ owner: 'slow', until }, later, end)).toBe(false);
    await ledger.giveBackLease({ owner: 'slow', until });
    expect(await ledger.state()).toMatchObject({
      dirtySince: until.add({ seconds: 1 }),
      baseline: { status: 'none' },
    });
    const third = { owner: 'third', until };
    expect(await ledger.takeLease(third, until.add({ seconds: 2 }))).toBeUndefined();
  });

  it('has its lease given back by a tick that failed, and stays dirty', async () => {
    await ledger.state();
    const lease = { owner: 'a', until: now.add({ seconds: 65 }) };
    await ledger.takeLease(lease, now);
    await ledger.giveBackLease(lease);
    const state = await ledger.state();
    expect(state.dirtySince).toEqual(now);
    expect(await ledger.takeLease({ ...lease, owner: 'b' }, now)).toBeDefined();
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
    expect(JSON.stringify(mine)).not.toMatch(/Odalys|Quillfeather|SEID|@|Larkspur|Thornbury/);
  });

  it('does not lose a revision that was committed meanwhile', async () => {
    const before = assessment();
    const owed = await commit(onlyChange(before));
    const next = await update(before, { ...before, name: 'Odalys Ashgrove' });
    await ledger.settle(owed ? [owed] : [], 'nothing');
    expect(next).toMatchObject({ behind: 'pending' });
    expect((await leftovers()).map(({ revision }) => revision)).toEqual([2]);
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

  it('of the digest of one leaves what else the certification owes', async () => {
    const before = assessment();
    const first = await commit(onlyChange(before));
    await update(before, { ...before, name: 'Odalys Ashgrove' });
    await ledger.settle(first ? [first] : [], 'digest');
    const owed = await leftovers();
    expect(owed.map(({ revision, owes }) => [revision, owes])).toEqual([
      [1, 'digest'],
      [2, 'event-and-digest'],
    ]);
    expect(await leftovers('digest')).toEqual([]);
    await ledger.settle(owed.slice(1), 'nothing');
    expect((await leftovers('digest')).map(({ revision }) => revision)).toEqual([1]);
    expect(await item(before.id)).toMatchObject({ undelivered: `${integration}#digest` });
  });

  it('can note that only the digest is still owed', async () => {
    const owed = await commit(onlyChange(assessment()));
    await ledger.settle(owed ? [owed] : [], 'digest');
    expect(await leftovers('digest')).toMatchObject([{ owes: 'digest' }]);
    expect(await leftovers()).toEqual([]);
  });
});

describe('what is withdrawn', () => {
  it('stays known, with its event owed, and can be restored', async () => {
    const read = assessment();
    await ledger.recordSilently([onlyChange(read)], now);
    const before = (await ledger.known([read.id])).get(read.id);
    if (before === undefined) throw new Error('it was recorded');
    const event = withdrawalEvent({
      integration,
      revision: 2,
      late: false,
      time: later,
      assessment: {
        id: read.id,
        organization_id: before.organization_id,
        assessment_name: before.assessment_name,
        certified_on: before.day,
      },
    });
    const owed = await ledger.commit(withdrawal(before), event, later, 'pending');
    expect(await leftovers()).toEqual([owed]);
    const known = await ledger.known([read.id]);
    expect(known.get(read.id)).toMatchObject({ presence: 'withdrawn', revision: 2 });
    expect((await ledger.knownOfDay(read.certified_on)).get(read.id)?.presence).toBe('withdrawn');
    const back = await commit(onlyChange(read, known), later);
    expect(back).toMatchObject({ revision: 3, event: { type: 'certification.restored' } });
  });
});

describe('what is held', () => {
  const hold = (change: Sighting) => ledger.commit(change, eventOf(change, now), now, 'held');

  it('is not among the leftovers, and is found by its own key', async () => {
    const read = assessment();
    await hold(onlyChange(read));
    expect(await leftovers()).toEqual([]);
    expect(await item(read.id)).toMatchObject({ undelivered: `${integration}#held` });
  });

  it('stays held when an older event of the same certification is delivered', async () => {
    const before = assessment();
    const first = await commit(onlyChange(before));
    const known = await ledger.known([before.id]);
    await hold(onlyChange({ ...before, name: 'Odalys Ashgrove' }, known));
    expect(await leftovers()).toEqual([first]);
    await ledger.settle(first ? [first] : [], 'nothing');
    expect(await leftovers()).toEqual([]);
    expect(await item(before.id)).toMatchObject({
      undelivered: `${integration}#held`,
      outbox: { '2': { held: true } },
    });
  });
});

describe('what comes after a held event of the same certification', () => {
  async function heldThenPending() {
    const before = assessment();
    const first = onlyChange(before);
    await ledger.commit(first, eventOf(first, now), now, 'held');
    return update(before, { ...before, name: 'Odalys Ashgrove' });
  }

  it('is held with it, so that order is kept', async () => {
    expect(await heldThenPending()).toMatchObject({ behind: 'held' });
    expect(await leftovers()).toEqual([]);
    expect(await item(48_213)).toMatchObject({ undelivered: `${integration}#held` });
    const [kept] = await Array.fromAsync(ledger.kept('held'));
    expect(kept?.owed.map(({ revision }) => revision)).toEqual([1, 2]);
  });

  it('is filed with what is held by the next look, should a crash have left it elsewhere', async () => {
    await heldThenPending();
    await table.put({ ...(await item(48_213)), undelivered: `${integration}#pending` });
    expect(await leftovers()).toEqual([]);
    expect(await item(48_213)).toMatchObject({ undelivered: `${integration}#held` });
  });
});

describe('what SNS refused for good', () => {
  const park = (owed: OwedEvent) =>
    ledger.park([{ owed, code: 'InvalidParameter', forGood: true }]);

  it('is set aside with the code, and found by its own key', async () => {
    const owed = await commit(onlyChange(assessment()));
    if (owed) await park(owed);
    expect(await leftovers()).toEqual([]);
    expect(await item(48_213)).toMatchObject({
      undelivered: `${integration}#undeliverable`,
      outbox: { '1': { undeliverable: 'InvalidParameter' } },
    });
    expect(await ledger.countKept('undeliverable')).toBe(1);
    const kept = await Array.fromAsync(ledger.kept('undeliverable'));
    expect(kept.flatMap((page) => page.owed)).toEqual([owed]);
    expect((await ledger.lives([48_213])).get(48_213)?.undelivered).toEqual(
      new Map([[1, 'undeliverable']]),
    );
  });

  it('does not keep back the next revision, and is still there when that is delivered', async () => {
    const before = assessment();
    const first = await commit(onlyChange(before));
    if (first) await park(first);
    const second = await update(before, { ...before, name: 'Odalys Ashgrove' });
    expect(second).not.toHaveProperty('behind');
    expect(await leftovers()).toEqual([second]);
    await ledger.settle(second ? [second] : [], 'nothing');
    expect(await item(before.id)).toMatchObject({
      undelivered: `${integration}#undeliverable`,
      outbox: { '1': { undeliverable: 'InvalidParameter' } },
    });
  });

  it('is among the kept also while something else of its certification waits', async () => {
    const before = assessment();
    const first = await commit(onlyChange(before));
    if (first) await park(first);
    const known = await ledger.known([before.id]);
    const change = onlyChange({ ...before, name: 'Odalys Ashgrove' }, known);
    await ledger.commit(change, eventOf(change, later), later, 'held');
    const revisions = async (waiting: 'held' | 'undeliverable') =>
      (await Array.fromAsync(ledger.kept(waiting))).flatMap(({ owed }) =>
        owed.map(({ revision }) => revision),
      );
    expect(await revisions('undeliverable')).toEqual([1]);
    expect(await revisions('held')).toEqual([2]);
  });
});

describe('an outbox of hundreds', () => {
  const many = 210;
  beforeEach(async () => {
    const ids = Array.from({ length: many }, (_, index) => index + 1);
    await Promise.all(
      ids.map((id) => commit(onlyChange(assessment({ id })), now.add({ milliseconds: id }))),
    );
  });

  it('is read page by page, oldest first, and settling one does not disturb the next', async () => {
    const seen: number[] = [];
    let pages = 0;
    for await (const { owed } of ledger.leftovers('event')) {
      pages += 1;
      seen.push(...owed.map(({ certificationId }) => certificationId));
      await ledger.settle(owed, pages === 1 ? 'nothing' : 'digest');
    }
    expect(pages).toBe(2);
    expect(seen).toEqual(Array.from({ length: many }, (_, index) => index + 1));
    expect(await leftovers()).toEqual([]);
    expect(await leftovers('digest')).toHaveLength(many - 200);
  });

  it('is read no further than it is asked for', async () => {
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

describe('the calendar', () => {
  const proof = { kind: 'key-seam', at: 1_795_000_000_000 } as const;

  it('keeps counts, proofs and digests by day, over months and years', async () => {
    const entries = new Map([
      ['2019-12-31', { count: 3, readAt: 1, proof, digest: 'a' }],
      ['2026-01-01', { count: 0, readAt: 2 }],
      ['2026-11-20', { count: 250, readAt: 3, proof }],
    ]);
    await ledger.saveDays(entries);
    expect(await ledger.calendar([2019, 2026])).toEqual(entries);
    expect([...(await ledger.calendar([2026])).keys()].sort()).toEqual([
      '2026-01-01',
      '2026-11-20',
    ]);
  });

  it('adds to the count of a day, whether or not it has the day', async () => {
    await ledger.saveDays(new Map([['2026-11-20', { count: 2, readAt: 3, proof }]]));
    await ledger.addToDays(
      new Map([
        ['2026-11-20', -1],
        ['2026-11-21', 4],
        ['2026-11-22', 0],
      ]),
    );
    expect(await ledger.calendar([2026])).toEqual(
      new Map([
        ['2026-11-20', { count: 1, readAt: 3, proof }],
        ['2026-11-21', { count: 4, readAt: 0 }],
        ['2026-11-22', { count: 0, readAt: 0 }],
      ]),
    );
  });

  it('gathers its years, each once', async () => {
    await ledger.state();
    await ledger.addYears([2026, 2019]);
    await ledger.addYears([2026]);
    expect([...(await ledger.state()).years].sort()).toEqual([2019, 2026]);
  });
});

describe('what a tick has learned', () => {
  it('is there for the next one, and what it did not learn stays', async () => {
    await ledger.state();
    const lease = { owner: 'a', until: now.add({ seconds: 65 }) };
    const learned = {
      baseline: {
        status: 'running',
        startDay: completed.startDay,
        before: completed.startDay,
        sliceDays: 40,
      },
      expected: 12,
      unexplained: -1,
      pulseDigest: 'digest',
      recentAuditAt: 5,
      historyAuditAt: 6,
      reported: ['48213'],
    } as const;
    await ledger.takeLease(lease, now);
    await ledger.complete(lease, now, { dirty: false, ...learned });
    expect(await ledger.state()).toMatchObject(learned);
    await ledger.takeLease(lease, now);
    await ledger.complete(lease, now, { dirty: false, expected: 13 });
    expect(await ledger.state()).toMatchObject({ ...learned, expected: 13 });
  });

  it('includes when people are to be told, until nothing waits for that', async () => {
    await ledger.state();
    const lease = { owner: 'a', until: now.add({ seconds: 65 }) };
    const digest = { dueAt: later, owedAt: now };
    await ledger.takeLease(lease, now);
    await ledger.complete(lease, now, { dirty: false, digest });
    expect((await ledger.state()).digest).toEqual(digest);
    await ledger.takeLease(lease, now);
    await ledger.complete(lease, now, { dirty: false, digest: null });
    expect((await ledger.state()).digest).toBeUndefined();
  });

  it('includes to leave the partner alone, until that is over', async () => {
    await ledger.state();
    await ledger.backOff({ until: later, failures: 2 });
    expect((await ledger.state()).backOff).toEqual({ until: later, failures: 2 });
    await ledger.backOff(undefined);
    expect((await ledger.state()).backOff).toBeUndefined();
  });
});

describe('the history of a certification', () => {
  it('tells each revision, from the baseline on, newest last', async () => {
    const read = assessment();
    await ledger.recordSilently([onlyChange(read)], now);
    await update(read, { ...read, name: 'Odalys Ashgrove' });
    expect((await ledger.lives([read.id, 1])).get(read.id)).toEqual({
      certification: (await ledger.known([read.id])).get(read.id),
      history: [
        { revision: 1, kind: 'baseline', at: now.toString(), changed: [] },
        { revision: 2, kind: 'updated', at: later.toString(), changed: ['name'] },
      ],
      undelivered: new Map([[2, 'pending']]),
    });
  });

  it('begins with its creation when it was announced', async () => {
    await commit(onlyChange(assessment({ id: 1 })));
    expect((await ledger.lives([1])).get(1)?.history).toEqual([
      { revision: 1, kind: 'created', at: now.toString(), changed: [] },
    ]);
  });

  it('keeps the last fifty revisions', async () => {
    let before = assessment();
    await commit(onlyChange(before));
    for (let revision = 2; revision <= 53; revision += 1) {
      const after = { ...before, name: `Odalys the ${revision}th` };
      await update(before, after);
      before = after;
    }
    const history = (await ledger.lives([before.id])).get(before.id)?.history ?? [];
    expect(history.map(({ revision }) => revision)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 4),
    );
  });

  it('may be absent from an item that is older than it, and begins with the next change', async () => {
    const read = assessment();
    await commit(onlyChange(read));
    const { 'revision:1': _, ...old } = (await item(read.id)) ?? {};
    await table.put(old);
    expect((await ledger.lives([read.id])).get(read.id)?.history).toEqual([]);
    await update(read, { ...read, name: 'Odalys Ashgrove' });
    expect((await ledger.lives([read.id])).get(read.id)?.history).toMatchObject([{ revision: 2 }]);
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
  it('with one item is reported and does not hide what else is known', async () => {
    await commit(onlyChange(assessment({ id: 1 })));
    await commit(onlyChange(assessment({ id: 2 })));
    await table.put({ ...(await item(1)), revision: 'one' });
    expect([...(await ledger.known([1, 2])).keys()]).toEqual([2]);
    expect(warnings).toEqual(['ledger item unreadable']);
  });

  it('with one outbox entry is reported by its key and does not hide the others', async () => {
    await commit(onlyChange(assessment({ id: 1 })));
    await commit(onlyChange(assessment({ id: 2 })), later);
    const broken = {
      ...(await item(1)),
      outbox: { '1': { event: '{"name":', owes: 'event-and-digest' } },
    };
    await table.put(broken);
    const [batch] = await Array.fromAsync(ledger.leftovers('event'));
    expect(batch?.owed.map(({ certificationId }) => certificationId)).toEqual([2]);
    expect(batch?.unreadable).toMatchObject([{ constructor: LedgerCorruptError }]);
    expect(batch?.unreadable[0]?.message).toContain(`CERT#${integration}#1`);
  });

  it('with the table is a typed error with its cause', async () => {
    const nowhere = new DynamoLedger(
      new Table(database.client, 'no-such-table', systemClock),
      'x',
      journal,
    );
    await expect(nowhere.state()).rejects.toMatchObject({
      constructor: LedgerUnavailableError,
      retryHelps: true,
      cause: { name: 'ResourceNotFoundException' },
    });
  });
});
