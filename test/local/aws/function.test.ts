import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import {
  type FunctionOptions,
  IdleEnvironments,
  LocalFunction,
  type OutputLine,
} from '../../../local/aws/function.ts';
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

interface Wanted extends Partial<FunctionOptions> {
  readonly handler?: string;
  readonly plan?: Partial<FunctionPlan>;
}

function fixture({ handler = 'index.handler', plan, ...options }: Wanted = {}) {
  const localFunction = new LocalFunction(
    {
      name: 'Small-Poll',
      arn: 'arn:aws:lambda:us-east-1:000000000000:function:Small-Poll',
      handler,
      assetKey: 'unused.zip',
      timeoutSeconds: 0.5,
      memoryMb: 256,
      environment: { GIVEN: 'by the template' },
      logging: { format: 'JSON', level: undefined, group: '/aws/lambda/Small-Poll' },
      ...plan,
    },
    {
      codeDirectory: join(import.meta.dirname, 'fixtures/function'),
      region: 'eu-west-1',
      endpoints,
      ...options,
    },
  );
  started.push(localFunction);
  return localFunction;
}

test('a process is kept from one invocation to the next, and a killed one fails its invocation', async () => {
  const poll = fixture();
  expect(await poll.invoke()).toMatchObject({ coldStart: true, payload: { invocations: 1 } });
  expect(await poll.invoke()).toMatchObject({ coldStart: false, payload: { invocations: 2 } });
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

test.each([
  ['without a reserved concurrency, ten', {}, 10],
  ['with a reserved concurrency of one, one', { reservedConcurrency: 1 }, 1],
])('%s at once are carried out and more are throttled', async (_, plan, limit) => {
  const poll = fixture({ plan });
  const all = await Promise.all(Array.from({ length: limit + 1 }, () => poll.invoke()));
  const throttled = { outcome: 'failed', errorType: 'TooManyRequestsException' };
  expect(all).toMatchObject([
    ...Array.from({ length: limit }, (_, n) => ({ payload: { invocations: n + 1 } })),
    throttled,
  ]);
});

test('every line arrives before the invocation ends, metric lines marked as such', async () => {
  const lines: OutputLine[] = [];
  await fixture({ onOutput: (line) => lines.push(line) }).invoke({ do: 'write' });
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
  /** A function that is warm, and then leaves. */
  const left = async (options: Wanted = {}) => {
    const one = fixture({ idle, ...options });
    const { coldStart } = await one.invoke();
    await one.leave();
    return coldStart;
  };

  it('is warm for an equal function, and only that function hears it from then on', async () => {
    const heard: string[] = [];
    await left({ onOutput: () => heard.push('one') });
    const other = fixture({ idle, onOutput: () => heard.push('other') });
    const result = await other.invoke({ do: 'write' });
    expect(result).toMatchObject({ coldStart: false, outcome: 'returned' });
    expect(heard).toEqual(['other', 'other', 'other']);
    expect(await other.invoke()).toMatchObject({ payload: { invocations: 3 } });
  });

  it('is not taken by a different function', async () => {
    await left();
    expect(await left({ handler: 'echo.handler' })).toBe(true);
  });

  it.each([
    ['was killed', async (one: LocalFunction) => one.kill()],
    ['has died', async (one: LocalFunction) => one.invoke({ do: 'exit' })],
    ['is at work', async (one: LocalFunction) => void one.invoke({ do: 'hang' })],
  ])('does not exist after the function %s', async (_, meet) => {
    const one = fixture({ idle });
    await one.invoke();
    await meet(one);
    await one.leave();
    expect(await left()).toBe(true);
  });

  it('is ended when more than the limit have been left since', async () => {
    idle = new IdleEnvironments(2);
    for (const random of [0.1, 0.2, 0.3]) await left({ random });
    const colds = [];
    for (const random of [0.2, 0.3, 0.1]) colds.push(await left({ random }));
    expect(colds).toEqual([false, false, true]);
  });
});
