import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Deployment } from './deployment.ts';

const stage = new Deployment();
beforeAll(() => stage.build());
afterAll(() => stage.dismantle());
beforeEach(() => stage.raise());
afterEach(() => stage.strike());

/** The next test of this process. */
async function nextTest() {
  await stage.strike();
  await stage.raise();
  return await stage.poll.invoke();
}

describe('a function of the next test', () => {
  it('goes on warm', async () => {
    await stage.completedTick();
    expect(await nextTest()).toMatchObject({ coldStart: false, outcome: 'returned' });
  });

  it.each([
    [
      'a gate has changed answers of SNS',
      async () => stage.sns.once('PublishBatch', async () => undefined),
    ],
    ['the partner showed another time', async () => stage.sandbox.set({ clockSkew: -300 })],
    [
      'the secret was changed',
      async () => stage.fillSecret('{"client_id":"a","client_secret":"b"}'),
    ],
  ])('starts cold where %s, also for a further environment', async (_, mislead) => {
    await mislead();
    await Promise.all([stage.tick(), stage.aws.startFunction(stage.poll.name).invoke()]);
    stage.sandbox.set({ clockSkew: 0 });
    stage.sns.reset();
    expect(await nextTest()).toMatchObject({ coldStart: true, outcome: 'returned' });
  });
});
