import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { IdleEnvironments, LocalFunction, type OutputLine } from '../../../local/aws/function.ts';
import type { FunctionPlan } from '../../../local/aws/interpret.ts';

const endpoints = {
  dynamodb: 'http://127.0.0.1:1',
  sns: 'http://127.0.0.1:2',
  sqs: 'http://127.0.0.1:2',
  secretsManager: 'http://127.0.0.1:3',
  kms: 'http://127.0.0.1:4',
};
const started: LocalFunction[] = [];
afterEach(() => Promise.all(started.splice(0).map((each) => each.kill())));

function fixture(
  onOutput: (line: OutputLine) => void = () => {},
  handler = 'index.handler',
  idle?: IdleEnvironments,
  random?: number,
  more: Partial<FunctionPlan> = { reservedConcurrency: 1 },
) {
  const localFunction = new LocalFunction(
    {
      logicalId: 'Poll',
      name: 'Small-Poll',
      arn: 'arn:aws:lambda:us-east-1:000000000000:function:Small-Poll',
      handler,
      assetKey: 'unused.zip',
      timeoutSeconds: 0.5,
      memoryMb: 256,
      ...more,
      environment: { GIVEN: 'by the template' },
      logging: { format: 'JSON', level: undefined, group: '/aws/lambda/Small-Poll' },
    },
    {
      codeDirectory: join(import.meta.dirname, 'fixtures/function'),
      region: 'eu-west-1',
      endpoints,
      onOutput,
      ...(idle && { idle }),
      ...(random !== undefined && { random }),
    },
  );
  started.push(localFunction);
  return localFunction;
}

test('the second invocation finds the process the first one started', async () => {
  const poll = fixture();
  expect(await poll.invoke()).toMatchObject({ coldStart: true, payload: { invocations: 1 } });
  expect(await poll.invoke()).toMatchObject({ coldStart: false, payload: { invocations: 2 } });
});

test('a function killed within an invocation fails, and its next invocation starts cold', async () => {
  const poll = fixture();
  await poll.invoke();
  const cut = poll.invoke({ do: 'hang' });
  await poll.kill();
  expect(await cut).toMatchObject({ outcome: 'failed', errorType: 'Runtime.ExitError' });
  expect(await poll.invoke()).toMatchObject({ coldStart: true, payload: { invocations: 1 } });
});

test.each(['hang', 'spin'])(
  'a handler that does not end (%s) is ended at its time-out',
  async (what) => {
    const poll = fixture();
    const result = await poll.invoke({ do: what });
    expect(result).toMatchObject({
      outcome: 'failed',
      errorType: 'Sandbox.Timedout',
      errorMessage: `RequestId: ${result.requestId} Error: Task timed out after 0.50 seconds`,
    });
    expect(await poll.invoke()).toMatchObject({ coldStart: true, outcome: 'returned' });
  },
);

test.each(['times out', 'is killed'])(
  'a process that %s is gone, with all of its connections',
  async (how) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = Object(server.address());
    const poll = fixture();
    const connected = once(server, 'connection');
    const cut = poll.invoke({ do: 'connect', port });
    const [socket] = await connected;
    const closed = once(socket, 'close');
    socket.on('error', () => {}).resume();
    if (how === 'is killed') await poll.kill();
    await Promise.all([cut, closed]);
    server.close();
  },
);

test('a thrown error is reported with its type and message, and the process stays warm', async () => {
  const poll = fixture();
  expect(await poll.invoke({ do: 'throw' })).toMatchObject({
    outcome: 'failed',
    errorType: 'TypeError',
    errorMessage: 'no such thing',
  });
  expect(await poll.invoke()).toMatchObject({ coldStart: false });
});

test('without a reserved concurrency, ten at once are carried out and more are throttled', async () => {
  const operate = fixture(() => {}, 'index.handler', undefined, undefined, {});
  const all = await Promise.all(Array.from({ length: 11 }, () => operate.invoke()));
  const counts = all.map((one) =>
    one.outcome === 'returned' ? Object(one.payload).invocations : 0,
  );
  expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0]);
  expect(all.at(-1)).toMatchObject({ errorType: 'TooManyRequestsException' });
});

