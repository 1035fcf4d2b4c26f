import { beforeEach, expect, it } from 'vitest';
import { assessment } from '../../support/assessments.ts';
import { describeLedgers, later, now } from './ledgers.ts';

const renamed = (name: string) => assessment({ name });
const { id } = assessment();

describeLedgers('leftovers', (used) => {
  it('come the longest owed first, with all events of one certification together', async () => {
    await used().create(assessment({ id: 2 }), now.add({ seconds: 30 }));
    await used().create(assessment());
    await used().update(renamed('Odalys Ashgrove'));
    expect((await used().leftovers()).map(({ event }) => event.id)).toEqual([
      `${used().integration}/${id}/1`,
      `${used().integration}/${id}/2`,
      `${used().integration}/2/1`,
    ]);
  });

  it('are owed since the first event after an empty outbox', async () => {
    const first = await used().create(assessment());
    await used().create(assessment({ id: 2 }), now.add({ seconds: 30 }));
    await used().ledger.settle([first], 'nothing');
    await used().update(renamed('Odalys Ashgrove'));
    expect((await used().leftovers()).map(({ certificationId }) => certificationId)).toEqual([
      2,
      id,
    ]);
  });
});

describeLedgers('settling', (used) => {
  it('removes a delivered event from the outbox', async () => {
    const owed = await used().create(assessment());
    await used().ledger.settle([owed], 'nothing');
    expect(await used().leftovers()).toEqual([]);
    expect((await used().ledger.lives([id])).get(id)?.revisions[0]?.waits).toBeUndefined();
    await used().ledger.settle([owed], 'nothing');
    await used().ledger.settle([{ certificationId: 1, revision: 1 }], 'digest');
    expect(await used().leftovers('digest')).toEqual([]);
  });

  it('does not lose a revision that was committed meanwhile', async () => {
    const owed = await used().create(assessment());
    const next = await used().update(renamed('Odalys Ashgrove'));
    await used().ledger.settle([owed], 'nothing');
    expect(next).toMatchObject({ behind: 'pending' });
    expect((await used().leftovers()).map(({ revision }) => revision)).toEqual([2]);
  });

  it('does not lose a later event after another tick has settled the earlier one', async () => {
    const owed = await used().create(assessment());
    await used().ledger.settle([owed], 'nothing');
    const next = await used().update(renamed('Odalys Ashgrove'));
    await used().ledger.settle([owed], 'nothing');
    expect(await used().leftovers()).toEqual([next]);
  });

  it('of several revisions at once empties the outbox', async () => {
    await used().create(assessment());
    await used().update(renamed('Odalys Ashgrove'));
    await used().ledger.settle(await used().leftovers(), 'nothing');
    expect(await used().leftovers()).toEqual([]);
  });

  it("of one event except its digest leaves the certification's other events", async () => {
    const first = await used().create(assessment());
    await used().update(renamed('Odalys Ashgrove'));
    await used().ledger.settle([first], 'digest');
    const owed = await used().leftovers();
    expect(owed.map(({ revision, owes }) => [revision, owes])).toEqual([
      [1, 'digest'],
      [2, 'event-and-digest'],
    ]);
    expect(await used().leftovers('digest')).toEqual([]);
    await used().ledger.settle(owed.slice(1), 'nothing');
    expect((await used().leftovers('digest')).map(({ revision }) => revision)).toEqual([1]);
  });

  it('may leave only the digest owed', async () => {
    const owed = await used().create(assessment());
    await used().ledger.settle([owed], 'digest');
    expect(await used().leftovers('digest')).toMatchObject([{ owes: 'digest' }]);
    expect(await used().leftovers()).toEqual([]);
    expect((await used().ledger.lives([id])).get(id)?.revisions).toMatchObject([
      { waits: 'digest' },
    ]);
    const next = await used().update(renamed('Odalys Ashgrove'));
    expect(next).not.toHaveProperty('behind');
  });
});

