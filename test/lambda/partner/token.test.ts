import * as fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it, vi } from 'vitest';
import { type CredentialSource, toTokenRequest } from '../../../lambda/partner/token.ts';
import type { HttpRequest } from '../../../lambda/partner/transport.ts';
import {
  CREDENTIALS,
  invalidClient,
  invalidToken,
  json,
  page,
  type Responder,
  type Rig,
  rejection,
  rig,
  token,
} from './scripted-host.ts';

/** The credentials that a server by the RFCs reads from a token request. */
function readCredentials({ headers = {}, body = '' }: Pick<HttpRequest, 'headers' | 'body'>) {
  if (headers['content-type'] === 'application/json') return JSON.parse(body);
  const form = Object.fromEntries(new URLSearchParams(body));
  const [, basic] = headers.authorization?.split('Basic ') ?? [];
  if (basic === undefined) return form;
  const [client_id, client_secret] = Buffer.from(basic, 'base64')
    .toString()
    .split(':')
    .map(decoded);
  return { ...form, client_id, client_secret };
}

const decoded = (text: string) => new URLSearchParams(`x=${text}`).get('x');

describe('token request', () => {
  it.each(['form', 'basic', 'json'] as const)('carries any credentials as %s', (form) => {
    const awkward = fc.string({ unit: fc.constantFrom(...':+&%= "\\/é漢\u{1F600}\n%41aZ0') });
    const text = fc.oneof(awkward, fc.string({ unit: 'grapheme', minLength: 1 }));
    fc.assert(
      fc.property(text, text, (clientId, clientSecret) => {
        expect(readCredentials(toTokenRequest({ clientId, clientSecret }, form))).toEqual({
          ...{ client_id: clientId, client_secret: clientSecret },
          grant_type: 'client_credentials',
        });
      }),
    );
  });

  it.each([undefined, 'form', 'basic', 'json'] as const)('is a POST as %s', async (form) => {
    const { host, client } = await rig(form && { tokenRequest: form });
    await client.list();
    const { headers, body } = toTokenRequest(CREDENTIALS, form ?? 'form');
    const url = { href: 'http://host/oauth/token' };
    expect(host.of('token')).toMatchObject([{ method: 'POST', url, headers, body }]);
  });
});

describe('token cache', () => {
  const tokensOf = ({ host }: Pick<Rig, 'host'>) =>
    host.of('list').map(({ headers }) => headers.authorization?.replace('Bearer ', ''));

  it.each([
    ['a minute before it expires', 600, 540_000],
    ['a minute has passed', 90, 60_000],
    ['two hours have passed, if its life cannot be right', 0, 7_140_000],
  ])('keeps a token until %s, counted from the sending', async (_, lifeSeconds, keptMs) => {
    const { host, client, clock } = await rig();
    const slow: Responder = (response) => {
      clock.advance({ seconds: 10 }); // The server takes ten seconds to answer.
      token('first', lifeSeconds)(response);
    };
    host.script('token', slow, token('second'));
    await client.list();
    clock.advance({ milliseconds: keptMs - 10_000 - 1 });
    await client.list();
    expect(host.of('token')).toHaveLength(1);
    clock.advance({ milliseconds: 1 });
    await client.list();
    expect(tokensOf({ host })).toEqual(['first', 'first', 'second']);
  });

  it.each([
    [49_999, 1],
    [50_000, undefined],
  ])('replaces one of a minute at once when it is refused after %i ms', async (ms, ends) => {
    const list = [page([]), invalidToken, page([])];
    const { host, client, clock } = await rig({ answers: { list } });
    host.script('token', token('first', 60), token('second'));
    await client.list();
    clock.advance({ milliseconds: ms });
    await client.list();
    expect(tokensOf({ host })).toEqual(['first', 'first', 'second']);
    expect([clock.sleeps, client.pace.value.tokensEnded?.length]).toEqual([[], ends]);
  });

  it('makes one request for any number of callers that wait, or whose token is refused', async () => {
    const { host, client } = await rig();
    const call = () => Promise.all(Array.from({ length: 20 }, () => client.list()));
    await call();
    expect([host.of('token').length, host.of('list').length]).toEqual([1, 20]);
    host.script('list', (response, request) => {
      const isAlive = request.headers.authorization === 'Bearer token-2';
      (isAlive ? page([]) : invalidToken)(response, request);
    });
    await call();
    expect(host.of('token')).toHaveLength(2);
  });

  it('keeps a token that has already replaced the refused one', async () => {
    const late: (() => void)[] = [];
    const refusesLate: Responder = (response) => late.push(() => invalidToken(response));
    const { host, client } = await rig({
      answers: { list: [page([]), refusesLate, invalidToken, page([])] },
    });
    await client.list();
    const slow = client.list();
    await expect.poll(() => host.of('list').length).toBe(2);
    await client.list(); // Its 401 has the token replaced.
    for (const answer of late) answer();
    await slow;
    expect(host.of('token')).toHaveLength(2);
  });

  it('fetches the token within each attempt, so that a retry carries a live one', async () => {
    const list = [json(503, {}, { 'retry-after': '70' }), page([])];
    const answers = { token: [token('one', 60), token('two')], list };
    const { host, client, clock } = await rig({ answers });
    await client.list({}, { deadline: clock.now().add({ minutes: 3 }) });
    expect(tokensOf({ host })).toEqual(['one', 'two']);
  });
});