test('an invocation that finds the only one of its reserved concurrency busy is throttled', async () => {
  const poll = fixture();
  const first = poll.invoke();
  expect(await poll.invoke()).toMatchObject({ errorType: 'TooManyRequestsException' });
  expect(await first).toMatchObject({ outcome: 'returned' });
});

test('every line arrives before the invocation ends, metric lines marked as such', async () => {
  const lines: OutputLine[] = [];
  await fixture((line) => lines.push(line)).invoke({ do: 'write' });
  expect(lines.map(({ stream, kind, text }) => ({ stream, kind, text }))).toEqual(
    expect.arrayContaining([
      { stream: 'stdout', kind: 'log', text: 'a plain line' },
      { stream: 'stderr', kind: 'log', text: 'a line on stderr' },
      { stream: 'stdout', kind: 'metrics', text: expect.stringContaining('_aws') },
    ]),
  );
});

test("the environment is the template's, Lambda's and the SDK's, and has nothing of this machine", async () => {
  process.env.LEAKED_FROM_THE_MACHINE = 'yes';
  const result = await fixture().invoke({ do: 'environment' });
  delete process.env.LEAKED_FROM_THE_MACHINE;
  const { payload } = Object(result);
  expect(payload).toMatchObject({
    GIVEN: 'by the template',
    AWS_REGION: 'eu-west-1',
    AWS_LAMBDA_FUNCTION_NAME: 'Small-Poll',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
    AWS_ENDPOINT_URL_SNS: endpoints.sns,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secretsManager,
  });
  expect(payload).not.toHaveProperty('LEAKED_FROM_THE_MACHINE');
  expect(payload).not.toHaveProperty('PATH');
});

describe('an environment that outlives its function', () => {
  let idle: IdleEnvironments;
  beforeEach(() => {
    idle = new IdleEnvironments();
  });
  afterEach(() => idle.end());
  const next = (onOutput?: (line: OutputLine) => void, handler?: string) =>
    fixture(onOutput, handler, idle);

  it('is warm for an equal function, and only that function hears it from then on', async () => {
    const heard: string[] = [];
    const one = next(() => heard.push('one'));
    await one.invoke();
    await one.leave();
    const other = next(() => heard.push('other'));
    const result = await other.invoke({ do: 'write' });
    expect(result).toMatchObject({ coldStart: false, outcome: 'returned' });
    expect(heard).toEqual(['other', 'other', 'other']);
    expect(await other.invoke()).toMatchObject({ payload: { invocations: 3 } });
  });

  it('is not taken by a different function', async () => {
    const one = next();
    await one.invoke();
    await one.leave();
    expect(await next(undefined, 'echo.handler').invoke()).toMatchObject({ coldStart: true });
  });

  it.each([
    ['was killed', async (one: LocalFunction) => one.kill()],
    ['has died', async (one: LocalFunction) => one.invoke({ do: 'exit' })],
    ['is at work', async (one: LocalFunction) => void one.invoke({ do: 'hang' })],
  ])('does not exist after the function %s', async (_, meet) => {
    const one = next();
    await one.invoke();
    await meet(one);
    await one.leave();
    expect(await next().invoke()).toMatchObject({ coldStart: true });
  });

  it('is ended when more than the limit have been left since', async () => {
    const two = new IdleEnvironments(2);
    const leave = async (random: number) => {
      const one = fixture(undefined, undefined, two, random);
      const { coldStart } = await one.invoke();
      await one.leave();
      return coldStart;
    };
    for (const random of [0.1, 0.2, 0.3]) await leave(random);
    expect([await leave(0.2), await leave(0.3), await leave(0.1)]).toEqual([false, false, true]);
    await two.end();
  });
});
