import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Duty } from './duty.ts';

const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
beforeEach(() => duty.raise());
afterEach(() => duty.strike());

const stored = () => duty.stage.aws.secrets.get(duty.stage.aws.secretNames[0] ?? '').value;
const unset = '{"client_id":"","client_secret":""}';

function right(): string {
  const { clientId, clientSecret } = duty.stage.sandbox.credentials;
  return JSON.stringify({ client_id: clientId, client_secret: clientSecret });
}

describe('credentials set', () => {
  it('stores what the partner accepts, and the next tick works with it', async () => {
    duty.stage.fillSecret(unset);
    await duty.stage.tick();
    const { exitCode, stdout, stderr } = await duty.run('credentials set', { input: right() });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('30 assessments');
    expect(stored()).toBe(right());
    await duty.stage.completedTick();
  });

  it('stores nothing that the partner refuses, and shows no secret', async () => {
    const before = stored();
    const input = '{"client_id":"somebody","client_secret":"hush-hush"}';
    const { exitCode, stdout, stderr } = await duty.run('credentials set', { input });
    expect(exitCode).toBe(4);
    expect(stderr).toContain('(credentials-refused)');
    expect(stdout + stderr).not.toContain('hush');
    expect(stored()).toBe(before);
  });

  it('stores nothing that cannot be tried', async () => {
    const before = stored();
    duty.stage.partner.always(async () => undefined);
    expect(await duty.run('credentials set', { input: right() })).toMatchObject({ exitCode: 5 });
    expect(stored()).toBe(before);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', 'hush-hush'],
    ['half of it', '{"client_id":"somebody"}'],
  ])('refuses %s', async (_what, input) => {
    const { exitCode, stderr } = await duty.run('credentials set', { input });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('{"client_id": "…", "client_secret": "…"}');
    expect(stderr).not.toContain('hush');
  });

  it('takes no secret as an argument', async () => {
    expect(await duty.run('credentials set hush-hush')).toMatchObject({ exitCode: 2 });
  });
});
