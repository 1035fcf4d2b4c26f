import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import request from 'undici/lib/api/api-request.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPartnerClient } from '../../../lambda/partner/index.ts';
import { listenOnLoopback } from '../../../local/aws/loopback-server.ts';
import { CREDENTIALS, json, page, type Responder, raw, rejection, rig } from './scripted-host.ts';

const onceOnly = { attempts: 1 } as const;
const clientOf = (baseUrl: string) =>
  createPartnerClient({ baseUrl, credentials: async () => CREDENTIALS, limits: onceOnly });

/** A responder, and the end of the connection on which it answers. */
function watched(responder: Responder) {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const list: Responder = (response, received) => {
    response.once('close', resolve);
    responder(response, received);
  };
  return { list, closed };
}

describe('base URL', () => {
  it.each([
    ...['https://partner.example.org', 'https://partner.example.org/some/prefix/'],
    ...['http://localhost:9400', 'http://127.0.0.1:9400', 'http://127.8.9.10', 'http://127.1'],
    'http://[::1]:9400',
  ])('may be %s', async (baseUrl) => {
    await clientOf(baseUrl).close();
  });

  it.each([
    ...['http://partner.example.org', 'http://10.0.0.1', 'http://127.0.0.1.example.org'],
    ...['http://localhost.example.org', 'http://[::2]', 'ftp://127.0.0.1', 'partner.example.org'],
    ...['', 'https://user:pass@partner.example.org', 'https://partner.example.org/?key=1'],
    'https://partner.example.org/#top',
  ])('may not be %j', (baseUrl) => {
    expect(() => clientOf(baseUrl)).toThrow(expect.objectContaining({ code: 'invalid-base-url' }));
  });
});

describe('a request', () => {
  it('goes below the path of the base URL, names its sender, and asks for no compression', async () => {
    const { host } = await rig();
    await clientOf(`${host.url}/district-a/`).list();
    const paths = host.received.map(({ url }) => url.pathname);
    expect(paths).toEqual(['/district-a/oauth/token', '/district-a/api/v1/ax/assessments']);
    const { name, version } = JSON.parse(await readFile('package.json', 'utf8'));
    const sent = { 'user-agent': `${name}/${version}`, 'accept-encoding': 'identity' };
    for (const { headers } of host.received) expect(headers).toMatchObject(sent);
  });

  it('uses connections again until the client is closed', async () => {
    const sockets = new Set<unknown>();
    const list: Responder = (response, received) => {
      sockets.add(response.socket);
      page([])(response, received);
    };
    const { client } = await rig({ answers: { list } });
    for (let i = 0; i < 8; i += 1) await client.list();
    // An answer is handed over before its connection is free: two may be in use by turns.
    expect(sockets.size).toBeLessThanOrEqual(2);
    await client.close();
    expect(await rejection(client.list())).toMatchObject({ code: 'invalid-call' });
  });
});

it.each(['token', 'list', 'get'] as const)('a redirect of kind %s is refused', async (kind) => {
  const { client, requests } = await rig({
    answers: { [kind]: json(302, {}, { location: '/elsewhere' }) },
  });
  const call = kind === 'list' ? client.list() : client.get(1);
  const message = expect.stringContaining('status 302');
  const reach = kind === 'get' ? 'request' : 'all';
  expect(await rejection(call)).toMatchObject({ code: 'redirect-refused', message, reach });
  expect(requests).toEqual(kind === 'token' ? ['token'] : ['token', kind]);
});

it.each([
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
])('a certificate that cannot be verified is an error without a retry: %s', async (code) => {
  const dispatcher = {
    dispatch: () => {
      throw Object.assign(new Error('as TLS says it'), { code });
    },
    close: async () => {},
  };
  const { client, requests } = await rig({ dispatcher });
  expect(await rejection(client.list())).toMatchObject({
    code: 'untrusted-host',
    message: expect.stringContaining(code),
    whatToDo: expect.stringContaining('Do not switch verification off'),
  });
  expect(requests).toEqual(['token']);
});

