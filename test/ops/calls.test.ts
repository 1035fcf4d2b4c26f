import { describe, expect, it } from 'vitest';
import { BusyError } from '../../lambda/commands/errors.ts';
import { problemOf } from '../../lambda/describe-error.ts';
import type { Reply } from '../../local/aws/gate.ts';
import { Clients } from '../../ops/target/access.ts';
import { OperateClient } from '../../ops/target/operate-client.ts';
import { findTarget } from '../../ops/target/target.ts';
import { desk, json, notStarted, settled, xmlError } from './desk.ts';

const duty = desk(settled);

describe('a function that AWS does not start', () => {
  it('gets the command again, without a warning within two seconds', async () => {
    for (let time = 0; time < 2; time += 1) duty.nextCall(async () => notStarted);
    const { exitCode, stderr } = await duty.run('resume');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(duty.lambda.calls).toHaveLength(3);
  });

  it('gets the command for a minute, with one warning', async () => {
    duty.lambda.always(async () => notStarted);
    const { exitCode, stderr } = await duty.run('resume');
    // After 0, 1, 2, 4, 8, 16, 24, 32, 40, 48, 56 and 64 seconds.
    expect(duty.lambda.calls).toHaveLength(12);
    expect(stderr).toMatch(
      /^AWS does not start the function for district-\d+ now \(TooManyRequestsException\): nothing was done\. The command is given again for up to a minute\.\nerror: .*\n.*\n.*\(not-started\)\n$/,
    );
    expect(exitCode).toBe(5);
  });
});

describe('a failure between the command line and the function', () => {
  const ok = (body: object) => json(200, body);
  const busy = ok({ ok: false, problem: problemOf(new BusyError(), 'command') });
  const removed = json(404, { __type: 'ResourceNotFoundException' });
  it.each<[string, Reply | undefined, number, string]>([
    ['a connection that breaks', undefined, 5, 'A retry can help.'],
    ['a failing Lambda', json(500, { __type: 'X' }), 5, 'lambda:InvokeFunction failed (X)'],
    ['a tick that does not complete', busy, 5, 'and has not ended in time.'],
    ['an answer of another version', ok({ ok: true, result: {} }), 5, 'version that is deployed'],
    ['a deleted function', removed, 3, 'deploy the stack'],
  ])('has its own text, and is not tried again: %s', async (_, reply, code, said) => {
    duty.lambda.always(async () => reply);
    const { exitCode, stdout, stderr } = await duty.run('test-event');
    expect(stderr).toContain(said);
    expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' });
    expect(duty.lambda.calls).toHaveLength(1);
  });

  it.each([
    ['AccessDenied', 4, 'AWS refuses cloudformation:DescribeStacks (AccessDenied).'],
    ['ExpiredToken', 4, 'The AWS credentials have expired.'],
    ['ExpiredTokenException', 4, 'The AWS credentials have expired.'],
    ['InvalidClientTokenId', 4, 'AWS does not know these credentials.'],
    ['SignatureDoesNotMatch', 4, 'AWS does not know these credentials.'],
    ['', 3, 'The stack prod has no output OperateFunctionDistrictX.'],
  ])('may be that the stack cannot be used: %s', async (code, exitCode, said) => {
    duty.outputs = { Integrations: 'district-x' };
    if (code) duty.aws.always(async () => xmlError(code));
    const { stderr, ...ended } = await duty.run('tick');
    expect(stderr).toContain(`error: ${said}`);
    expect(ended).toEqual({ exitCode, stdout: '' });
  });

  it.each(['', ' --json'])('sends no control characters to the terminal%s', async (option) => {
    const evil = '\u001B[2Jred\u0007\u202Eright\u009B31m\nsecond';
    const problem = { code: 'x', fault: 'ops', message: evil, retryHelps: false, whatToDo: evil };
    duty.nextCall(async () => ok({ ok: false, problem }));
    const { stdout, stderr } = await duty.run(`test-event${option}`);
    expect(stdout + stderr).toContain('red');
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\u202E/u);
  });
});

describe('a connection without an answer', () => {
  const found = () => {
    const { aws = () => ({}), environment = {} } = duty.outside({});
    const host = { aws, environment, stopping: new AbortController() };
    return findTarget({ stack: duty.stack, local: false }, host, new Clients());
  };

  it('ends a command, which is not sent twice', async () => {
    const { access, integrations } = await found();
    duty.lambda.always(() => new Promise(() => {}));
    const { signal: stop } = new AbortController();
    const [client] = integrations.map(
      (one) => new OperateClient(access, one, { stop, silenceMs: 50 }),
    );
    const failure = { code: 'answer-lost', exitCode: 5 };
    await expect(client?.ask('pause', { reason: 'moves' })).rejects.toMatchObject(failure);
    expect(duty.lambda.calls).toHaveLength(1);
  });

  it.each(['cloudFormation', 'scheduler', 'secretsManager', 'sns', 'sqs', 'sts'] as const)(
    'to %s ends after 10 s',
    async (service) => {
      const { access } = await found();
      const limits = { requestTimeout: 10_000, socketTimeout: 10_000, throwOnRequestTimeout: true };
      expect(access.settings(service).requestHandler).toMatchObject(limits);
    },
  );
});
