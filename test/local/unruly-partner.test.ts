import { expect, it } from 'vitest';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import { provokedEach } from './provoked.ts';

// Minutes: older answers are 1.2 seconds old.
const { stage, tick, tally, provoke } = provokedEach({ withdrawAfter: 0.05 });

it.each(['ties', 'replica'])(
  '%s: what happens meanwhile is told under one id each, and all of it',
  async (name) => {
    await provoke(name);
    const { unstableTies, replicaLag } = stage.sandbox.switches;
    expect({ ties: unstableTies, replica: replicaLag > 0 }).toMatchObject({ [name]: true });
    const events: CertificationEvent[] = [];
    for (const news of ['certify', 'backdate', 'edit', 'remove', 'certify', 'certify']) {
      await provoke(news);
      events.push(...(await tick()).events);
    }
    await provoke(name);
    expect(stage.sandbox.switches).toMatchObject({ unstableTies: false, replicaLag: 0 });
    await expect
      .poll(
        async () => {
          events.push(...(await tick()).events);
          return tally();
        },
        { timeout: 60_000, interval: 100 },
      )
      .toMatchObject({ difference: 0, owed: 0, held: 0 });
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(await tally()).toMatchObject({ world: stage.sandbox.world.count });
    expect(events.filter(({ type }) => type === 'certification.created').length).toBeGreaterThan(2);
  },
);
