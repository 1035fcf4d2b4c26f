import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { systemClock } from '../../../lambda/clock.ts';
import { documentedRecordSchema } from '../../../local/documented-record.ts';
import {
  type FaultOrder,
  type PartnerSandbox,
  type SandboxOptions,
  SandboxRequestError,
  startPartnerSandbox,
} from '../../../local/partner-sandbox/index.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { askForToken, type Page, visit } from './visitor.ts';

const noon = '2026-11-21T12:00:00Z';
const running: PartnerSandbox[] = [];

/** A running sandbox, with a client and a clock. */
async function start(options: SandboxOptions = {}) {
  const clock = new ManualClock(noon);
  const sandbox = await startPartnerSandbox({ clock, records: 60, ...options });
  running.push(sandbox);
  return { sandbox, clock, world: sandbox.world, ...(await visit(sandbox)) };
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((sandbox) => sandbox.close()));
});

const listPath = '/api/v1/ax/assessments';
const ids = ({ data }: Page) => data.map(({ id }) => id);

/** The answers to as many requests, one after another. */
async function inTurn<T>(times: number, ask: () => Promise<T>): Promise<readonly T[]> {
  const answers: T[] = [];
  for (let n = 0; n < times; n++) answers.push(await ask());
  return answers;
}

describe('an injected fault', () => {
  it.each<[FaultOrder, readonly number[]]>([
    [{ kind: 'too-many-requests', times: 2 }, [429, 429, 200, 200]],
    [{ kind: 'server-error', status: 500, on: 'record', after: 1 }, [200, 200, 200, 500]],
  ])('happens as often, where and when it is ordered: %j', async (fault, expected) => {
    const { sandbox, world, request } = await start();
    sandbox.injectFaults(fault);
    const paths = [listPath, `${listPath}/${world.add().id}`];
    for (const path of [...paths, ...paths]) await request(path);
    // The first request is the one for the token.
    const seen = sandbox.requests.slice(1);
    expect(seen.map(({ status }) => status)).toEqual(expected);
    expect(seen.map((one) => one.fault)).toEqual(
      expected.map((status) => (status === 200 ? undefined : fault.kind)),
    );
  });

  it.each<[FaultOrder, string]>([
    [{ kind: 'too-many-requests', retryAfter: 7 }, '7'],
    [
      { kind: 'server-error', retryAfter: 90, retryAfterAsDate: true },
      'Sat, 21 Nov 2026 12:01:30 GMT',
    ],
  ])('%j asks for a pause', async (fault, expected) => {
    const { request } = await start({ faults: [fault] });
    expect((await request(listPath)).headers.get('retry-after')).toBe(expected);
  });

  it('breaks the connection before or within the answer, or answers with half a page or HTML', async () => {
    const { sandbox, request } = await start();
    const answerTo = async (kind: FaultOrder['kind']) => {
      sandbox.injectFaults({ kind });
      return await request(listPath);
    };
    await expect(answerTo('reset')).rejects.toThrow();
    await expect(answerTo('reset-mid-body').then((one) => one.text())).rejects.toThrow();
    const half = await (await answerTo('truncated')).text();
    expect(() => JSON.parse(half)).toThrow(SyntaxError);
    expect((await answerTo('html')).headers.get('content-type')).toBe('text/html');
    expect((await request(listPath)).status).toBe(200);
  });

  it('delays its answer, for which a closing sandbox does not wait', async () => {
    const { sandbox, list, request } = await start({ clock: systemClock });
    sandbox.injectFaults({ kind: 'slow-body', ms: 20 }, { kind: 'slow-headers', ms: 600_000 });
    expect((await list()).meta.count).toBe(60);
    const hanging = expect(request(listPath)).rejects.toThrow();
    while (sandbox.requests.length < 3) await new Promise(setImmediate);
    await sandbox.close();
    running.pop();
    await hanging;
  });
});

it('a spoiled record is malformed at each place until it is repaired', async () => {
  const { world, list, request } = await start({ records: 3 });
  const { id, email, ...rest } = world.add();
  world.spoil(id, { omit: ['email'], set: { certified_on: null } });
  const shown = { id, ...rest, certified_on: null };
  expect((await list()).data).toContainEqual(shown);
  expect(await (await request(`${listPath}/${id}`)).json()).toEqual(shown);
  world.mend(id);
  expect(await (await request(`${listPath}/${id}`)).json()).toEqual({ id, email, ...rest });
});

