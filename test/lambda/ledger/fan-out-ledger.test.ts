import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import type { PlannedRange } from '../../../lambda/ports/planned-range.ts';
import { assessment } from '../../support/assessments.ts';
import { changesOf, describeLedgers, later, now } from './ledgers.ts';

const begunAt = now.epochMilliseconds;
const day = (date: string) => Temporal.PlainDate.from(date);
const newer: PlannedRange = {
  ...{ begunAt, from: day('2026-01-01'), to: day('2026-06-30'), sliceDays: 3 },
};
const oldest: PlannedRange = {
  ...{ begunAt, from: day('2020-01-01'), to: day('2025-12-31'), sliceDays: 9, isOldest: true },
};
const leaseOf = (owner: string, until = later) => ({ owner, until });
const [lease, other] = [leaseOf('task-1'), leaseOf('task-2', later.add({ minutes: 1 }))];
const unread = { isDone: false, recorded: 0 };

describeLedgers('the plan of a fan-out', (used) => {
  it('is the first one written, for each baseline', async () => {
    expect(await used().fanOut.plan(begunAt)).toBeUndefined();
    await used().fanOut.keepPlan(begunAt, [newer, oldest]);
    expect(await used().fanOut.keepPlan(begunAt, [oldest])).toEqual([newer, oldest]);
    expect(await used().fanOut.plan(begunAt)).toEqual([newer, oldest]);
    expect(await used().fanOut.plan(begunAt + 1)).toBeUndefined();
  });
});

describeLedgers('a range of a fan-out', (used) => {
  const take = (by = lease, at = now, range = newer) => used().fanOut.takeRange(range, by, at);

  it('has no progress before a task has taken it', async () => {
    expect(await used().fanOut.progressOf([newer])).toEqual([unread]);
    expect(await take()).toEqual(unread);
  });

  it('belongs to one task at a time, until its lease has run out', async () => {
    expect([await take(), await take(other), await take()]).toEqual([unread, undefined, unread]);
    expect(await take(other, now, oldest)).toEqual(unread);
    expect(await take(other, later.add({ seconds: 1 }))).toEqual(unread);
    expect(await used().fanOut.keepProgress(newer, lease, { isDone: false, recorded: 7 })).toBe(
      false,
    );
    expect(await used().fanOut.progressOf([oldest, newer])).toEqual([unread, unread]);
  });

  it('keeps its progress for the task that takes it next', async () => {
    await take();
    const range = { from: day('2026-02-28'), to: day('2026-02-28') };
    const read = { isDone: false, recorded: 7, before: day('2026-03-01'), sliceDays: 2 };
    const progress = { ...read, bookmark: { range, offset: 300, anchors: [1, 2] } };
    expect(await used().fanOut.keepProgress(newer, lease, progress)).toBe(true);
    expect((await used().fanOut.progressOf([oldest, newer]))[1]).toEqual(progress);
    await used().fanOut.keepProgress(newer, lease, { isDone: true, recorded: 9 });
    await used().fanOut.giveBackRange(newer, lease);
    expect(await take(leaseOf('task-2'))).toEqual({ ...read, isDone: true, recorded: 9 });
  });

  it('is not given back by a task that has lost it', async () => {
    await take();
    await used().fanOut.giveBackRange(newer, leaseOf('task-2'));
    expect(await take(leaseOf('task-3'))).toBeUndefined();
  });
});

describeLedgers('the record of a task', (used) => {
  it('leaves later commits of a tick alone, including the outbox', async () => {
    await used().create(assessment({ id: 1, email: 'of-the-tick@example.org' }));
    const sightings = changesOf([assessment({ id: 1 }), assessment({ id: 2 })]);
    const recorded = await used().fanOut.recordNew(sightings, later);
    expect(recorded.map(({ assessment: { id } }) => id)).toEqual([2]);
    expect((await used().leftovers()).map(({ certificationId }) => certificationId)).toEqual([1]);
    const lives = await used().ledger.lives([1, 2]);
    expect(lives.get(1)?.revisions).toMatchObject([{ kind: 'created' }]);
    expect(lives.get(2)?.revisions).toMatchObject([{ kind: 'baseline' }]);
  });
});
