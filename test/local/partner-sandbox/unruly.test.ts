import { Temporal } from 'temporal-polyfill';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { systemClock } from '../../../lambda/clock.ts';
import { documentedRecordSchema } from '../../../local/documented-record.ts';
import {
  NotInWorldError,
  type PartnerSandbox,
  type SandboxOptions,
  SandboxRequestError,
  startPartnerSandbox,
} from '../../../local/partner-sandbox/index.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { type Page, visit } from './visitor.ts';

const running: PartnerSandbox[] = [];

async function start(options: SandboxOptions = {}): Promise<PartnerSandbox> {
  const sandbox = await startPartnerSandbox({ records: 60, ...options });
  running.push(sandbox);
  return sandbox;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((sandbox) => sandbox.close()));
});

const listPath = '/api/v1/ax/assessments';
const ids = ({ data }: Page) => data.map(({ id }) => id);

describe('an injected fault', () => {
  it('happens as often as requested, and then the next request succeeds', async () => {
    const sandbox = await start();
    const { request } = await visit(sandbox);
    sandbox.injectFaults({ kind: 'too-many-requests', times: 2, retryAfter: 7 });
    const first = await request(listPath);
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '7']);
    expect((await request(listPath)).status).toBe(429);
    expect((await request(listPath)).status).toBe(200);
    expect(sandbox.requests.slice(1).map(({ status, fault }) => [status, fault])).toEqual([
      [429, 'too-many-requests'],
      [429, 'too-many-requests'],
      [200, undefined],
    ]);
  });

  it('waits for its route and its request', async () => {
    const sandbox = await start();
    const { request } = await visit(sandbox);
    sandbox.injectFaults({ kind: 'server-error', status: 500, on: 'record', after: 1 });
    const { id } = sandbox.world.add();
    const statuses: number[] = [];
    for (const path of [listPath, `${listPath}/${id}`, `${listPath}/${id}`, listPath]) {
      statuses.push((await request(path)).status);
    }
    expect(statuses).toEqual([200, 200, 500, 200]);
  });

  it('can write Retry-After as a date', async () => {
    const { request } = await visit(
      await start({
        clock: new ManualClock('2026-11-21T12:00:00Z'),
        faults: [{ kind: 'server-error', retryAfter: 90, retryAfterAsDate: true }],
      }),
    );
    const { headers, status } = await request(listPath);
    expect([status, headers.get('retry-after')]).toEqual([503, 'Sat, 21 Nov 2026 12:01:30 GMT']);
  });

  it('breaks the connection before or within the answer', async () => {
    const sandbox = await start();
    const { request } = await visit(sandbox);
    sandbox.injectFaults({ kind: 'reset' });
    await expect(request(listPath)).rejects.toThrow();
    sandbox.injectFaults({ kind: 'reset-mid-body' });
    await expect(request(listPath).then((response) => response.text())).rejects.toThrow();
    expect((await request(listPath)).status).toBe(200);
  });

  it('answers with an HTML page, or half a page of JSON', async () => {
    const sandbox = await start();
    const { request } = await visit(sandbox);
    sandbox.injectFaults({ kind: 'html', status: 200 }, { kind: 'truncated' });
    const page = await request(listPath);
    expect(page.headers.get('content-type')).toBe('text/html');
    const half = await (await request(listPath)).text();
    expect(() => JSON.parse(half)).toThrow(SyntaxError);
  });

  it('delays its answer, for which a closing sandbox does not wait', async () => {
    const sandbox = await start();
    const { request } = await visit(sandbox);
    sandbox.injectFaults({ kind: 'slow-body', ms: 20 }, { kind: 'slow-headers', ms: 600_000 });
    expect(JSON.parse(await (await request(listPath)).text()).meta.count).toBe(60);
    const hanging = expect(request(listPath)).rejects.toThrow();
    while (sandbox.requests.length < 3) await new Promise(setImmediate);
    await sandbox.close();
    running.pop();
    await hanging;
  });
});

describe('a spoiled record', () => {
  it('is malformed at each place until it is repaired', async () => {
    const sandbox = await start({ records: 3 });
    const { list, request } = await visit(sandbox);
    const { id, email, ...rest } = sandbox.world.add();
    sandbox.world.spoil(id, { omit: ['email'], set: { certified_on: null } });
    const shown = { id, ...rest, certified_on: null };
    expect((await list()).data).toContainEqual(shown);
    expect(await (await request(`${listPath}/${id}`)).json()).toEqual(shown);
    sandbox.world.mend(id);
    expect(await (await request(`${listPath}/${id}`)).json()).toEqual({ id, email, ...rest });
  });
});

