import { Temporal } from 'temporal-polyfill';
import { afterEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../lambda/clock.ts';
import { documentedRecordSchema } from '../../../local/documented-record.ts';
import {
  type PartnerSandbox,
  type SandboxOptions,
  startPartnerSandbox,
} from '../../../local/partner-sandbox/index.ts';
import { tokenFor, visit } from './visitor.ts';

const running: PartnerSandbox[] = [];

async function start(options: SandboxOptions = {}): Promise<PartnerSandbox> {
  const sandbox = await startPartnerSandbox({ records: 120, ...options });
  running.push(sandbox);
  return sandbox;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((sandbox) => sandbox.close()));
});

function handClock(at = '2026-11-21T12:00:00Z'): Clock & { pass(seconds: number): void } {
  let now = Temporal.Instant.from(at);
  return {
    ...systemClock,
    now: () => now,
    sleep: async () => {},
    pass: (seconds) => {
      now = now.add({ seconds });
    },
  };
}

const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;

it('the sandbox announces no end of an idle connection, since a busy client would learn of it too late', async () => {
  const { url } = await start();
  expect((await fetch(url)).headers.get('keep-alive')).toBeNull();
});

describe('the token endpoint (4.1, 7)', () => {
  it('accepts form parameters, HTTP Basic and a JSON body', async () => {
    const clock = handClock();
    const { url, credentials } = await start({ clock });
    const fields = {
      grant_type: 'client_credentials',
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
    };
    const forms: RequestInit[] = [
      { body: new URLSearchParams(fields) },
      {
        body: new URLSearchParams({ grant_type: fields.grant_type }),
        headers: { authorization: basic(credentials.clientId, credentials.clientSecret) },
      },
      {
        body: JSON.stringify(fields),
        headers: { 'content-type': 'application/json; charset=utf-8' },
      },
    ];
    for (const form of forms) {
      const response = await fetch(`${url}/oauth/token`, { method: 'POST', ...form });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        access_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: 7200,
        created_at: 1795262400,
      });
    }
  });

  it('decodes Basic credentials as forms are decoded (RFC 6749, 2.3.1)', async () => {
    const { url, credentials } = await start();
    // Each character is escaped: only a server that decodes finds the credentials.
    const escaped = (text: string) =>
      Array.from(Buffer.from(text), (byte) => `%${byte.toString(16)}`).join('');
    const pair = `${escaped(credentials.clientId)}:${escaped(credentials.clientSecret)}`;
    const response = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    expect(response.status).toBe(200);
  });

  it('accepts any character in an id and a secret, in each form', async () => {
    const clientId = 'id:with %41 & more';
    const clientSecret = 'p+ä=s&s %2B:"é\\花';
    const sandbox = await start({ credentials: { clientId, clientSecret } });
    const fields = {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    };
    const post = async (init: RequestInit) =>
      (await fetch(`${sandbox.url}/oauth/token`, { method: 'POST', ...init })).status;
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    expect(await post({ body: new URLSearchParams(fields) })).toBe(200);
    expect(
      await post({
        body: JSON.stringify(fields),
        headers: { 'content-type': 'application/json' },
      }),
    ).toBe(200);
    expect(await post({ body, headers: { authorization: basic(clientId, clientSecret) } })).toBe(
      200,
    );
    // A server that does not decode reads the escapes as part of the credentials.
    sandbox.set({ basicVerbatim: true });
    expect(await post({ body, headers: { authorization: basic(clientId, clientSecret) } })).toBe(
      401,
    );
  });

  it.each([
    ['a wrong secret', { client_secret: 'wrong' }],
    ['a wrong ID', { client_id: 'wrong' }],
    ['an empty secret', { client_secret: '' }],
  ])('answers %s with 401 invalid_client and nothing else', async (_, wrong) => {
    const { url, credentials } = await start();
    const response = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: credentials.clientId,
        client_secret: credentials.clientSecret,
        ...wrong,
      }),
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ error: 'invalid_client' });
  });

  it.each([
    ['no grant type', 'client_id=x'],
    ['another grant type', 'grant_type=password'],
    ['no body', ''],
  ])('answers %s with 400 unsupported_grant_type', async (_, body) => {
    const { url } = await start();
    const response = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: 'unsupported_grant_type' });
  });
});

describe('tokens (5)', () => {
  it('last 7200 seconds to the second', async () => {
    const clock = handClock();
    const { request } = await visit(await start({ clock }));
    clock.pass(7199);
    expect((await request('/api/v1/ax/assessments')).status).toBe(200);
    clock.pass(1);
    const expired = await request('/api/v1/ax/assessments');
    expect(expired.status).toBe(401);
    expect(await expired.json()).toEqual({
      error: 'invalid_token',
      error_description: 'The access token is invalid',
    });
  });

  it.each([undefined, 'Bearer', 'Bearer nonsense', 'Basic abc'])(
    'are refused when the header is %s',
    async (authorization) => {
      const { url } = await start();
      const response = await fetch(`${url}/api/v1/ax/assessments`, {
        headers: authorization === undefined ? {} : { authorization },
      });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: 'invalid_token' });
    },
  );

  it('end with the secret under which they were issued', async () => {
    const sandbox = await start();
    const { request } = await visit(sandbox);
    const old = sandbox.credentials;
    const fresh = sandbox.rotateSecret();
    expect(fresh).toEqual(sandbox.credentials);
    expect(fresh.clientSecret).not.toBe(old.clientSecret);
    expect((await request('/api/v1/ax/assessments')).status).toBe(401);
    expect(await tokenFor(sandbox)).toBeTypeOf('string');
  });
});

