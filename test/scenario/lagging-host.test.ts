import { expect, it } from 'vitest';
import { closeSandboxes, integrationAt, type Story } from './sandbox-integration.ts';

closeSandboxes();

/**
 * Two hours with records that appear, change, disappear and return, a few minutes apart.
 *
 * @returns the events that subscribers should hear
 */
async function twoHours({ story, world }: Story): Promise<readonly string[]> {
  const days = ['2026-11-21', '2026-11-19', '2024-02-29'];
  const [edited, gone] = ['edited', 'gone'].map(() =>
    days.map((certified_on) => world.add({ certified_on })),
  );
  story.clock.advance({ minutes: 15 });
  await story.baseline();
  const heard: string[] = [];
  for (const [index, certified_on] of days.entries()) {
    const created = world.add({ certified_on });
    heard.push(`created ${created.id}`);
    await story.minutes(3);
    const { id: changed } = edited?.[index] ?? created;
    // Far back, it would be found within the day.
    if (certified_on > '2026') {
      world.spoil(changed, { set: { email: 'changed@example.org' } });
      heard.push(`updated ${changed}`);
    }
    await story.minutes(4);
    const { id: removed } = gone?.[index] ?? created;
    world.remove(removed);
    heard.push(`withdrawn ${removed}`);
    await story.minutes(5);
  }
  await story.minutes(40);
  for (const { id } of gone ?? []) {
    world.restore(id);
    heard.push(`restored ${id}`);
    await story.minutes(4);
  }
  await story.minutes(30);
  return heard.sort();
}

it.each([1, 29, 63])(
  'subscribers hear each true change once, at a host with a replica ten minutes behind (%i)',
  async (seed) => {
    const host = await integrationAt({ records: 250, replicaLag: 10, seed });
    const heard = await twoHours(host);
    expect(host.told()).toEqual(heard);
  },
);

it.each([10, 60, 300])(
  'subscribers hear each true change once, at a host with answers from a cache of %i seconds',
  async (cache) => {
    const host = await integrationAt({ records: 250, cache });
    const heard = await twoHours(host);
    expect(host.told()).toEqual(heard);
  },
);
