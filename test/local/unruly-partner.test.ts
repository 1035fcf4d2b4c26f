import { expect, it } from 'vitest';
import { provokedEach } from './provoked.ts';

// Minutes: older answers are 1.2 seconds old.
const { stage, tick, tally, provoke } = provokedEach({ withdrawAfter: 0.05 });

const allNews = ['certify', 'backdate', 'edit', 'remove', 'certify', 'certify'];

/** Runs ticks until subscribers know the whole world. */
async function settles(): Promise<void> {
  const tallyAfterTick = async () => {
    await tick();
    return tally();
  };
  await expect
    .poll(tallyAfterTick, { timeout: 60_000, interval: 100 })
    .toMatchObject({ difference: 0, owed: 0, held: 0 });
  expect(await tally()).toMatchObject({ world: stage.sandbox.world.count });
}

it.each(['ties', 'replica'])(
  '%s: each change meanwhile is announced under one id, and none is lost',
  async (name) => {
    await provoke(name);
    const { unstableTies, replicaLag } = stage.sandbox.switches;
    expect({ ties: unstableTies, replica: replicaLag > 0 }).toMatchObject({ [name]: true });
    const created = [];
    for (const news of allNews) {
      await provoke(news);
      const { events } = await tick();
      created.push(...events.filter(({ type }) => type === 'certification.created'));
    }
    expect(created.length).toBeGreaterThan(2);
    await provoke(name);
    expect(stage.sandbox.switches).toMatchObject({ unstableTies: false, replicaLag: 0 });
    await settles();
  },
);

it('too-many-requests: the tick waits as told, and continues', async () => {
  await provoke('too-many-requests');
  expect(stage.sandbox.faults).toMatchObject([{ kind: 'too-many-requests', times: 2 }]);
  await provoke('certify');
  expect(await tick()).toMatchObject({ outcome: 'completed', events: [{}] });
  expect(stage.sandbox.faults).toEqual([]);
  for (const news of ['backdate', 'edit', 'certify']) await provoke(news);
  expect(await tick()).toMatchObject({ outcome: 'completed' });
  await settles();
});
