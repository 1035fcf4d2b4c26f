import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Clients } from '../../ops/target/access.ts';
import { OperateClient } from '../../ops/target/operate-client.ts';
import { findTarget } from '../../ops/target/target.ts';
import { ManualClock } from '../scaffold/clock.ts';

/** Accepts requests, and by default never answers. */
const requests: IncomingMessage[] = [];
let answered: (response: ServerResponse) => void;
const server = createServer((request, response) => {
  requests.push(request);
  request.resume();
  answered(response);
});
let endpoint = '';

beforeEach(async () => {
  requests.length = 0;
  answered = () => {};
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  endpoint = `http://127.0.0.1:${address.port}`;
});
afterEach(async () => {
  vi.useRealTimers();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const never = new AbortController().signal;
const credentials = { accessKeyId: 'duty', secretAccessKey: 'duty' };

const access = () => ({
  isLocal: false,
  clients: new Clients(),
  settings: () => ({ region: 'us-east-1', endpoint, credentials }),
});
const integration = {
  name: 'district-a',
  operateFunction: 'operate',
  schedule: '',
  selfCheck: '',
  secret: '',
};

describe('a function that AWS does not start', () => {
  const clock = () => new ManualClock();
  const refuse = (response: ServerResponse) =>
    void response
      .writeHead(429, { 'x-amzn-errortype': 'TooManyRequestsException' })
      .end('{"Message":"Rate Exceeded."}');
  const answer = (response: ServerResponse) =>
    void response.writeHead(200).end(JSON.stringify({ ok: true, result: { changed: true } }));

  /** Lets AWS refuse so many times, and records the warnings. */
  async function given(times: number, told: string[]) {
    answered = (response) => (requests.length > times ? answer : refuse)(response);
    const onNotStarted = ({ message }: Error) => void told.push(`${requests.length}: ${message}`);
    const client = new OperateClient(access(), integration, {
      stop: never,
      clock: clock(),
      onNotStarted,
    });
    return client.ask('resume', {});
  }

  it('gets the command again, without a warning within two seconds', async () => {
    const told: string[] = [];
    expect(await given(2, told)).toMatchObject({ changed: true });
    expect({ requests: requests.length, told }).toEqual({ requests: 3, told: [] });
  });

  it('gets the command for a minute, with one warning', async () => {
    const told: string[] = [];
    await expect(given(100, told)).rejects.toMatchObject({ code: 'not-started', exitCode: 5 });
    // After 0, 1, 2, 4, 8, 16, 24, 32, 40, 48, 56 and 64 seconds.
    expect(requests).toHaveLength(12);
    expect(told).toEqual([
      '3: AWS does not start the function for district-a now (TooManyRequestsException): nothing was done.',
    ]);
  });

  it('gets no second request from callers that poll', async () => {
    answered = refuse;
    const client = new OperateClient(access(), integration, { stop: never, clock: clock() });
    await expect(client.ask('status', {})).rejects.toMatchObject({ code: 'not-started' });
    expect(requests).toHaveLength(1);
  });

  it('gets no second request for a command that may have been carried out', async () => {
    answered = (response) => void response.writeHead(500).end('{}');
    const client = new OperateClient(access(), integration, {
      stop: never,
      clock: clock(),
      onNotStarted: () => {},
    });
    await expect(client.ask('resume', {})).rejects.toMatchObject({ exitCode: 5 });
    expect(requests).toHaveLength(1);
  });
});

describe('a connection without further data', () => {
  it.each([
    ['after the question', () => {}],
    [
      'after half an answer',
      (response: ServerResponse) => void response.writeHead(200).write('{"ok":'),
    ],
  ])('%s ends a command, which is not sent twice', async (_when, answer) => {
    answered = answer;
    const client = new OperateClient(access(), integration, { stop: never, silenceMs: 50 });
    await expect(client.ask('pause', { reason: 'maintenance' })).rejects.toMatchObject({
      code: 'answer-lost',
      exitCode: 5,
    });
    expect(requests).toHaveLength(1);
  });

  it('ends other calls to AWS', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const asked = { stack: 'prod', local: false, region: 'us-east-1' };
    const host = {
      environment: {},
      stopping: new AbortController(),
      aws: () => access().settings(),
    };
    const failure = findTarget(asked, host, new Clients()).catch((error) => error);
    for (const attempt of [1, 2, 3]) {
      await vi.waitFor(() => expect(requests).toHaveLength(attempt), { timeout: 5_000 });
      await vi.advanceTimersByTimeAsync(11_000);
    }
    expect(await failure).toMatchObject({ code: 'aws-failed', reason: 'ETIMEDOUT', exitCode: 5 });
  });
});
