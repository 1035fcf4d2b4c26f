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
const lease = { owner: 'task-1', until: later };
const read = { isDone: false, recorded: 7, before: day('2026-03-01'), sliceDays: 2 };
const days = (range: PlannedRange | undefined) => `${range?.from}..${range?.to}`;

describeLedgers('the plan of a fan-out', (used) => {
  it('is the first one written, for each baseline', async () => {
    expect(await used().fanOut.plan(begunAt)).toBeUndefined();
    await used().fanOut.keepPlan(begunAt, [newer, oldest]);
    const kept = await used().fanOut.keepPlan(begunAt, [oldest]);
    expect(kept.map(days)).toEqual([newer, oldest].map(days));
    expect((await used().fanOut.plan(begunAt))?.map(days)).toEqual([newer, oldest].map(days));
    expect(kept[1]).toMatchObject({ begunAt, sliceDays: 9, isOldest: true });
    expect(await used().fanOut.plan(begunAt + 1)).toBeUndefined();
  });
});

describeLedgers('a range of a fan-out', (used) => {
  const progress = async () => (await used().fanOut.progressOf([oldest, newer]))[1];

  it('has no progress before a task has taken it', async () => {
    expect(await used().fanOut.progressOf([newer])).toEqual([{ isDone: false, recorded: 0 }]);
    expect(await used().fanOut.takeRange(newer, lease, now)).toEqual({
      ...{ isDone: false, recorded: 0 },
    });
  });

  it('belongs to one task at a time, until its lease has run out', async () => {
    const other = { owner: 'task-2', until: later.add({ minutes: 1 }) };
    await used().fanOut.takeRange(newer, lease, now);
    expect(await used().fanOut.takeRange(newer, other, now)).toBeUndefined();
    expect(await used().fanOut.takeRange(newer, lease, now)).toBeDefined();
    expect(await used().fanOut.takeRange(oldest, other, now)).toBeDefined();
    const after = later.add({ seconds: 1 });
    expect(await used().fanOut.takeRange(newer, other, after)).toBeDefined();
    expect(await used().fanOut.keepProgress(newer, lease, read)).toBe(false);
    expect(await progress()).toEqual({ isDone: false, recorded: 0 });
  });

  it('keeps its progress for the task that takes it next', async () => {
    await used().fanOut.takeRange(newer, lease, now);
    const range = { from: day('2026-02-28'), to: day('2026-02-28') };
    const bookmark = { range, offset: 300, anchors: [1, 2] };
    expect(await used().fanOut.keepProgress(newer, lease, { ...read, bookmark })).toBe(true);
    expect(await progress()).toMatchObject({
      ...{ recorded: 7, sliceDays: 2, bookmark: { offset: 300, anchors: [1, 2] } },
    });
    await used().fanOut.keepProgress(newer, lease, { isDone: true, recorded: 9 });
    await used().fanOut.giveBackRange(newer, lease);
    const next = await used().fanOut.takeRange(newer, { owner: 'task-2', until: later }, now);
    expect(next).toMatchObject({ isDone: true, recorded: 9, sliceDays: 2 });
    expect(String(next?.before)).toBe('2026-03-01');
    expect(next?.bookmark).toBeUndefined();
  });

  it('is not given back by a task that has lost it', async () => {
    await used().fanOut.takeRange(newer, lease, now);
    await used().fanOut.giveBackRange(newer, { owner: 'task-2', until: later });
    const third = { owner: 'task-3', until: later };
    expect(await used().fanOut.takeRange(newer, third, now)).toBeUndefined();
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