describe('the list and the single record (4.2, 4.3)', () => {
  it('show records of the documented shape, each also by its id and unwrapped', async () => {
    const { list, request } = await visit(await start());
    const { data, meta } = await list('page=100');
    expect(meta).toEqual({ count: 120, offset: 0, page: 100 });
    for (const record of data.slice(0, 20)) {
      documentedRecordSchema.parse(record);
      expect(await (await request(`/api/v1/ax/assessments/${record.id}`)).json()).toEqual(record);
    }
  });

  it('give an assessment without parts one entry that describes itself, and no other assessment', async () => {
    const sandbox = await start();
    const names = new Map(sandbox.world.products.map(({ name, parts }) => [name, parts.length]));
    const seen = new Set<boolean>();
    for (const { id, assessment_name, certified_on, results } of sandbox.world.assessments()) {
      const parts = names.get(assessment_name) ?? 0;
      seen.add(parts > 0);
      expect(results).toHaveLength(Math.max(1, parts));
      expect(results.some(({ assessment_id }) => assessment_id === id)).toBe(parts === 0);
      for (const part of results) expect(part.certified_on <= certified_on).toBe(true);
    }
    expect(seen.size).toBe(2);
  });

  it.each([
    ['an unknown id', () => '1'],
    [
      'the id of a part',
      ({ world }: PartnerSandbox) =>
        [...world.assessments()].find(({ results }) => results.length > 1)?.results[0]
          ?.assessment_id,
    ],
    ['an id out of scope', ({ world }: PartnerSandbox) => world.add({ organization_id: 392 }).id],
    [
      'a removed record',
      ({ world }: PartnerSandbox) => {
        const { id } = world.add();
        world.remove(id);
        return id;
      },
    ],
    ['no number', () => 'abc'],
  ])('answer 404 to %s', async (_, idIn) => {
    const sandbox = await start();
    const { request } = await visit(sandbox);
    expect((await request(`/api/v1/ax/assessments/${idIn(sandbox)}`)).status).toBe(404);
  });

  it('end a day at its end, also when the clocks change', async () => {
    const sandbox = await start({ records: 0, timeZone: 'America/Chicago' });
    // 1 November 2026 has 25 hours in Chicago: from 05:00Z until 06:00Z the next day.
    const moments = [
      ['2026-11-01T04:59:59.999Z', '2026-10-31'],
      ['2026-11-01T05:00:00Z', '2026-11-01'],
      ['2026-11-02T05:59:59.999Z', '2026-11-01'],
      ['2026-11-02T06:00:00Z', '2026-11-02'],
    ] as const;
    for (const [completed_at, day] of moments) {
      expect(sandbox.world.add({ completed_at }).certified_on).toBe(day);
    }
    const { list } = await visit(sandbox);
    const { meta } = await list('filter[start_date]=2026-11-01&filter[end_date]=2026-11-01');
    expect(meta.count).toBe(2);
  });

  it('report a missing organization before a missing assessment, to any API request', async () => {
    const sandbox = await start();
    const { request } = await visit(sandbox);
    const message = async (path: string) => {
      const response = await request(path);
      expect(response.status).toBe(400);
      return JSON.parse(await response.text()).errors[0].message;
    };
    sandbox.world.setScope({ product_ids: [] });
    expect(await message('/api/v1/ax/assessments')).toMatch(/invalid or missing product ids/i);
    sandbox.world.setScope({ organization_ids: [] });
    expect(await message('/api/v1/ax/assessments/1')).toMatch(/invalid or missing tenant ids/i);
  });

  it('accept only GET', async () => {
    const sandbox = await start();
    const authorization = `Bearer ${await tokenFor(sandbox)}`;
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await fetch(`${sandbox.url}/api/v1/ax/assessments`, {
        method,
        headers: { authorization },
      });
      expect(response.status).toBe(404);
    }
  });
});

describe('the world', () => {
  it('is the same for the same seed, and differs with another', async () => {
    const [one, same, other] = await Promise.all([
      start({ seed: 7 }),
      start({ seed: 7 }),
      start({ seed: 8 }),
    ]);
    const written = ({ world }: PartnerSandbox) => JSON.stringify([...world.assessments()]);
    expect(written(same)).toBe(written(one));
    expect(written(other)).not.toBe(written(one));
    expect(same.credentials).toEqual(one.credentials);
  });

  it('has the people that a client must cope with', async () => {
    const { world } = await start({ records: 2000 });
    const all = [...world.assessments()];
    const hidden = all.map(({ id }) => world.hidden(id));
    expect(all.some(({ seid }) => seid === null)).toBe(true);
    expect(all.some(({ name }) => /[^\p{Script=Latin}\s\p{P}]/u.test(name))).toBe(true);
    expect(all.some(({ last_name }) => last_name.includes("'"))).toBe(true);
    expect(all.every(({ email }) => email.endsWith('@example.org'))).toBe(true);
    expect(hidden.some(({ status }) => status === 'archived')).toBe(true);
    expect(hidden.some(({ legacy }) => legacy)).toBe(true);
    expect(world.records.length).toBeGreaterThan(world.count);
  });
});
