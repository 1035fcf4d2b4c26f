import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Credentials, TokenRequestForm } from '../../../lambda/partner/index.ts';
import {
  CREDENTIALS,
  invalidClient,
  invalidToken,
  json,
  page,
  type Received,
  rejection,
  rig,
  token,
} from './scripted-host.ts';

/** The credentials that a server by the RFCs reads from a token request. */
function readCredentials({ headers, body }: Received): Credentials & { grant: string | null } {
  if (headers['content-type'] === 'application/json') {
    const { client_id, client_secret, grant_type } = JSON.parse(body);
    return { clientId: client_id, clientSecret: client_secret, grant: grant_type };
  }
  const form = new URLSearchParams(body);
  const grant = form.get('grant_type');
  if (headers.authorization?.startsWith('Basic ')) {
    const pair = Buffer.from(headers.authorization.slice('Basic '.length), 'base64').toString();
    const [clientId = '', clientSecret = ''] = pair
      .split(':')
      .map((part) => new URLSearchParams(`x=${part}`).get('x') ?? '');
    return { clientId, clientSecret, grant };
  }
  return {
    clientId: form.get('client_id') ?? '',
    clientSecret: form.get('client_secret') ?? '',
    grant,
  };
}

const FORMS = ['form', 'basic', 'json'] as const satisfies TokenRequestForm[];

describe('token request', () => {
  it.each(FORMS)('carries credentials with any characters as %s', async (tokenRequest) => {
    let credentials = CREDENTIALS;
    const { host, client } = await rig({ tokenRequest, credentials: async () => credentials });
    // Each token is used once, so that each call asks for another.
    host.script('token', token('t', 0));
    const awkward = fc.string({ unit: fc.constantFrom(...':+&%= "\\/é漢\u{1F600}\n%41aZ0') });
    const anything = fc.string({ unit: 'grapheme', minLength: 1 });
    const text = fc.oneof(awkward, anything);
    await fc.assert(
      fc.asyncProperty(text, text, async (clientId, clientSecret) => {
        credentials = { clientId, clientSecret };
        await client.list();
        const request = host.of('token').at(-1);
        if (!request) throw new Error('no token request');
        expect(readCredentials(request)).toEqual({ ...credentials, grant: 'client_credentials' });
      }),
      { numRuns: 60 },
    );
  });

  it('is a POST to /oauth/token without credentials in its URL', async () => {
    const { host, client } = await rig();
    await client.list();
    expect(host.of('token')).toHaveLength(1);
    expect(host.of('token')[0]?.method).toBe('POST');
    expect(host.of('token')[0]?.url.href).toBe('http://host/oauth/token');
  });
});