describe('a token that has never worked', () => {
  /** The host knows a token only so long after it has issued it, and takes its time to answer. */
  async function slow(knownAfterMs: number, answerMs = 0, requestsPerMinute = 600) {
    const afresh: (boolean | undefined)[] = [];
    const credentials: CredentialSource = async (options) => {
      afresh.push(options?.afresh);
      return CREDENTIALS;
    };
    const slowRig = await rig({ credentials, requestsPerMinute });
    const { host, clock } = slowRig;
    host.script('token', (response) => token(`${clock.monotonicMs()}`)(response));
    host.script('list', (response, request) => {
      clock.advance({ milliseconds: answerMs });
      const issued = Number(request.headers.authorization?.replace('Bearer ', ''));
      const isKnown = clock.monotonicMs() - issued >= knownAfterMs;
      (isKnown ? page([]) : invalidToken)(response, request);
    });
    return { ...slowRig, afresh };
  }

  it.each([
    [200, 0, 600, 'token list 250 list'],
    [1_000, 0, 600, 'token list 250 list 1000 list'],
    [4_000, 0, 600, 'token list 250 list 1000 list 3000 list'],
    [200, 0, 19, 'token list 3000 list'],
  ])('is tried again where tokens are known after %i ms', async (knownAfter, ...rest) => {
    const [answerMs, perMinute, expected] = rest;
    const { client, requests, clock } = await slow(knownAfter, answerMs, perMinute);
    await client.list();
    const sent = requests.flatMap((kind, index) => [clock.sleeps[index - 2] ?? [], kind].flat());
    expect(sent.join(' ')).toBe(expected);
  });

  it.each([
    ['three times', 0, 600, 4],
    ['once at a small pace', 0, 19, 2],
    ['not once it is ten seconds old', 10_000, 600, 1],
  ])(
    'is tried again %s, and so is a second one, with the credentials read afresh',
    async (...row) => {
      const [, answerMs, perMinute, lists] = row;
      const { client, requests, afresh } = await slow(
        Number.POSITIVE_INFINITY,
        answerMs,
        perMinute,
      );
      const limits = { deadline: Temporal.Instant.from('2026-11-22T00:00:00Z') };
      expect(await rejection(client.list({}, limits))).toMatchObject({
        code: 'token-refused-twice',
      });
      const once = ['token', ...Array<string>(lists).fill('list')];
      expect(requests).toEqual([...once, ...once]);
      expect(afresh).toEqual([false, true]);
    },
  );

  it('is kept where the pace has no room to try it again', async () => {
    const { client, requests, clock } = await slow(15_000, 0, 2);
    const deadline = clock.now().add({ seconds: 50 });
    expect(await rejection(client.list({}, { deadline }))).toMatchObject({ code: 'pace-spent' });
    clock.advance({ minutes: 1 });
    await client.list();
    expect(requests).toEqual(['token', 'list', 'list']);
  });

  // Its attempt would end after 15 s.
  it('does not keep others where one is never answered', { timeout: 5_000 }, async () => {
    const { host, client } = await rig();
    host.script('list', () => {}, page([]));
    const silent = client.list({}, { deadline: Temporal.Instant.from('2026-11-22T00:00:00Z') });
    silent.catch(() => undefined);
    await vi.waitUntil(() => host.of('list').length === 1);
    await client.list();
    expect(host.of('list')).toHaveLength(2);
  });

  it('is tried by one caller, and the others wait for it', async () => {
    const { host, client, clock } = await slow(1_000);
    await Promise.all(Array.from({ length: 20 }, () => client.list()));
    expect([host.of('token').length, clock.sleeps]).toEqual([1, [250, 1_000]]);
    expect(host.of('list').length).toBeLessThanOrEqual(41);
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
      answers: { token: [invalidClient, token('after-rotation')] },
    });
    await client.list();
    expect(asked).toEqual([false, true]);
    const secrets = host
      .of('token')
      .map(({ body }) => new URLSearchParams(body).get('client_secret'));
    expect(secrets).toEqual([CREDENTIALS.clientSecret, 'rotated']);
  });

  it.each([
    ['a second 401', invalidClient, 'credentials-refused', 2],
    ['a second invalid_client', json(400, { error: 'invalid_client' }), 'credentials-refused', 2],
    ['another grant', json(400, { error: 'unsupported_grant_type' }), 'unsupported-grant', 1],
    ['any other 400', json(400, { error: 'invalid_request' }), 'request-refused', 1],
  ])('are told from other refusals, without a retry: %s', async (_, refusal, code, times) => {
    const { client, requests } = await rig({ answers: { token: refusal } });
    const error = await rejection(client.list());
    expect(error).toMatchObject({ code });
    expect(requests).toEqual(Array(times).fill('token'));
    expect(JSON.stringify(error)).not.toContain(CREDENTIALS.clientSecret);
  });
});

const right = { access_token: 'abc', token_type: 'Bearer', expires_in: 7200 };

it.each([
  ['no token', { ...right, access_token: undefined }],
  ['a token that would break the header', { ...right, access_token: 'abc\r\nx: y' }],
  ['another type of token', { ...right, token_type: 'mac' }],
  ['a list', []],
])('a token response with %s is refused without quoting it', async (_, body) => {
  const { client } = await rig({ answers: { token: json(200, body) } });
  const error = await rejection(client.list());
  expect(error).toMatchObject({ code: 'unexpected-response' });
  expect(String(error)).not.toContain('abc');
});
