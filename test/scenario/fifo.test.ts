import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Deployment, integration, queues } from '../scaffold/deployment.ts';

const stage = new Deployment();
beforeAll(() => stage.build({ topic: 'fifo' }));
afterAll(() => stage.dismantle());
beforeEach(() => stage.raise());
afterEach(() => stage.strike());

describe('from the partner to the subscribers of a FIFO topic', () => {
  it('each change of an assessment is one event, for the subscribers that want it', async () => {
    await stage.completedTick();
    const { world } = stage.sandbox;
    const one = world.add({ organization_id: stage.filtered });
    expect(await stage.completedTick()).toMatchObject({ created: 1, delivered: 1 });
    world.change(one.id, { email: 'somebody-else@example.org' });
    await stage.completedTick();
    await stage.completedTick();
    const id = (revision: number) => `${integration}/${one.id}/${revision}`;
    expect((await stage.events(queues.everything)).map((event) => event.id).sort()).toEqual([
      id(1),
      id(2),
    ]);
    expect((await stage.events(queues.oneOrganization)).map((event) => event.id)).toEqual([id(1)]);
    expect(await stage.mails()).toHaveLength(2);
  });
});