describeLedgers('a held event', (used) => {
  it('is not among the leftovers, and is in the list of held ones', async () => {
    const { ledger } = used();
    const owed = await used().create(assessment(), now, 'held');
    expect(await used().leftovers()).toEqual([]);
    expect(await used().waitingForOps('held')).toEqual([owed]);
    expect(await ledger.countWaitingForOps('held')).toBe(1);
    expect(await ledger.countWaitingForOps('undeliverable')).toBe(0);
    expect((await ledger.lives([id])).get(id)?.revisions).toMatchObject([{ waits: 'held' }]);
  });

  it('stays held when an older event of the same certification is delivered', async () => {
    const { ledger } = used();
    const first = await used().create(assessment());
    await used().update(renamed('Odalys Ashgrove'), later, 'held');
    expect(await used().leftovers()).toEqual([first]);
    // The certification counts at the place that it waits for first.
    expect(await ledger.countWaitingForOps('held')).toBe(0);
    await ledger.settle([first], 'nothing');
    expect(await used().leftovers()).toEqual([]);
    expect((await used().waitingForOps('held')).map(({ revision }) => revision)).toEqual([2]);
    expect(await ledger.countWaitingForOps('held')).toBe(1);
  });

  it('delays later events, so that order is kept', async () => {
    await used().create(assessment(), now, 'held');
    const next = await used().update(renamed('Odalys Ashgrove'));
    expect(next).toMatchObject({ behind: 'held' });
    expect(await used().leftovers()).toEqual([]);
    expect((await used().waitingForOps('held')).map(({ revision }) => revision)).toEqual([1, 2]);
    expect(await used().ledger.countWaitingForOps('held')).toBe(1);
  });

  it('is listed by age, the longest held first', async () => {
    const ids = [3, 1, 2];
    for (const [minutes, id] of ids.entries())
      await used().create(assessment({ id }), now.add({ minutes }), 'held');
    expect(
      (await used().waitingForOps('held')).map(({ certificationId }) => certificationId),
    ).toEqual(ids);
    expect(await used().ledger.countWaitingForOps('held')).toBe(3);
  });
});

describeLedgers('an event that SNS refused for good', (used) => {
  it('is set aside, and is in the list of undeliverable ones', async () => {
    const { ledger } = used();
    const owed = await used().create(assessment());
    await used().park(owed);
    expect(await used().leftovers()).toEqual([]);
    expect(await ledger.countWaitingForOps('undeliverable')).toBe(1);
    const code = 'InvalidParameter';
    expect(await used().waitingForOps('undeliverable')).toEqual([{ ...owed, code }]);
    expect((await ledger.lives([id])).get(id)?.revisions).toMatchObject([
      { waits: 'undeliverable' },
    ]);
  });

  it('does not delay the next revision, and is still there after its delivery', async () => {
    await used().park(await used().create(assessment()));
    const second = await used().update(renamed('Odalys Ashgrove'));
    expect(second).not.toHaveProperty('behind');
    expect(await used().leftovers()).toEqual([second]);
    await used().ledger.settle([second], 'nothing');
    expect((await used().waitingForOps('undeliverable')).map(({ revision }) => revision)).toEqual([
      1,
    ]);
  });

  it('is listed also while another event of its certification is held', async () => {
    await used().park(await used().create(assessment()));
    await used().update(renamed('Odalys Ashgrove'), later, 'held');
    expect((await used().waitingForOps('undeliverable')).map(({ revision }) => revision)).toEqual([
      1,
    ]);
    expect((await used().waitingForOps('held')).map(({ revision }) => revision)).toEqual([2]);
    // The certification counts at the place that it waits for first.
    expect(await used().ledger.countWaitingForOps('held')).toBe(1);
    expect(await used().ledger.countWaitingForOps('undeliverable')).toBe(0);
  });

  it('is not set aside if it was settled meanwhile', async () => {
    const owed = await used().create(assessment());
    await used().ledger.settle([owed], 'nothing');
    await used().park(owed);
    expect(await used().waitingForOps('undeliverable')).toEqual([]);
  });
});

describeLedgers('an outbox of hundreds', (used) => {
  const many = 210;
  beforeEach(async () => {
    const ids = Array.from({ length: many }, (_, index) => index + 1);
    await Promise.all(
      ids.map((id) => used().create(assessment({ id }), now.add({ milliseconds: id }))),
    );
  });

  it('is read page by page, oldest first, and settling one does not disturb the next', async () => {
    const seen: number[] = [];
    let pages = 0;
    for await (const { owed } of used().ledger.leftovers('event')) {
      pages += 1;
      seen.push(...owed.map(({ certificationId }) => certificationId));
      await used().ledger.settle(owed, pages === 1 ? 'nothing' : 'digest');
    }
    expect(pages).toBe(2);
    expect(seen).toEqual(Array.from({ length: many }, (_, index) => index + 1));
    expect(await used().leftovers()).toEqual([]);
    expect(await used().leftovers('digest')).toHaveLength(many - 200);
  });

  it('shows each page as it is at its request', async () => {
    const seen: number[] = [];
    for await (const { owed } of used().ledger.leftovers('event')) {
      seen.push(...owed.map(({ certificationId }) => certificationId));
      if (seen.length > 200) continue;
      await used().ledger.settle([{ certificationId: 205, revision: 1 }], 'nothing');
      await used().create(assessment({ id: 900 }), later);
    }
    expect(seen).toEqual([
      ...Array.from({ length: many }, (_, index) => index + 1).filter((id) => id !== 205),
      900,
    ]);
  });
});
