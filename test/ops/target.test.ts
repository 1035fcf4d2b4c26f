import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from '../../lambda/describe-error.ts';
import { BusyError } from '../../lambda/operations/errors.ts';
import { UsageError } from '../../ops/errors.ts';
import { Clients } from '../../ops/target/access.ts';
import { selectIntegration, selectIntegrations, type Target } from '../../ops/target/target.ts';
import { Duty, denied, masked, raisedOnce } from './duty.ts';

const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
raisedOnce(duty);

describe('the target of a command', () => {
  it('is the stack in AWS, or the instance of this machine', async () => {
    expect(await duty.run('test-event')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await duty.runAnywhere('test-event --local')).toMatchObject({ exitCode: 0 });
    expect(
      await duty.runAnywhere('test-event', { env: { NOTIFIER_STACK: duty.stack } }),
    ).toMatchObject({ exitCode: 0 });
    const { stdout } = await duty.runAnywhere('test-event --local', {
      env: { NOTIFIER_STACK: 'another' },
    });
    expect(masked(stdout)).toContain('accepted  district-a/test/<uuid>');
  });

  it('must be given, and only one', async () => {
    const neither = await duty.runAnywhere('test-event');
    expect(neither).toMatchObject({ exitCode: 2, stdout: '' });
    expect(neither.stderr).toContain('Give --stack NAME');
    expect(await duty.run('test-event --local')).toMatchObject({ exitCode: 2 });
  });

  it('may be a missing stack', async () => {
    const { exitCode, stderr } = await duty.runAnywhere('test-event --stack nowhere');
    expect(exitCode).toBe(3);
    expect(stderr).toBe(`error: There is no stack nowhere in us-east-1.
  Check the name (aws cloudformation list-stacks), the region and the profile.
  A retry alone does not help. (not-found)
`);
  });

  it('may be an instance that is not running', async () => {
    const { exitCode, stderr } = await duty.runAnywhere('tick --local', {
      env: { NOTIFIER_LOCAL: '/nowhere' },
    });
    expect(exitCode).toBe(3);
    expect(stderr).toContain('npm start');
  });

  it('may be an unknown integration', async () => {
    const { exitCode, stderr } = await duty.run('tick --integration district-z');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('It watches district-a.');
  });
});

describe('one of several integrations', () => {
  const deployed = (name: string) => ({
    name,
    operateFunction: '',
    schedule: '',
    selfCheck: '',
    secret: '',
  });
  const target: Target = {
    access: { isLocal: true, clients: new Clients(), settings: () => ({}) },
    name: 'prod',
    topics: { events: '', alerts: '', operations: '' },
    integrations: [deployed('district-a'), deployed('district-b')],
    output: () => '',
    caller: async () => 'odile',
  };

  it('must be named, unless all of them are meant', () => {
    expect(selectIntegration(target, 'district-b').name).toBe('district-b');
    expect(() => selectIntegration(target, undefined)).toThrow(UsageError);
    expect(selectIntegrations(target, undefined)).toHaveLength(2);
    expect(selectIntegrations(target, 'district-a')).toHaveLength(1);
  });
});

describe('a deployment of several integrations', () => {
  const several = new Duty();
  beforeAll(() => several.build({ others: ['district-b'] }));
  afterAll(() => several.dismantle());
  raisedOnce(several, () => several.stage.completedTick());

  it('is read as a whole and changed one by one; each has its own history', async () => {
    expect((await several.json('status')).result).toMatchObject([
      { settings: { integration: 'district-a' }, state: 'up-to-date', certifications: 30 },
      { settings: { integration: 'district-b' }, state: 'never-ticked', certifications: 0 },
    ]);
    const checked = await several.json('check --integration district-b');
    expect(checked).toMatchObject({ exitCode: 1, result: [{ integration: 'district-b' }] });

    const unsaid = await several.run('pause --reason moves');
    expect(unsaid).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('one of district-a, district-b'),
    });
    const { clientId, clientSecret } = several.stage.sandbox.credentials;
    const input = JSON.stringify({ client_id: clientId, client_secret: clientSecret });
    const only = '--integration district-b';
    expect(await several.run(`credentials set ${only}`, { input })).toMatchObject({ exitCode: 0 });
    expect(await several.json(`tick ${only}`)).toMatchObject({ result: { recorded: 30 } });
    expect(await several.json(`pause --reason moves ${only}`)).toMatchObject({ exitCode: 0 });
    const { result } = await several.json('status --history');
    expect(result).toMatchObject([
      { state: 'up-to-date', history: [] },
      {
        state: 'paused',
        history: [{ command: 'pause' }, { command: 'tick' }, { command: 'credentials-stored' }],
      },
    ]);
    expect(await several.json(`resume ${only}`)).toMatchObject({ result: { changed: true } });
  });

  it.each(['status', 'check'])('is reported by %s although one of them fails', async (command) => {
    const ofTheSecond = [...several.stage.aws.functions.keys()].find((name) =>
      /OperateFunctionDistrictB|districtbOperate/i.test(name),
    );
    const denyTheSecond = () =>
      several.lambda.always(async ({ operation, forward }) =>
        operation.includes(String(ofTheSecond)) ? denied : forward(),
      );
    denyTheSecond();
    const { exitCode, stdout, stderr } = await several.run(command);
    const machines = await several.json(command);
    expect(stdout).toMatch(/^district-a/);
    expect(stderr).toContain('error: district-b: AWS refuses lambda:InvokeFunction');
    expect(exitCode).toBe(4);
    expect(machines).toMatchObject({
      exitCode: 4,
      ok: false,
      problem: { code: 'not-permitted' },
      result: [expect.anything()],
    });
  });
});

