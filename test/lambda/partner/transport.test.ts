import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import request from 'undici/lib/api/api-request.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPartnerClient } from '../../../lambda/partner/index.ts';
import { CREDENTIALS, json, page, type Responder, raw, rejection, rig } from './scripted-host.ts';

const onceOnly = { attempts: 1 } as const;

describe('base URL', () => {
  const create = (baseUrl: string) =>
    createPartnerClient({ baseUrl, credentials: async () => CREDENTIALS });

  it.each([
    'https://partner.example.org',
    'https://partner.example.org/some/prefix/',
    'http://localhost:9400',
    'http://127.0.0.1:9400',
    'http://127.8.9.10',
    'http://127.1',
    'http://[::1]:9400',
  ])('may be %s', async (baseUrl) => {
    await create(baseUrl).close();
  });

  it.each([
    'http://partner.example.org',
    'http://10.0.0.1',
    'http://127.0.0.1.example.org',
    'http://localhost.example.org',
    'http://[::2]',
    'ftp://127.0.0.1',
    'partner.example.org',
    '',
    'https://user:pass@partner.example.org',
    'https://partner.example.org/?key=1',
    'https://partner.example.org/#top',
  ])('may not be %j', (baseUrl) => {
    expect(() => create(baseUrl)).toThrow(expect.objectContaining({ code: 'invalid-base-url' }));
  });

  it('may have a path in front of the API', async () => {
    const { host } = await rig();
    const client = createPartnerClient({
      baseUrl: `${host.url}/district-a/`,
      credentials: async () => CREDENTIALS,
    });
    await client.list();
    expect(host.received.map(({ url }) => url.pathname)).toEqual([
      '/district-a/oauth/token',
      '/district-a/api/v1/ax/assessments',
    ]);
  });
});

