import { afterEach, expect, it } from 'vitest';
import {
  type PartnerSandbox,
  type SandboxOptions,
  startPartnerSandbox,
} from '../../../local/partner-sandbox/index.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { tokenFor, visit } from './visitor.ts';

// `npm run conformance` holds the sandbox to the document (test/local/conformance/suite.test.ts). Here is the
// rest: answers that no request can ask of a real host.

const running: PartnerSandbox[] = [];
const listPath = '/api/v1/ax/assessments';

async function start(options: SandboxOptions = {}): Promise<PartnerSandbox> {
  const sandbox = await startPartnerSandbox({ records: 120, ...options });
  running.push(sandbox);
  return sandbox;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((sandbox) => sandbox.close()));
});

it('the sandbox announces no end of an idle connection, since a busy client would learn of it too late', async () => {
  const { url } = await start();
  expect((await fetch(url)).headers.get('keep-alive')).toBeNull();
});

it('a server that does not decode HTTP Basic reads the escapes as part of the credentials', async () => {
  const credentials = { clientId: 'id:with %41 & more', clientSecret: 'p+ä=s&s %2B:"é\\花' };
  const sandbox = await start({ credentials });
  const pair = Object.values(credentials).map(encodeURIComponent).join(':');
  const status = async () => {
    const { status } = await fetch(`${sandbox.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
      headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
    });
    return status;
  };
  expect(await status()).toBe(200);
  sandbox.set({ basicVerbatim: true });
  expect(await status()).toBe(401);
});

it('a token ends after 7200 seconds, and with the secret under which it was issued', async () => {
  const clock = new ManualClock('2026-11-21T12:00:00Z');
  const sandbox = await start({ clock });
  const { request } = await visit(sandbox);
  const status = async () => (await request(listPath)).status;
  clock.advance({ seconds: 7199 });
  expect(await status()).toBe(200);
  clock.advance({ seconds: 1 });
  expect(await status()).toBe(401);
  const other = await visit(sandbox);
  const old = sandbox.credentials;
  expect(sandbox.rotateSecret()).not.toEqual(old);
  expect((await other.request(listPath)).status).toBe(401);
  expect(await tokenFor(sandbox)).toBeTypeOf('string');
});

it('a record that is removed or out of scope is answered with 404', async () => {
  const sandbox = await start();
  const { request } = await visit(sandbox);
  const removed = sandbox.world.add();
  sandbox.world.remove(removed.id);
  const elsewhere = sandbox.world.add({ organization_id: 392 });
  for (const { id } of [removed, elsewhere])
    expect((await request(`${listPath}/${id}`)).status).toBe(404);
});

it('a day ends at its end, also when the clocks change', async () => {
  const sandbox = await start({ records: 0, timeZone: 'America/Chicago' });
  // 1 November 2026 has 25 hours in Chicago: from 05:00Z until 06:00Z the next day.
  const moments = [
    ['2026-11-01T04:59:59.999Z', '2026-10-31'],
    ['2026-11-01T05:00:00Z', '2026-11-01'],
    ['2026-11-02T05:59:59.999Z', '2026-11-01'],
    ['2026-11-02T06:00:00Z', '2026-11-02'],
  ] as const;
  for (const [completed_at, day] of moments)
    expect(sandbox.world.add({ completed_at }).certified_on).toBe(day);
  const { list } = await visit(sandbox);
  const { meta } = await list('filter[start_date]=2026-11-01&filter[end_date]=2026-11-01');
  expect(meta.count).toBe(2);
});

it('a missing organization is reported before a missing assessment, to any API request', async () => {
  const sandbox = await start();
  const { request } = await visit(sandbox);
  const answer = async (path: string) => (await request(path)).json();
  const says = (text: RegExp) => ({ errors: [{ message: expect.stringMatching(text) }] });
  sandbox.world.setScope({ product_ids: [] });
  expect(await answer(listPath)).toMatchObject(says(/invalid or missing product ids/i));
  sandbox.world.setScope({ organization_ids: [] });
  expect(await answer(`${listPath}/1`)).toMatchObject(says(/invalid or missing tenant ids/i));
});

it('the world is the same for the same seed, and has people that a client must cope with', async () => {
  const [one, same, other] = await Promise.all(
    [7, 7, 8].map((seed) => start({ seed, records: 2000 })),
  );
  const written = (sandbox?: PartnerSandbox) =>
    JSON.stringify([...(sandbox?.world.assessments() ?? [])]);
  expect(written(same)).toBe(written(one));
  expect(written(other)).not.toBe(written(one));
  const world = one?.world;
  const all = [...(world?.assessments() ?? [])];
  expect(all.some(({ seid }) => seid === null)).toBe(true);
  expect(all.some(({ name }) => /[^\p{Script=Latin}\s\p{P}]/u.test(name))).toBe(true);
  expect(all.every(({ email }) => email.endsWith('@example.org'))).toBe(true);
  const hidden = all.map(({ id }) => world?.hidden(id));
  expect(hidden.some((record) => record?.status === 'archived')).toBe(true);
  expect(hidden.some((record) => record?.legacy)).toBe(true);
});