describe('a failure between the command line and the function', () => {
  const notStarted = async () => ({
    status: 429,
    type: 'application/json',
    body: '{"__type":"TooManyRequestsException"}',
  });

  it('of AWS to start the function at once is retried', async () => {
    duty.lambda.once(duty.invocation, notStarted);
    const { exitCode, stderr } = await duty.run('test-event');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(duty.lambda.calls).toHaveLength(2);
  });

  it('of AWS to start the function is told, and Ctrl-C ends the wait', async () => {
    duty.lambda.always(notStarted);
    const program = duty.start('test-event');
    await program.shows(/ is given again /);
    program.interrupt();
    const { exitCode, stdout, stderr } = await program.ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
    expect(stderr).toMatch(
      /^AWS does not start the function for district-a now .*: nothing was done\. The command is given again for up to a minute\.\nerror: Interrupted\.\n {2}Nothing was changed\./,
    );
  });

  it('by Ctrl-C is reported', async () => {
    const program = duty.start('test-event');
    duty.lambda.once(duty.invocation, async () => {
      program.interrupt();
      await program.ended;
      return undefined;
    });
    const { exitCode, stdout, stderr } = await program.ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
    expect(stderr).toContain('the test event may be sent');
  });

  it.each([
    [
      'a missing permission to read the stack',
      () =>
        duty.cloudFormation.once('DescribeStacks', async () => ({
          status: 403,
          type: 'text/xml',
          body: '<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>',
        })),
      4,
      'cloudformation:DescribeStacks',
    ],
    [
      'a missing permission to invoke the function',
      () => duty.lambda.once(duty.invocation, async () => denied),
      4,
      'lambda:InvokeFunction',
    ],
    [
      'a connection that breaks',
      () => duty.lambda.once(duty.invocation, async () => undefined),
      5,
      'A retry can help.',
    ],
    [
      'a failing Lambda',
      () =>
        duty.lambda.once(duty.invocation, async () => ({
          status: 500,
          type: 'application/json',
          body: '{"__type":"ServiceException"}',
        })),
      5,
      'lambda:InvokeFunction failed (ServiceException)',
    ],
    [
      'a tick that does not complete',
      () =>
        duty.lambda.once(duty.invocation, async () => ({
          status: 200,
          type: 'application/json',
          body: JSON.stringify({ ok: false, problem: problemOf(new BusyError(), 'command') }),
        })),
      5,
      'A tick or another command is at work on this integration, and has not ended in time.',
    ],
    [
      'an answer of another version',
      () =>
        duty.lambda.once(duty.invocation, async () => ({
          status: 200,
          type: 'application/json',
          body: '{"ok":true,"result":{}}',
        })),
      5,
      'Use the command line of the version that is deployed',
    ],
    [
      'a deleted function',
      () =>
        duty.lambda.once(duty.invocation, async () => ({
          status: 404,
          type: 'application/json',
          body: '{"__type":"ResourceNotFoundException"}',
        })),
      3,
      'deploy the stack again',
    ],
  ])('has its own text and exit code: %s', async (_what, break_, exitCode, words) => {
    break_();
    const run = await duty.run('test-event');
    expect(run.stderr).toContain(words);
    expect(run).toMatchObject({ exitCode, stdout: '' });
  });

  it('may be a function that dies', async () => {
    // With a token from another test, it would not request one.
    await duty.stage.operate.kill();
    // This bypasses the gate, which does not pass on Lambda's own headers.
    duty.stage.partner.once('/oauth/token', async () => {
      await duty.stage.operate.kill();
      return undefined;
    });
    const { exitCode, stderr } = await duty.runAnywhere('tick --local');
    expect(stderr).toContain('failed (Runtime.ExitError)');
    expect(exitCode).toBe(5);
  });

  it('is JSON for machines', async () => {
    duty.lambda.once(duty.invocation, async () => denied);
    expect(await duty.json('test-event')).toEqual({
      exitCode: 4,
      ok: false,
      problem: expect.objectContaining({ code: 'not-permitted', retryHelps: false }),
    });
  });

  it('sends no control characters to the terminal, with any text', async () => {
    const evil = '\u001B[2Jred\u0007\u202Eright\u009B31m\nsecond';
    const body = JSON.stringify({
      ok: false,
      problem: { code: 'x', fault: 'ops', message: evil, retryHelps: false, whatToDo: evil },
    });
    for (const json of ['', ' --json']) {
      duty.lambda.once(duty.invocation, async () => ({
        status: 200,
        type: 'application/json',
        body,
      }));
      const { stdout, stderr } = await duty.run(`test-event${json}`);
      expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\u202E/u);
    }
  });
});