describe('a switch', () => {
  it('shuffles ties from one request to the next, and only ties', async () => {
    const sandbox = await start({ records: 0, unstableTies: true });
    for (let day = 1; day <= 3; day++) {
      for (let n = 0; n < 10; n++) sandbox.world.add({ certified_on: `2026-05-0${day}` });
    }
    const { list } = await visit(sandbox);
    const [one, other] = [await list(), await list()];
    expect(ids(one)).not.toEqual(ids(other));
    expect(ids(one).toSorted()).toEqual(ids(other).toSorted());
    const days = other.data.map(({ certified_on }) => certified_on);
    expect(days).toEqual(days.toSorted());
  });

  it('adds certifications as time passes, some of them backdated', async () => {
    let now = Temporal.Instant.from('2026-12-01T12:00:00Z');
    const sandbox = await start({
      records: 10,
      clock: { ...systemClock, now: () => now, sleep: async () => {} },
      certifyEvery: 60_000,
      backdated: 0.5,
    });
    const { list } = await visit(sandbox);
    expect((await list()).meta.count).toBe(10);
    now = now.add({ minutes: 40 });
    expect((await list()).meta.count).toBe(50);
    const { meta } = await list('filter[start_date]=2026-12-01');
    expect(meta.count).toBeGreaterThan(5);
    expect(meta.count).toBeLessThan(35);
    // The world has them, too, without a request.
    now = now.add({ minutes: 1 });
    expect(sandbox.world.count).toBe(51);
  });

  it('removes contents from a constant share of the records, and never their identity', async () => {
    const sandbox = await start({ records: 100, nulls: 0.5 });
    const { list } = await visit(sandbox);
    const [{ data }, again] = [await list('page=100'), await list('page=100')];
    expect(again.data).toEqual(data);
    const odd = data.filter((record) => !documentedRecordSchema.safeParse(record).success);
    expect(odd.length).toBeGreaterThan(30);
    expect(odd.length).toBeLessThan(70);
    const identity = z.pick(documentedRecordSchema, { id: true, certified_on: true });
    for (const record of odd) expect(identity.safeParse(record).success).toBe(true);
  });

  it('removes the id or the day from a constant share of the records', async () => {
    const sandbox = await start({ records: 100, malformed: 0.3 });
    const { list } = await visit(sandbox);
    const { data } = await list('page=100');
    expect((await list('page=100')).data).toEqual(data);
    const identity = z.pick(documentedRecordSchema, { id: true, certified_on: true });
    const content = z.omit(documentedRecordSchema, { id: true, certified_on: true });
    const anonymous = data.filter((record) => !identity.safeParse(record).success);
    expect(anonymous.length).toBeGreaterThan(10);
    expect(anonymous.length).toBeLessThan(60);
    for (const record of anonymous) expect(content.safeParse(record).success).toBe(true);
  });

  it('sets the clock ahead and tokens short', async () => {
    const clock = new ManualClock('2026-11-21T12:00:00Z');
    const { url, credentials } = await start({ clock, clockSkew: 300, tokenLifetime: 5 });
    const response = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: credentials.clientId,
        client_secret: credentials.clientSecret,
      }),
    });
    expect(response.headers.get('date')).toBe('Sat, 21 Nov 2026 12:05:00 GMT');
    expect(await response.json()).toMatchObject({ created_at: 1795262700, expires_in: 5 });
  });

  it('answers so many requests within any minute, and the others with 429 and no more', async () => {
    const clock = new ManualClock('2026-11-21T12:00:00Z');
    const sandbox = await start({ clock, requestsPerMinute: 3 });
    const { request } = await visit(sandbox);
    clock.advance({ seconds: 20 });
    const statuses = async (many: number) => {
      const answers = [];
      for (let n = 0; n < many; n++) answers.push(await request(listPath));
      return answers.map(({ status }) => status);
    };
    expect(await statuses(4)).toEqual([200, 200, 429, 429]);
    expect((await request(listPath)).headers.has('retry-after')).toBe(false);
    clock.advance({ seconds: 40 });
    expect(await statuses(2)).toEqual([200, 429]);
    sandbox.set({ requestsPerMinute: 0 });
    expect(await statuses(4)).toEqual([200, 200, 200, 200]);
  });

  it('makes the rows of constant records longer than 2 MiB', async () => {
    const sandbox = await start({ hugeRows: 0.05, records: 40 });
    const { list } = await visit(sandbox);
    const huge = ({ data }: Page) =>
      data.filter((row) => JSON.stringify(row).length > 2 * 1024 * 1024).map(({ id }) => id);
    const page = await list('');
    expect(huge(page).length).toBeGreaterThan(0);
    expect(huge(page).length).toBeLessThan(10);
    expect(huge(await list('order=DESC')).sort()).toEqual(huge(page).sort());
    sandbox.set({ hugeRows: 0 });
    expect(huge(await list(''))).toEqual([]);
  });

  it('counts too many in total, but not by days', async () => {
    const sandbox = await start({ records: 40, countOffset: 3 });
    const { list } = await visit(sandbox);
    expect((await list('')).meta.count).toBe(43);
    expect((await list('filter[start_date]=0001-01-01')).meta.count).toBe(40);
    sandbox.set({ countOffset: 0 });
    expect((await list('')).meta.count).toBe(40);
  });

  it('has every other request answered by a lagging replica', async () => {
    const clock = new ManualClock('2026-11-21T12:00:00Z');
    const sandbox = await start({ clock, records: 3, replicaLag: 10 });
    const { world } = sandbox;
    const { list, request } = await visit(sandbox);
    const [removed, edited] = [...world.assessments()];
    if (removed === undefined || edited === undefined) throw new Error('too few');
    const before = JSON.stringify((await list()).data);
    const { id } = world.add();
    world.remove(removed.id);
    const now = world.change(edited.id, { email: 'new@example.org' });
    expect(() => world.remove(1)).toThrow(NotInWorldError);
    const shown = async () => {
      const answers = [];
      for (let n = 0; n < 12; n++) answers.push(JSON.stringify((await list()).data));
      return new Set(answers);
    };
    clock.advance({ minutes: 9 });
    const after = JSON.stringify([...world.assessments()]);
    expect(await shown()).toEqual(new Set([before, after]));
    const statuses = async () => {
      const answers = [];
      for (let n = 0; n < 12; n++) answers.push((await request(`${listPath}/${id}`)).status);
      return new Set(answers);
    };
    expect(await statuses()).toEqual(new Set([200, 404]));
    clock.advance({ minutes: 1 });
    expect(await shown()).toEqual(new Set([after]));
    expect(await statuses()).toEqual(new Set([200]));
    expect(JSON.parse(after)).toContainEqual(now);
  });

  it('caches answers of the list for a while, by URL, and no single record', async () => {
    const clock = new ManualClock('2026-11-21T12:00:00Z');
    const sandbox = await start({ clock, records: 3, cache: 60 });
    const { list, request } = await visit(sandbox);
    const count = async (query: string) => (await list(query)).meta.count;
    expect(await count('page=100')).toBe(3);
    const { id } = sandbox.world.add();
    clock.advance({ seconds: 59 });
    expect([await count('page=100'), await count('page=99')]).toEqual([3, 4]);
    expect((await request(`${listPath}/${id}`)).status).toBe(200);
    clock.advance({ seconds: 1 });
    sandbox.world.add();
    expect([await count('page=100'), await count('page=99')]).toEqual([5, 4]);
    sandbox.set({ cache: 0 });
    expect(await count('page=99')).toBe(5);
  });

  it('serves a constant share of the removed records by their ids', async () => {
    const sandbox = await start({ zombies: 0.5 });
    const { list, request } = await visit(sandbox);
    const ids = [...sandbox.world.assessments()].map(({ id }) => id);
    for (const id of ids) sandbox.world.remove(id);
    expect((await list()).meta.count).toBe(0);
    const served = async () => {
      const statuses = [];
      for (const id of ids) statuses.push((await request(`${listPath}/${id}`)).status);
      return statuses;
    };
    const before = await served();
    expect(new Set(before)).toEqual(new Set([200, 404]));
    expect(await served()).toEqual(before);
    sandbox.set({ zombies: 0 });
    expect(new Set(await served())).toEqual(new Set([404]));
  });
});

describe('a starting sandbox', () => {
  it.each<SandboxOptions>([
    { timeZone: 'Mars/Olympus' },
    { records: -1 },
    { churn: 2 },
    { until: '2026-02-31' },
    { faults: [{ kind: 'reset', probability: 2 }] },
  ])('refuses %j', async (options) => {
    await expect(startPartnerSandbox(options)).rejects.toThrow(SandboxRequestError);
  });
});