describe('the cap on a response', () => {
  const limits = { maxResponseBytes: 10_000, ...onceOnly };
  const body = (bytes: number) => {
    const text = JSON.stringify({ data: [], meta: { count: 0, offset: 0, page: 50 }, pad: '' });
    return text.replace('""', `"${'x'.repeat(bytes - text.length)}"`);
  };
  const headersOnly =
    (status: number, headers: Record<string, string>): Responder =>
    (response) => {
      response.writeHead(status, { 'content-length': 10_001, ...headers });
      response.flushHeaders(); // Not one byte of the body follows.
    };
  const endless: Responder = (response) => {
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(1000))) {}
    };
    response.on('drain', pour);
    pour();
  };

  it('accepts a response that just fits', async () => {
    const { client } = await rig({ limits, answers: { list: raw(body(10_000)) } });
    await expect(client.list()).resolves.toMatchObject({ rows: 0 });
  });

  it.each<[string, Responder]>([
    ['a longer one by its Content-Length', raw(body(10_001), { 'content-length': '10001' })],
    ['a longer one before its body arrives', headersOnly(200, {})],
    ['a body of unknown length', endless],
  ])('refuses %s, and ends the connection', async (_, responder) => {
    const { list, closed } = watched(responder);
    const { client } = await rig({ limits, answers: { list } });
    expect(await rejection(client.list())).toMatchObject({ code: 'response-too-large' });
    await closed;
  });

  it('does not wait for such a body of a failure, whose status counts', async () => {
    const list = headersOnly(429, { 'retry-after': '90' });
    const { client } = await rig({ limits, answers: { list } });
    const refused = { code: 'rate-limited', retryAfterMs: 90_000 };
    expect(await rejection(client.list())).toMatchObject(refused);
  });

  it.each([
    [10_000, 'unsupported-grant'],
    [10_001, 'request-refused'],
  ])('is the same for a failure: of %s bytes it is %s', async (bytes, code) => {
    const text = JSON.stringify({ error: 'unsupported_grant_type' });
    const token: Responder = (response) => response.writeHead(400).end(text.padEnd(bytes));
    const { client } = await rig({ limits, answers: { token } });
    expect(await rejection(client.list())).toMatchObject({ code });
  });

  it('counts values as well as bytes', async () => {
    const { client } = await rig({ answers: { list: raw(`[${'0,'.repeat(30_000)}0]`) } });
    expect(await rejection(client.list())).toMatchObject({ code: 'response-too-large' });
  });
});

describe('a time-out', () => {
  const started: Responder = (response) => response.writeHead(503).write('<');
  const dripping: Responder = (response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write(' '), 5);
    response.on('close', () => clearInterval(drip));
  };

  it.each<[string, string, Responder]>([
    ['headers', 'headersMs', () => {}],
    ['body', 'bodyMs', (response) => response.writeHead(200).write('{')],
    ['attempt', 'attemptMs', dripping],
  ])('ends a wait for %s, and the connection', async (phase, limit, responder) => {
    const { list, closed } = watched(responder);
    const { client } = await rig({ limits: { ...onceOnly, [limit]: 60 }, answers: { list } });
    const message = expect.stringMatching(new RegExp(phase, 'i'));
    expect(await rejection(client.list())).toMatchObject({ code: 'timed-out', message });
    await closed;
  });

  it('ends a wait for a credential source that hangs, so that a later call can succeed', async () => {
    let hangs = true;
    const { client } = await rig({
      limits: { attempts: 2, attemptMs: 150 },
      credentials: () => (hangs ? new Promise(() => {}) : Promise.resolve(CREDENTIALS)),
    });
    expect(await rejection(client.list())).toMatchObject({ code: 'timed-out' });
    hangs = false;
    await expect(client.list()).resolves.toMatchObject({ rows: 0 });
  });

  it('is retried, and the status of a failure counts although its body drips', async () => {
    const list = [started, page([])];
    const { client, requests } = await rig({ limits: { attemptMs: 60 }, answers: { list } });
    await expect(client.list()).resolves.toMatchObject({ rows: 0 });
    expect(requests).toEqual(['token', 'list', 'list']);
  });
});

describe('a host', () => {
  it.each([
    ['another protocol', 'SSH-2.0-Zuzana\r\n\r\n'],
    ['no length', 'HTTP/1.1 200 OK\r\ncontent-length: Zuzana\r\n\r\n'],
    ['no chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZuzana\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'x-pad: y\r\n'.repeat(20_000)}\r\n`],
  ])('that sends %s is an error that does not quote it', async (_, greeting) => {
    const server = createServer((socket) => socket.on('error', () => {}).end(greeting));
    onTestFinished(() => void server.close());
    const error = await rejection(clientOf(await listenOnLoopback(server)).list());
    expect(error).toMatchObject({ code: 'unexpected-response' });
    expect(`${error}${JSON.stringify(error)}`).not.toMatch(/Zuzana|x-pad/);
    if (greeting.includes('Zuzana')) expect(error).not.toHaveProperty('cause');
  });

  it('that accepts no connection is unavailable', async () => {
    const message = expect.stringContaining('ECONNREFUSED');
    const error = await rejection(clientOf('http://127.0.0.1:1').list());
    expect(error).toMatchObject({ code: 'unavailable', message });
  });
});

it('the deep imports of undici are the pool that it exports and the request that a pool makes', async () => {
  const undici = await import('undici');
  expect([Pool, request]).toEqual([undici.Pool, undici.Dispatcher.prototype.request]);
});
