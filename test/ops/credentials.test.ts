import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Gate } from '../../local/aws/gate.ts';
import { Duty, denied, raisedEach, raisedOnce } from './duty.ts';

const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());

const stored = () => duty.stage.aws.secrets.get(duty.stage.aws.secretNames[0] ?? '').value;
const unset = '{"client_id":"","client_secret":""}';

function right(): string {
  const { clientId, clientSecret } = duty.stage.sandbox.credentials;
  return JSON.stringify({ client_id: clientId, client_secret: clientSecret });
}

const history = async () => (await duty.json('status --history --no-partner')).result;
const me = 'arn:aws:iam::000000000000:root';

describe('credentials set', () => {
  raisedEach(duty);

  it('has the next tick ask a partner again that has refused, and is on record', async () => {
    await duty.stage.beginWithSecret('{"client_id":"somebody","client_secret":"of-yesterday"}');
    await duty.stage.tick();
    expect(await duty.stage.tick()).toMatchObject({ payload: { outcome: 'backing-off' } });
    expect(await duty.run('credentials set', { input: right() })).toMatchObject({ exitCode: 0 });
    expect(await duty.stage.completedTick()).toMatchObject({ outcome: 'baseline' });
    const done = { command: 'credentials-stored', by: me, outcome: { ok: true, changed: true } };
    expect(await history()).toMatchObject([{ history: [done] }]);
    expect(await history()).not.toMatchObject([{ history: [{ outcome: { rest: {} } }] }]);
  });

  it('is on record as begun if the credentials could not be stored, and its progress is unknown', async () => {
    await duty.stage.completedTick();
    const secrets = new Gate();
    const env = { AWS_ENDPOINT_URL_SECRETS_MANAGER: await secrets.open() };
    secrets.always(async () => denied);
    const before = stored();
    const { exitCode, stderr } = await duty.run('credentials set', { input: right(), env });
    await secrets.close();
    expect(stderr).toContain('secretsmanager:PutSecretValue');
    expect(exitCode).toBe(4);
    expect(stored()).toBe(before);
    const begun = { command: 'credentials-stored', by: me, outcome: { changed: false, rest: {} } };
    expect(await history()).toMatchObject([{ history: [begun] }]);
  });

  it('stores credentials that the partner accepts, and the next tick works with them', async () => {
    await duty.stage.beginWithSecret(unset);
    await duty.stage.tick();
    const { exitCode, stdout, stderr } = await duty.run('credentials set', { input: right() });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('30 assessments');
    expect(stored()).toBe(right());
    await duty.stage.completedTick();
  });

  it('is missing before that, and status says how to store credentials', async () => {
    await duty.stage.beginWithSecret(unset);
    await duty.stage.tick();
    for (const where of [`--stack ${duty.stack}`, '--local']) {
      const { stdout } = await duty.runAnywhere(`status ${where} --no-partner --json`);
      expect(stdout).toContain(`npx certification-notifier credentials set ${where} --integration`);
    }
  });
});

describe('credentials set that stores nothing', () => {
  raisedOnce(duty);

  it('stores no credentials that the partner refuses, and shows no secret', async () => {
    const before = stored();
    const input = '{"client_id":"somebody","client_secret":"hush-hush"}';
    const { exitCode, stdout, stderr } = await duty.run('credentials set', { input });
    expect(exitCode).toBe(4);
    expect(stderr).toContain('(credentials-refused)');
    expect(stderr).toContain(
      'Nothing was stored. Compare client_id and client_secret with those that the partner issued',
    );
    expect(stderr).not.toContain('Secrets Manager');
    expect(stdout + stderr).not.toContain('hush');
    expect(stored()).toBe(before);
  });

  it('stores no credentials that it cannot try', async () => {
    const before = stored();
    duty.stage.partner.always(async () => undefined);
    expect(await duty.run('credentials set', { input: right() })).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('Nothing was stored. '),
    });
    expect(stored()).toBe(before);
  });

  it.each([
    ['nothing', ''],
    ['invalid JSON', 'hush-hush'],
    ['half of the credentials', '{"client_id":"somebody"}'],
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
