import { expect, it } from 'vitest';
import { closeSandboxes, integrationAt } from './sandbox-integration.ts';

closeSandboxes();

const tooFew = 'the partner allows too few requests';

it('the baseline of a host that allows 12 requests a minute is read at that pace', async () => {
  const { story, subjects, isRead } = await integrationAt({
    records: 3_000,
    requestsPerMinute: 12,
  });
  let minutes = 0;
  for (; !(await isRead()); minutes++)
    expect(await story.minute()).toMatchObject({ outcome: 'baseline', failed: 0 });
  // The last tick takes part of a minute: 3,000 in pages of a hundred take two and a half.
  expect(minutes - 1).toBeLessThanOrEqual(1.5 * 2.5);
  expect(story.memory.items.size).toBe(3_000);
  expect(subjects()).toEqual([tooFew, 'baseline completed']);
});

it('a backdated record is found at a host that allows 5 requests a minute', async () => {
  const { story, sandbox } = await integrationAt({ records: 3_000 });
  await story.baseline();
  sandbox.set({ requestsPerMinute: 5 });
  await story.minutes(2);
  const { id } = sandbox.world.add({ certified_on: '2024-02-29' });
  for (let minute = 0; story.heard.length === 0 && minute < 10; minute++)
    expect(await story.minute()).toMatchObject({ outcome: 'completed', failed: 0 });
  expect(story.ids()).toEqual([`${story.name}/${id}/1`]);
});

it('rows that are too large are skipped, and told', async () => {
  const { story, sandbox, subjects } = await integrationAt({ records: 300, hugeRows: 0.005 });
  const before = sandbox.world.count;
  await story.baseline();
  const unread = before - story.memory.items.size;
  expect(unread).toBeGreaterThan(0);
  expect(unread).toBeLessThan(6);
  sandbox.set({ hugeRows: 0 });
  story.clock.advance({ hours: 24 });
  await story.minutes(10);
  expect(story.heard).toHaveLength(unread);
  expect(subjects()).toContain('no record is malformed any more');
});

it('pages of more than 2 MiB are read with fewer rows', async () => {
  const { story, world, ids } = await integrationAt({ records: 0 });
  const remarks = '.'.repeat(30_000);
  const add = () => {
    const { id } = world.add({ certified_on: '2026-03-04' });
    world.spoil(id, { set: { remarks } });
    return id;
  };
  for (let n = 0; n < 150; n++) add();
  await story.baseline();
  expect([...story.memory.items.keys()].sort()).toEqual(ids().sort());
  const id = add();
  expect(await story.minute()).toMatchObject({ created: 1, quarantined: 0 });
  expect(story.ids()).toEqual([`${story.name}/${id}/1`]);
});
