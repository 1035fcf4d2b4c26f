import { expect, it } from 'vitest';
import { closeSandboxes, integrationAt } from './sandbox-integration.ts';

closeSandboxes();

const today = '2026-11-21';

it('a total that is 40 more than the sum of its days causes one notice', async () => {
  const { story, sandbox, world, subjects, told } = await integrationAt({ records: 300 });
  await story.baseline();
  story.notices.length = 0;
  sandbox.set({ countOffset: 40 });
  await story.minutes(9);
  expect(subjects()).toEqual([]);
  await story.minutes(5);
  expect(subjects()).toEqual(['the total is not the sum of its days']);
  const { id } = world.add({ certified_on: '2019-03-04' });
  await story.minutes(3);
  expect(told()).toEqual([`created ${id}`]);
  sandbox.set({ countOffset: 0 });
  await story.minutes(13);
  expect(subjects().slice(1)).toEqual(['the total is the sum of its days again']);
  expect(told()).toHaveLength(1);
});

it('at most 500 events pass when all of 700 ids are replaced, by all ticks together', async () => {
  const { story, world, ids, subjects } = await integrationAt({ records: 700 });
  await story.baseline();
  const before = ids();
  for (const id of before) {
    const { certified_on = today } = world.get(id) ?? {};
    world.remove(id);
    world.add({ certified_on });
  }
  // The audits of all days are due.
  story.clock.advance({ hours: 25 });
  for (let minute = 0; minute < 20; minute++) {
    // Another instance begins before this one has ended, and now and then one dies at its first
    // settling.
    const dies = story.ledgerWith({ settle: () => new Promise(() => undefined) });
    const ticks = [story.tick(), story.tick()];
    if (minute % 3 === 0) ticks.push(Promise.race([story.tick({ ledger: dies }), story.tick()]));
    await Promise.allSettled(ticks);
    story.clock.advance({ minutes: 1 });
  }
  const told = new Set(story.ids());
  expect(told.size).toBeLessThanOrEqual(500);
  expect(told.size + story.memory.held.length).toBe(700);
  expect(subjects()).toContain('a flood of changes is held');
});

it('a missing assignment at the partner is recognized by the request and the status of the answer', async () => {
  const { story, sandbox, subjects, world, told } = await integrationAt({ records: 50 });
  await story.baseline();
  story.notices.length = 0;
  sandbox.injectFaults({ kind: 'server-error', status: 400, times: 'always' });
  await expect(story.minute()).rejects.toMatchObject({ code: 'not-provisioned' });
  expect(subjects()).toEqual(['the partner has assigned no scope']);
  sandbox.clearFaults();
  const { id } = world.add({ certified_on: today });
  await story.minutes(5);
  expect(told()).toEqual([`created ${id}`]);
  expect(subjects()).toEqual([
    'the partner has assigned no scope',
    'the partner has assigned a scope',
  ]);
});

it('an id given to another educator is an update, with the fields of the person', async () => {
  const { story, world, ids, told } = await integrationAt({ records: 50 });
  await story.baseline();
  const [id = 0] = ids().slice(-1);
  const { certified_on } = world.get(id) ?? {};
  world.spoil(id, {
    set: {
      name: 'Odalys Ashgrove',
      first_name: 'Odalys',
      last_name: 'Ashgrove',
      email: 'odalys@example.org',
      seid: 'OTHER',
    },
  });
  await story.minutes(2);
  expect(told()).toEqual([`updated ${id}`]);
  const [event] = story.heard;
  expect(event?.data).toMatchObject({
    changed: ['seid', 'name', 'first_name', 'last_name', 'email'],
    assessment: { id, certified_on, name: 'Odalys Ashgrove' },
  });
});
