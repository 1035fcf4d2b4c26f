import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Deployment, integration } from '../scaffold/deployment.ts';

const stage = new Deployment();
beforeAll(() => stage.build());
afterAll(() => stage.dismantle());
beforeEach(() => stage.raise());
afterEach(() => stage.strike());

const subjects = async () => (await stage.notices()).map(({ subject }) => subject);

/** A tick that the partner refuses, and the time of the back-off after it. */
async function refusedTick() {
  expect(await stage.tick()).toMatchObject({ outcome: 'failed' });
  await stage.backOffEnds();
}

describe('the notices of the deployed parts', () => {
  it('are one for refused credentials over several ticks, and one at their end', async () => {
    await stage.completedTick();
    await stage.notices();
    const { clientId, clientSecret } = stage.sandbox.rotateSecret();
    for (let n = 0; n < 4; n++) await refusedTick();
    const notices = await stage.notices();
    expect(notices.map(({ subject }) => subject)).toEqual([
      `${integration}: the partner refuses the credentials`,
    ]);
    expect(notices[0]?.text).toContain('npx certification-notifier credentials set --stack ');
    expect(notices[0]?.text).not.toContain(clientId);

    stage.fillSecret(JSON.stringify({ client_id: clientId, client_secret: clientSecret }));
    await stage.completedTick();
    await stage.completedTick();
    expect(await subjects()).toEqual([`${integration}: the partner accepts the credentials again`]);
  });
});
