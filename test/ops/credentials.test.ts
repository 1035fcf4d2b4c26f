import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PartnerSandbox, startPartnerSandbox } from '../../local/partner-sandbox/index.ts';
import { answering, denied, desk, me, settled } from './desk.ts';

let sandbox: PartnerSandbox;
const duty = desk(async (story) => {
  await settled(story);
  story.settings = { baseUrl: sandbox.url };
});
beforeAll(async () => {
  sandbox = await startPartnerSandbox({ seed: 7, timeZone: 'UTC', records: 30 });
});
afterAll(() => sandbox.close());

const right = () => {
  const { clientId, clientSecret } = sandbox.credentials;
  return JSON.stringify({ client_id: clientId, client_secret: clientSecret });
};
const recorded = (outcome: object) => [{ command: 'credentials-stored', by: me, outcome }];

describe('credentials set', () => {
  it('stores credentials that the partner accepts, and is on record', async () => {
    const { stdout, ...ended } = await duty.run('credentials set', { input: right() });
    expect(ended).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('30 assessments');
    expect(duty.secrets).toEqual([right()]);
    expect(await duty.history()).toMatchObject(recorded({ ok: true, changed: true }));
  });

  it('is on record as begun if the credentials could not be stored', async () => {
    duty.aws.always(answering('PutSecretValue', denied));
    const { exitCode, stderr } = await duty.run('credentials set', { input: right() });
    expect(stderr).toContain('secretsmanager:PutSecretValue');
    expect(exitCode).toBe(4);
    expect(await duty.history()).toMatchObject(recorded({ changed: false, rest: {} }));
  });

  const hush = '{"client_id":"somebody","client_secret":"hush"}';
  const wanted = '{"client_id": "…", "client_secret": "…"}';
  it.each([
    ['refused', hush, 4, 'Nothing was stored. Compare'],
    ['untried', hush, 5, 'Nothing was stored. '],
    ['missing', '', 2, wanted],
    ['malformed', 'hush', 2, wanted],
    ['incomplete', '{"client_id":"somebody"}', 2, wanted],
  ])('stores no credentials that are %s, and shows no secret', async (what, input, code, said) => {
    if (what === 'untried') duty.story.settings = { baseUrl: 'http://127.0.0.1:9' };
    const { stderr, ...ended } = await duty.run('credentials set', { input });
    expect(ended).toEqual({ exitCode: code, stdout: '' });
    expect(stderr).toContain(said);
    expect(stderr).not.toMatch(/hush|Secrets Manager/);
    expect(duty.secrets).toEqual([]);
  });
});

it('Ctrl-C before credentials are read says that nothing was changed', async () => {
  const program = duty.start('credentials set');
  // This is more than the buffer holds: once all of it is written, the program reads. Its input
  // stays open.
  program.input.write(' '.repeat(1_000_000), () => program.interrupt());
  expect((await program.ended).stderr).toContain('Nothing was changed.');
});

it.each([
  ['while their caller is noted says that they are not stored', 2, 'Nothing was stored.'],
  ['after they are stored says so', 3, 'The credentials are stored'],
])('Ctrl-C %s', async (_, call, said) => {
  const { stderr } = await duty.interrupted('credentials set', { call, input: right() });
  expect(stderr).toContain(said);
  expect(stderr).not.toContain('Nothing was changed');
});