describe('token cache', () => {
  it('makes one request for any number of waiting callers', async () => {
    const { host, client } = await rig();
    await Promise.all(Array.from({ length: 20 }, () => client.list()));
    expect(host.of('token')).toHaveLength(1);
    expect(host.of('list')).toHaveLength(20);
  });

  it('keeps a token until a minute before it expires, counted from the sending', async () => {
    const { host, client, clock } = await rig();
    host.script(
      'token',
      (response) => {
        clock.advance(10_000); // The server takes ten seconds to answer.
        token('first', 600)(response);
      },
      token('second', 600),
    );
    await client.list();
    clock.advance(540_000 - 10_000 - 1);
    await client.list();
    expect(host.of('token')).toHaveLength(1);
    clock.advance(1);
    await client.list();
    expect(host.of('list').map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first',
      'Bearer first',
      'Bearer second',
    ]);
  });

  it('keeps a token that lives for less than two minutes for half of its life', async () => {
    const { host, client, clock } = await rig();
    host.script('token', token('brief', 40));
    await client.list();
    clock.advance(19_999);
    await client.list();
    expect(host.of('token')).toHaveLength(1);
    clock.advance(1);
    await client.list();
    expect(host.of('token')).toHaveLength(2);
  });

  it('survives a lifetime beyond any calendar', async () => {
    const { host, client } = await rig();
    host.script('token', token('eternal', Number.MAX_SAFE_INTEGER));
    await expect(client.list()).resolves.toMatchObject({ rows: 0 });
  });

  it('gets another token when one is refused, and retries once', async () => {
    const { host, client, clock } = await rig();
    host.script('list', invalidToken, page([]));
    await client.list();
    expect(host.of('list').map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
    expect(clock.sleeps).toEqual([]);
  });

  it('replaces a token once when it is refused to many callers', async () => {
    const { host, client } = await rig();
    await client.list();
    const alive = new Set(['Bearer token-2']);
    host.script('list', (response, request) => {
      const reply = alive.has(request.headers.authorization ?? '') ? page([]) : invalidToken;
      reply(response, request);
    });
    await Promise.all(Array.from({ length: 20 }, () => client.list()));
    expect(host.of('token')).toHaveLength(2);
  });

  it('keeps a token that has already replaced the refused one', async () => {
    const { host, client } = await rig();
    const late: (() => void)[] = [];
    host.script(
      'list',
      (response) => late.push(() => invalidToken(response)),
      invalidToken,
      page([]),
    );
    const slow = client.list();
    await expect.poll(() => host.of('list').length).toBe(1);
    await client.list(); // Its 401 has the token replaced.
    for (const answer of late) answer();
    await slow;
    expect(host.of('token')).toHaveLength(2);
  });

  it('throws when a fresh token is refused too, and stops asking', async () => {
    const { host, client } = await rig();
    host.script('list', invalidToken);
    expect(await rejection(client.list())).toMatchObject({ code: 'token-refused-twice' });
    expect(host.of('token')).toHaveLength(2);
    expect(host.of('list')).toHaveLength(2);
  });

  it('fetches the token within each attempt, so that a retry carries a live one', async () => {
    const { host, client } = await rig();
    host.script('token', token('one', 2), token('two', 2));
    host.script('list', json(503, {}, { 'retry-after': '30' }), page([]));
    await client.list();
    expect(host.of('list').map(({ headers }) => headers.authorization)).toEqual([
      'Bearer one',
      'Bearer two',
    ]);
  });
});

describe('refused credentials', () => {
  it('are read again and tried once more', async () => {
    const asked: boolean[] = [];
    const { host, client } = await rig({
      credentials: async ({ afresh = false } = {}) => {
        asked.push(afresh);
        return afresh ? { ...CREDENTIALS, clientSecret: 'rotated' } : CREDENTIALS;
      },
    });
    host.script('token', invalidClient, token('after-rotation'));
    await client.list();
    expect(asked).toEqual([false, true]);
    expect(host.of('token').map((request) => readCredentials(request).clientSecret)).toEqual([
      CREDENTIALS.clientSecret,
      'rotated',
    ]);
  });

  it.each([
    ['401', invalidClient],
    ['400 with the code of RFC 6749', json(400, { error: 'invalid_client' })],
  ])('throw after the second %s, without a retry', async (_, refusal) => {
    const { host, client } = await rig();
    host.script('token', refusal);
    const error = await rejection(client.list());
    expect(error).toMatchObject({ code: 'credentials-refused' });
    expect(host.of('token')).toHaveLength(2);
    expect(host.of('list')).toHaveLength(0);
    expect(JSON.stringify(error)).not.toContain(CREDENTIALS.clientSecret);
  });

  it('are different from an unsupported grant', async () => {
    const { host, client } = await rig();
    host.script('token', json(400, { error: 'unsupported_grant_type' }));
    expect(await rejection(client.list())).toMatchObject({ code: 'unsupported-grant' });
    expect(host.of('token')).toHaveLength(1);
  });

  it('are different from any other 400', async () => {
    const { host, client } = await rig();
    host.script('token', json(400, { error: 'invalid_request' }));
    expect(await rejection(client.list())).toMatchObject({ code: 'request-refused' });
    expect(host.of('token')).toHaveLength(1);
  });
});

describe('token response', () => {
  it.each([
    ['no token', { token_type: 'Bearer', expires_in: 7200 }],
    [
      'a token that would break the header',
      { access_token: 'a\r\nx: y', token_type: 'Bearer', expires_in: 1 },
    ],
    ['another type of token', { access_token: 'abc', token_type: 'mac', expires_in: 7200 }],
    ['a lifetime in words', { access_token: 'abc', token_type: 'Bearer', expires_in: 'long' }],
    ['a list', []],
  ])('with %s is refused without quoting it', async (_, body) => {
    const { host, client } = await rig();
    host.script('token', json(200, body));
    const error = await rejection(client.list());
    expect(error).toMatchObject({ code: 'unexpected-response' });
    expect(String(error)).not.toContain('abc');
  });
});
