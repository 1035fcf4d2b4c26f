import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Deployment, integration, queues } from '../scaffold/deployment.ts';

const stage = new Deployment();
beforeAll(() => stage.build());
afterAll(() => stage.dismantle());
beforeEach(async () => {
  await stage.raise();
  expect(await stage.completedTick()).toMatchObject({ outcome: 'baseline', delivered: 0 });
});
afterEach(() => stage.strike());

const eventId = ({ id }: { id: number }, revision = 1) => `${integration}/${id}/${revision}`;
const idsIn = async (queue: string) => (await stage.events(queue)).map(({ id }) => id).sort();

/** Adds three invented people. The first belongs to the organization that one subscriber wants. */
function certifyThree() {
  const { world } = stage.sandbox;
  const other = world.catalogue.organizations.all.find(({ id }) => id !== stage.filtered);
  const added = [stage.filtered, other?.id, other?.id].map((organization_id = 0) =>
    world.add({ organization_id }),
  );
  return { added, ids: added.map((one) => eventId(one)).sort() };
}

describe('from the partner to the subscribers', () => {
  it('each new assessment is one event with its record, for the subscribers that want it, and its edit another', async () => {
    // Nothing depends on the clock of the partner.
    stage.sandbox.set({ clockSkew: 600 });
    await stage.poll.kill();
    expect(await stage.completedTick()).toMatchObject({ outcome: 'completed', created: 0 });
    const { added, ids } = certifyThree();
    const [one] = added;
    if (one === undefined) throw new Error('nobody is certified');
    expect(await stage.completedTick()).toMatchObject({ created: 3, delivered: 3 });
    await stage.completedTick();
    const events = await stage.events(queues.everything);
    expect(events.map(({ id }) => id).sort()).toEqual(ids);
    expect(events.find(({ id }) => id === eventId(one))?.data.assessment).toEqual(one);
    expect(await idsIn(queues.oneOrganization)).toEqual([eventId(one)]);
    const [mail, ...more] = await stage.mails();
    expect(more).toEqual([]);
    for (const { name } of added) expect(mail).toContain(name);

    stage.sandbox.world.change(one.id, { email: 'somebody-else@example.org' });
    expect(await stage.completedTick()).toMatchObject({ updated: 1 });
    expect(await stage.events(queues.everything)).toMatchObject([
      { id: eventId(one, 2), type: 'certification.updated', data: { changed: ['email'] } },
    ]);
    expect(await idsIn(queues.oneOrganization)).toEqual([]);
  });
});
