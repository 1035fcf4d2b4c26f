import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../ops/errors.ts';
import { selectIntegration, selectIntegrations, type Target } from '../../ops/target/target.ts';
import { Duty, denied, ended, masked } from './duty.ts';

const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
beforeEach(() => duty.raise());
afterEach(() => duty.strike());

describe('whom a command is for', () => {
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

  it('has to be said, and both is too much', async () => {
    const neither = await duty.runAnywhere('test-event');
    expect(neither).toMatchObject({ exitCode: 2, stdout: '' });
    expect(neither.stderr).toContain('Give --stack NAME');
    expect(await duty.run('test-event --local')).toMatchObject({ exitCode: 2 });
  });

  it('may be a stack that does not exist', async () => {
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

  it('may be an integration that nobody watches', async () => {
    const { exitCode, stderr } = await duty.run('tick --integration district-z');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('It watches district-a.');
  });

  it('needs a region', async () => {
    const { exitCode, stderr } = await duty.run('tick', { env: { AWS_REGION: '' } });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--region');
  });
});

describe('one of several integrations', () => {
  const deployed = (name: string) => ({ name, operateFunction: '', schedule: '', secret: '' });
  const target: Target = {
    access: { isLocal: true, client: () => ({}) },
    name: 'prod',
    topics: { events: '', alerts: '', operations: '' },
    integrations: [deployed('district-a'), deployed('district-b')],
    caller: async () => 'odile',
  };

  it('has to be named, where all of them are not meant', () => {
    expect(selectIntegration(target, 'district-b').name).toBe('district-b');
    expect(() => selectIntegration(target, undefined)).toThrow(UsageError);
    expect(selectIntegrations(target, undefined)).toHaveLength(2);
    expect(selectIntegrations(target, 'district-a')).toHaveLength(1);
  });
});

describe('what can go wrong in between', () => {
  it('is somebody who presses Ctrl-C', async () => {
    const child = duty.start(`test-event --stack ${duty.stack}`);
    duty.lambda.once(duty.invocation, async () => {
      child.kill('SIGINT');
      await once(child, 'exit');
      return undefined;
    });
    const { exitCode, stdout, stderr } = await ended(child);
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
    expect(stderr).toContain('What the function has begun, it ends by itself.');
  });

  it.each([
    [
      'no permission to look at the stack',
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
      'no permission to invoke the function',
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
      'a Lambda that fails',
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
      'a function that is gone',
      () =>
        duty.lambda.once(duty.invocation, async () => ({
          status: 404,
          type: 'application/json',
          body: '{"__type":"ResourceNotFoundException"}',
        })),
      3,
      'deploy the stack again',
    ],
  ])('is told apart: %s', async (_what, break_, exitCode, words) => {
    break_();
    const run = await duty.run('test-event');
    expect(run.stderr).toContain(words);
    expect(run).toMatchObject({ exitCode, stdout: '' });
  });

  it('is a function that dies', async () => {
    // Without the gate, which does not hand on Lambda's own headers.
    const child = duty.start('tick --local');
    duty.stage.partner.once('/oauth/token', async () => {
      await duty.stage.operate.kill();
      return undefined;
    });
    const { exitCode, stderr } = await ended(child);
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

  it('does nothing to the terminal, whatever comes', async () => {
    const evil = '\u001B[2Jred\u0007\u202Eright\u009B31m\nsecond';
    const body = JSON.stringify({
      ok: false,
      problem: { code: 'x', message: evil, retryHelps: false, whatToDo: evil },
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

describe('the command line itself', () => {
  it.each([
    ['an unknown command', 'tikc', 'Did you mean tick?'],
    ['an unknown option', 'tick --stak x', '--stack'],
    ['a value that is none', 'replay --from yesterday', 'a day, such as 2026-11-21'],
    ['an argument too many', 'tick now', 'too many arguments'],
    ['an id that is none', 'explain abc', 'a whole number from 1'],
  ])('is refused with 2: %s', async (_what, args, words) => {
    const run = await duty.run(args);
    expect(run.stderr).toContain(words);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  });
});
