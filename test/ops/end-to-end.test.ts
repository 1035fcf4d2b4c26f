import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { queues } from '../scaffold/deployment.ts';
import { Duty } from './duty.ts';
import { Assistant } from './mcp/assistant.ts';

// One run for each face, over the whole deployment. Each command by itself: commands.test.ts and
// its neighbours, and test/lambda/commands.
const duty = new Duty();
const { stage } = duty;
beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
afterAll(() => duty.dismantle());
beforeEach(() => duty.raise());
afterEach(() => duty.strike());

async function flood(): Promise<void> {
  for (const _ of [1, 2, 3]) stage.sandbox.world.add({ certified_on: '2019-05-06' });
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
}

it('the command line sets an integration up, decides about its events, and survives its function', async () => {
  const { clientId: client_id, clientSecret: client_secret } = stage.sandbox.credentials;
  const input = JSON.stringify({ client_id, client_secret });
  await stage.beginWithSecret('{}');
  expect(await duty.run('check')).toMatchObject({ exitCode: 1 });
  expect((await duty.run('credentials set', { input })).stdout).toContain('30 assessments');
  expect((await duty.run('tick')).stdout).toMatch(/^tick +went on with the baseline\n/);
  expect(await duty.run('check')).toMatchObject({ exitCode: 0, stderr: '' });
  await flood();
  expect((await duty.run('release --yes')).stdout).toBe('3 events released: 3 created\n');
  await stage.completedTick();
  const env = { NOTIFIER_STACK: duty.stack };
  for (const where of ['', '--local'])
    expect(await duty.runAnywhere(`test-event ${where}`, { env })).toMatchObject({ exitCode: 0 });
  expect(await stage.events(queues.everything)).toHaveLength(5);
  expect((await duty.run('status --history')).stdout).toMatch(
    /^district-a {2}up to date\n(.|\n)* release +done +arn:aws:iam::000000000000:root (.|\n)* credentials-stored +done /,
  );
  // This bypasses the gate, which does not pass on Lambda's own headers.
  stage.partner.always(async () => {
    await stage.operate.kill();
    return undefined;
  });
  const { exitCode, stderr } = await duty.runAnywhere('tick --local');
  expect(stderr).toContain('failed (Runtime.ExitError)');
  expect(exitCode).toBe(5);
});

it('a command with a mistake gets it in words, although the bundle uses zod/mini', async () => {
  const message = expect.stringContaining('to: Invalid input: expected string');
  expect(await stage.operate.invoke({ command: 'prove', from: '2026-10-01' })).toMatchObject({
    payload: { ok: false, problem: { code: 'command-invalid', message } },
  });
});

it('an assistant looks at an integration, and decides about its events once a person agrees', async () => {
  await stage.completedTick();
  await flood();
  const assistant = await new Assistant(duty, ' --allow-changes').connect();
  expect((await assistant.call('status')).text).toContain('3 held');
  expect((await assistant.call('release')).text).toContain('Release 3 events?');
  const done = await assistant.call('release', { confirm: true });
  expect(done).toMatchObject({ isError: false, structured: { ok: true, result: { events: 3 } } });
  await stage.completedTick();
  expect(await stage.events(queues.everything)).toHaveLength(3);
  const { stdout, ...ended } = await assistant.end();
  expect(ended).toEqual({ exitCode: 0, stderr: '' });
  for (const line of stdout.trimEnd().split('\n'))
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});