describe('a request', () => {
  it('names its sender, and asks for no compression', async () => {
    const { host, client } = await rig();
    await client.list();
    const { name, version } = JSON.parse(await readFile('package.json', 'utf8'));
    for (const { headers } of host.received) {
      expect(headers['user-agent']).toBe(`${name}/${version}`);
      expect(headers['accept-encoding']).toBe('identity');
    }
  });

  it('is reported with its kind alone, with or without an answer', async () => {
    const { host, client, requests } = await rig({ limits: onceOnly });
    await client.list({ filter: { search: 'Zuzana' } });
    host.script('list', (response) => response.destroy());
    await rejection(client.list());
    expect(requests).toEqual(['token', 'list', 'list']);
  });

  it('uses connections again', async () => {
    const { host, client } = await rig();
    const sockets = new Set<unknown>();
    host.script('list', (response, request) => {
      sockets.add(response.socket);
      page([])(response, request);
    });
    for (let i = 0; i < 8; i += 1) await client.list();
    // An answer is handed over before its connection is free: two may be in use by turns.
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  it('after close is an error of ours', async () => {
    const { client } = await rig();
    await client.list();
    await client.close();
    expect(await rejection(client.list())).toMatchObject({ code: 'invalid-call' });
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('with status %s is refused', async (status) => {
    const { host, client } = await rig();
    host.script('list', json(status, {}, { location: `${host.url}/elsewhere` }));
    const error = await rejection(client.list());
    expect(error).toMatchObject({ code: 'redirect-refused' });
    expect(error).toMatchObject({ message: expect.stringContaining(`status ${status}`) });
    expect(host.received.map(({ kind }) => kind)).toEqual(['token', 'list']);
  });

  it('is refused at the token endpoint and for a single record, too', async () => {
    const { host, client } = await rig();
    host.script('get', json(302, {}, { location: '/x' }));
    expect(await rejection(client.get(1))).toMatchObject({ code: 'redirect-refused' });
    host.script('token', json(302, {}, { location: '/x' }));
    const other = createPartnerClient({ baseUrl: host.url, credentials: async () => CREDENTIALS });
    expect(await rejection(other.get(1))).toMatchObject({ code: 'redirect-refused' });
  });
});

describe('a certificate that cannot be verified', () => {
  it.each([
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ])('is a separate error without a retry: %s', async (code) => {
    let requests = 0;
    const dispatcher = {
      dispatch: () => {
        requests += 1;
        throw Object.assign(new Error('as TLS says it'), { code });
      },
      close: async () => {},
    };
    const { client } = await rig({ dispatcher });
    expect(await rejection(client.list())).toMatchObject({
      code: 'untrusted-host',
      message: expect.stringContaining(code),
      whatToDo: expect.stringContaining('Do not switch verification off'),
    });
    expect(requests).toBe(1);
  });
});

describe('the cap on a response', () => {
  const limits = { maxResponseBytes: 10_000, ...onceOnly };
  const body = (bytes: number) => {
    const text = JSON.stringify({ data: [], meta: { count: 0, offset: 0, page: 50 }, pad: '' });
    return text.replace('""', `"${'x'.repeat(bytes - text.length)}"`);
  };

  it('accepts a response that just fits', async () => {
    const { host, client } = await rig({ limits });
    host.script('list', raw(body(10_000)));
    await expect(client.list()).resolves.toMatchObject({ rows: 0 });
  });

  it('refuses a longer one by its Content-Length', async () => {
    const { host, client } = await rig({ limits });
    host.script('list', raw(body(10_001), { 'content-length': '10001' }));
    expect(await rejection(client.list())).toMatchObject({ code: 'response-too-large' });
  });

  it('refuses a longer one before its body arrives, and ends the connection', async () => {
    const { host, client } = await rig({ limits });
    const closed = new Promise((resolve) => {
      host.script('list', (response) => {
        response.once('close', resolve);
        response.writeHead(200, { 'content-length': 10_001 });
        response.flushHeaders(); // Not one byte of the body follows.
      });
    });
    expect(await rejection(client.list())).toMatchObject({ code: 'response-too-large' });
    await closed;
  });

  it('does not wait for such a body of a failure, whose status counts', async () => {
    const { host, client } = await rig({ limits });
    host.script('list', (response) => {
      response.writeHead(429, { 'content-length': 10_001, 'retry-after': '90' });
      response.flushHeaders();
    });
    expect(await rejection(client.list())).toMatchObject({
      code: 'rate-limited',
      retryAfterMs: 90_000,
    });
  });

  it('stops reading a body of unknown length, and ends the connection', async () => {
    const { host, client } = await rig({ limits });
    const closed = new Promise((resolve) => {
      host.script('list', (response) => {
        response.once('close', resolve);
        const pour = () => {
          while (!response.destroyed && response.write('x'.repeat(1000))) {}
        };
        response.on('drain', pour);
        pour();
      });
    });
    expect(await rejection(client.list())).toMatchObject({ code: 'response-too-large' });
    await closed;
  });

  it('is the same for a failure, whose body is not read beyond it', async () => {
    const { host, client } = await rig({ limits });
    const failure = (bytes: number): Responder => {
      const text = JSON.stringify({ error: 'unsupported_grant_type' });
      return (response) => response.writeHead(400).end(text.padEnd(bytes));
    };
    host.script('token', failure(10_000), failure(10_001));
    expect(await rejection(client.list())).toMatchObject({ code: 'unsupported-grant' });
    expect(await rejection(client.list())).toMatchObject({ code: 'request-refused' });
  });

  it('counts values as well as bytes', async () => {
    const { host, client } = await rig();
    host.script('list', raw(`[${'0,'.repeat(30_000)}0]`));
    expect(await rejection(client.list())).toMatchObject({ code: 'response-too-large' });
  });
});

describe('a time-out', () => {
  it.each<[string, string, Responder]>([
    ['headers', 'headersMs', () => {}],
    [
      'body',
      'bodyMs',
      (response) => {
        response.writeHead(200);
        response.write('{');
      },
    ],
    [
      'attempt',
      'attemptMs',
      (response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write(' '), 5);
        response.on('close', () => clearInterval(drip));
      },
    ],
  ])('ends a wait for %s', async (phase, limit, responder) => {
    const { host, client } = await rig({ limits: { ...onceOnly, [limit]: 60 } });
    host.script('list', responder);
    expect(await rejection(client.list())).toMatchObject({
      code: 'timed-out',
      message: expect.stringMatching(new RegExp(phase, 'i')),
    });
  });

  it('ends the connection as well', async () => {
    const { host, client } = await rig({ limits: { ...onceOnly, attemptMs: 60 } });
    const closed = new Promise((resolve) => {
      host.script('list', (response) => response.on('close', resolve));
    });
    expect(await rejection(client.list())).toMatchObject({ code: 'timed-out' });
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
    const { host, client } = await rig({ limits: { attemptMs: 60 } });
    host.script(
      'list',
      (response) => {
        response.writeHead(503);
        response.write('<');
      },
      page([]),
    );
    await expect(client.list()).resolves.toMatchObject({ rows: 0 });
    expect(host.of('list')).toHaveLength(2);
  });
});

describe('a host', () => {
  async function bareServer(onConnect: (socket: import('node:net').Socket) => void) {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      onConnect(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return createPartnerClient({
      baseUrl: `http://127.0.0.1:${address.port}`,
      credentials: async () => CREDENTIALS,
      limits: onceOnly,
    });
  }

  it.each([
    'SSH-2.0-Zuzana\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: Zuzana\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZuzana\r\n',
  ])('that says %j is an error that does not quote it', async (greeting) => {
    const client = await bareServer((socket) => socket.end(greeting));
    const error = await rejection(client.list());
    expect(error).toMatchObject({ code: 'unexpected-response' });
    expect(error).not.toHaveProperty('cause');
  });

  it('that sends headers without end is an error of ours', async () => {
    const client = await bareServer((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\n${'x-pad: y\r\n'.repeat(20_000)}\r\n`);
    });
    expect(await rejection(client.list())).toMatchObject({ code: 'unexpected-response' });
  });

  it('that accepts no connection is unavailable', async () => {
    const { host, client } = await rig({ limits: onceOnly });
    const gone = createPartnerClient({
      baseUrl: 'http://127.0.0.1:1',
      credentials: async () => CREDENTIALS,
      limits: onceOnly,
    });
    const error = await rejection(gone.list());
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(String(error)).toContain('ECONNREFUSED');
    await expect(client.list()).resolves.toMatchObject({ rows: 0 });
    expect(host.received).toHaveLength(2);
  });
});

describe('the deep import of undici', () => {
  it('is the pool that the package exports', async () => {
    const undici = await import('undici');
    expect(Pool).toBe(undici.Pool);
  });

  it('is the request that a pool makes', async () => {
    const { Dispatcher } = await import('undici');
    expect(request).toBe(Dispatcher.prototype.request);
  });
});