describe('a switch', () => {
  const keys = { id: true, certified_on: true } as const;
  const fits = (schema: z.ZodMiniType) => (row: unknown) => schema.safeParse(row).success;
  const isWhole = fits(documentedRecordSchema);
  const hasIdentity = fits(z.pick(documentedRecordSchema, keys));
  const hasContent = fits(z.omit(documentedRecordSchema, keys));

  it.each<[SandboxOptions, (row: unknown) => boolean]>([
    [{ nulls: 0.4 }, (row) => hasIdentity(row) && !hasContent(row)],
    [{ malformed: 0.4 }, (row) => hasContent(row) && !hasIdentity(row)],
    [{ hugeRows: 0.05 }, (row) => JSON.stringify(row).length > 2 * 1024 * 1024],
  ])('spoils a constant share of the records, and no others: %j', async (share, isSpoiled) => {
    const { sandbox, list } = await start({ records: 100, ...share });
    const [{ data }, again] = [await list('page=100'), await list('page=100')];
    expect(again.data).toEqual(data);
    const spoiled = data.filter(isSpoiled);
    const [expected = 0] = Object.values(share).map((part) => Number(part) * data.length);
    expect(spoiled.length).toBeGreaterThan(expected / 2);
    expect(spoiled.length).toBeLessThan(expected * 1.5);
    expect(data.filter((row) => !spoiled.includes(row) && !isWhole(row))).toEqual([]);
    sandbox.set({ nulls: 0, malformed: 0, hugeRows: 0 });
    expect((await list('page=100')).data.filter(isSpoiled)).toEqual([]);
  });

  it('shuffles ties from one request to the next, and only ties', async () => {
    const { world, list } = await start({ records: 0, unstableTies: true });
    for (let n = 0; n < 30; n++) world.add({ certified_on: `2026-05-0${1 + (n % 3)}` });
    const [one, other] = [await list(), await list()];
    expect(ids(one)).not.toEqual(ids(other));
    expect(ids(one).toSorted()).toEqual(ids(other).toSorted());
    const days = other.data.map(({ certified_on }) => certified_on);
    expect(days).toEqual(days.toSorted());
  });

  it('adds certifications as time passes, some of them backdated', async () => {
    const { sandbox, clock, list } = await start({
      records: 10,
      certifyEvery: 60_000,
      backdated: 0.5,
    });
    expect((await list()).meta.count).toBe(10);
    clock.advance({ minutes: 40 });
    expect((await list()).meta.count).toBe(50);
    const { meta } = await list('filter[start_date]=2026-11-21');
    expect(meta.count).toBeGreaterThan(5);
    expect(meta.count).toBeLessThan(35);
    // The world has them, too, without a request.
    clock.advance({ minutes: 1 });
    expect(sandbox.world.count).toBe(51);
  });

  it('sets the clock ahead and tokens short', async () => {
    const { sandbox } = await start({ clockSkew: 300, tokenLifetime: 5 });
    const answer = await askForToken(sandbox);
    expect(answer.headers.get('date')).toBe('Sat, 21 Nov 2026 12:05:00 GMT');
    expect(await answer.json()).toMatchObject({ created_at: 1795262700, expires_in: 5 });
  });

  it('answers so many requests within any minute, and the others with 429 and no more', async () => {
    const { sandbox, clock, request } = await start({ requestsPerMinute: 3 });
    clock.advance({ seconds: 20 });
    const status = async () => (await request(listPath)).status;
    expect(await inTurn(4, status)).toEqual([200, 200, 429, 429]);
    expect((await request(listPath)).headers.has('retry-after')).toBe(false);
    clock.advance({ seconds: 40 });
    expect(await inTurn(2, status)).toEqual([200, 429]);
    sandbox.set({ requestsPerMinute: 0 });
    expect(await inTurn(4, status)).toEqual([200, 200, 200, 200]);
  });

  it('has every other request answered by a lagging replica', async () => {
    const { clock, world, list, request } = await start({ records: 3, replicaLag: 10 });
    const [removed, edited] = [...world.assessments()];
    if (removed === undefined || edited === undefined) throw new Error('too few');
    const before = JSON.stringify((await list()).data);
    const { id } = world.add();
    world.remove(removed.id);
    world.change(edited.id, { email: 'new@example.org' });
    const after = JSON.stringify([...world.assessments()]);
    expect(after).toContain('new@example.org');
    const shown = async () => ({
      lists: new Set(await inTurn(12, async () => JSON.stringify((await list()).data))),
      records: new Set(await inTurn(12, async () => (await request(`${listPath}/${id}`)).status)),
    });
    clock.advance({ minutes: 9 });
    expect(await shown()).toEqual({
      lists: new Set([before, after]),
      records: new Set([200, 404]),
    });
    clock.advance({ minutes: 1 });
    expect(await shown()).toEqual({ lists: new Set([after]), records: new Set([200]) });
  });

  it('caches answers of the list for a while, by URL, and no single record', async () => {
    const { sandbox, clock, world, list, request } = await start({ records: 3, cache: 60 });
    const count = async (query: string) => (await list(query)).meta.count;
    expect(await count('page=100')).toBe(3);
    const { id } = world.add();
    clock.advance({ seconds: 59 });
    expect([await count('page=100'), await count('page=99')]).toEqual([3, 4]);
    expect((await request(`${listPath}/${id}`)).status).toBe(200);
    clock.advance({ seconds: 1 });
    world.add();
    expect([await count('page=100'), await count('page=99')]).toEqual([5, 4]);
    sandbox.set({ cache: 0 });
    expect(await count('page=99')).toBe(5);
  });

  it('serves a constant share of the removed records by their ids', async () => {
    const { sandbox, world, list, request } = await start({ zombies: 0.5 });
    const removed = [...world.assessments()].map(({ id }) => id);
    for (const id of removed) world.remove(id);
    expect((await list()).meta.count).toBe(0);
    const served = () =>
      Promise.all(removed.map(async (id) => (await request(`${listPath}/${id}`)).status));
    const before = await served();
    expect(new Set(before)).toEqual(new Set([200, 404]));
    expect(await served()).toEqual(before);
    sandbox.set({ zombies: 0 });
    expect(new Set(await served())).toEqual(new Set([404]));
  });
});

it.each<SandboxOptions>([
  { timeZone: 'Mars/Olympus' },
  { records: -1 },
  { churn: 2 },
  { until: '2026-02-31' },
  { faults: [{ kind: 'reset', probability: 2 }] },
])('a starting sandbox refuses %j', async (options) => {
  await expect(startPartnerSandbox(options)).rejects.toThrow(SandboxRequestError);
});
