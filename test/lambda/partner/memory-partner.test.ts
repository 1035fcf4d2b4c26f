import { Temporal } from 'temporal-polyfill';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ListQuery } from '../../../lambda/partner/index.ts';
import { createPartnerClient, SORT_KEYS } from '../../../lambda/partner/index.ts';
import { startPartnerSandbox } from '../../../local/partner-sandbox/index.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import {
  type Fault,
  htmlPage,
  invalidClient,
  invalidToken,
  MemoryPartner,
  noAssessments,
  noOrganizations,
  notFound,
  serverError,
  tooManyRequests,
} from '../../scaffold/partner.ts';
import { rejection } from './scripted-host.ts';

const began = Temporal.Instant.from('2026-11-21T08:00:00Z');

function scene() {
  const clock = new ManualClock(began.toString());
  const partner = new MemoryPartner(clock);
  partner.addMany(1, 120, '2026-11-20');
  const passed = () => clock.now().since(began).total('milliseconds');
  return { clock, partner, client: partner.client(), passed };
}

/** A fault that happens so many times. */
function strikes(fault: Fault, times: number): () => Fault | undefined {
  let left = times;
  return () => (left-- > 0 ? fault : undefined);
}

describe('the partner in memory', () => {
  it('answers the client as the sandbox does', async () => {
    const sandbox = await startPartnerSandbox({ records: 400, timeZone: 'UTC' });
    onTestFinished(() => sandbox.close());
    const real = createPartnerClient({
      baseUrl: sandbox.url,
      credentials: async () => sandbox.credentials,
    });
    onTestFinished(() => real.close());
    const { partner, client } = scene();
    for (const id of partner.records.keys()) partner.remove(id);
    const ids = (await everyId(real)).toSorted((a, b) => a - b);
    for (const id of ids) {
      const assessment = await real.get(id);
      if (assessment) partner.put({ assessment, legacy: false, archived: false });
    }
    const [first = 0] = ids;
    const day = partner.records.get(first)?.assessment.certified_on ?? '';
    const queries: ListQuery[] = [
      {},
      { page: 7, offset: 390 },
      { offset: 1000 },
      { filter: { start_date: day } },
      { filter: { end_date: day }, order: 'DESC' },
      { filter: { start_date: day, end_date: day }, page: 100 },
      { filter: { organization_ids: [1, 2] } },
    ];
    for (const query of queries) {
      const [one, other] = [await client.list(query), await real.list(query)];
      expect(one.meta).toEqual(other.meta);
      expect(one.assessments.map(({ certified_on }) => certified_on)).toEqual(
        other.assessments.map(({ certified_on }) => certified_on),
      );
    }
    expect(await client.get(first)).toEqual(await real.get(first));
    expect(await client.get(999_999_999)).toBeUndefined();
  });

  it.each(SORT_KEYS)('shows each record once, sorted by %s, both ways', async (sort) => {
    const { partner, client } = scene();
    partner.addMany(200, 40, '2026-11-19');
    for (const order of ['ASC', 'DESC'] as const) {
      const pages = [0, 100].map((offset) => client.list({ sort, order, page: 100, offset }));
      const ids = (await Promise.all(pages)).flatMap(({ assessments }) =>
        assessments.map(({ id }) => id),
      );
      expect(new Set(ids).size).toBe(160);
      const first = { certified_on: 200, user_name: 1, proctor_name: 1, product_name: 1 }[sort];
      const last = { certified_on: 1, user_name: 239, proctor_name: 1, product_name: 1 }[sort];
      expect(ids[0]).toBe(order === 'ASC' ? first : last);
    }
  });

  it("takes the clock's time for an answer", async () => {
    const { partner, client, passed } = scene();
    partner.answerMs = 700;
    await client.list();
    // The token's answer counts, too.
    expect(passed()).toBe(1_400);
  });

  it.each<[string, Fault, object]>([
    ['a status', serverError, { code: 'unavailable' }],
    ['429', tooManyRequests(), { code: 'rate-limited' }],
    ['a connection that is reset', 'reset', { code: 'unavailable' }],
    ['half an answer', 'half', { code: 'unavailable' }],
    ['a page of a proxy', htmlPage, { code: 'unexpected-response' }],
    ['silence', 'silence', { code: 'out-of-time' }],
    ['a refused token', invalidToken, { code: 'token-refused-twice' }],
    ['no organizations', noOrganizations, { code: 'not-provisioned' }],
    ['no assessments', noAssessments, { code: 'not-provisioned' }],
  ])('can answer with %s', async (_, fault, expected) => {
    const { partner, client } = scene();
    partner.fault = fault;
    expect(await rejection(client.list())).toMatchObject(expected);
    const isOfScope = fault === noOrganizations || fault === noAssessments;
    expect(await rejection(client.get(1))).toMatchObject(
      isOfScope ? { code: 'request-refused' } : expected,
    );
  });

  it('refuses wrong and rotated credentials', async () => {
    const { partner, client } = scene();
    partner.onToken = strikes(invalidClient, 2);
    expect(await rejection(client.list())).toMatchObject({ code: 'credentials-refused' });
    const stale = partner.client({ credentials: async () => old });
    const old = partner.access.credentials;
    await stale.list();
    partner.access.rotateSecret();
    expect(await rejection(stale.list())).toMatchObject({ code: 'credentials-refused' });
  });

  it('has its faults retried', async () => {
    const { partner, client, passed } = scene();
    partner.onList = strikes(tooManyRequests(9), 1);
    await expect(client.list()).resolves.toMatchObject({ rows: 50 });
    expect(passed()).toBe(9_250);
    expect(partner.asked).toHaveLength(2);
  });

  it('loses an answer that it has made', async () => {
    const { partner, client } = scene();
    const listed: ListQuery[] = [];
    partner.onListed = (query) => {
      listed.push(query);
      return listed.length === 1 ? 'reset' : undefined;
    };
    await expect(client.list()).resolves.toMatchObject({ rows: 50 });
    expect(listed).toHaveLength(2);
  });

  it('serves undocumented values', async () => {
    const { partner, client } = scene();
    partner.spoil(3);
    partner.spoil(4, { id: null });
    partner.put({
      assessment: { ...(await record(client, 5)), certified_on: '' },
      legacy: false,
      archived: false,
      malformed: { certified_on: null },
    });
    const { quarantined, meta } = await client.list({ page: 100 });
    expect(quarantined).toMatchObject([{ problems: [expect.any(String)] }, { id: 3 }, {}]);
    expect(meta.count).toBe(120);
    const dated = await client.list({ filter: { start_date: '2000-01-01' } });
    expect(dated.meta.count).toBe(119);
    expect(await rejection(client.get(3))).toMatchObject({ code: 'malformed-record' });
  });

  it('counts hidden records, and miscounts', async () => {
    const { partner, client } = scene();
    partner.hidden.add(7);
    partner.count = (right) => right + 2;
    const { assessments, meta } = await client.list({ page: 100 });
    expect(assessments.map(({ id }) => id)).not.toContain(7);
    expect(meta.count).toBe(122);
  });

  it('can lose single records', async () => {
    const { partner, client } = scene();
    partner.onGet = (id) => (id === 1 ? notFound : undefined);
    expect(await client.get(1)).toBeUndefined();
    expect(await client.get(2)).toMatchObject({ id: 2 });
    partner.singleRecordsBroken = true;
    expect(await client.get(2)).toBeUndefined();
  });

  it('lists its requests', async () => {
    const { partner, client } = scene();
    await client.list({ sort: 'certified_on', order: 'DESC', page: 100 });
    await client.list({ page: 1 });
    await client.list({ sort: 'user_name', page: 100, offset: 0 });
    await client.get(1);
    expect(partner.asked).toEqual(['pulse', 'count', 'prove', 'get']);
    expect(partner.requests[0]).toEqual({ kind: 'token' });
  });
});

async function record(client: ReturnType<MemoryPartner['client']>, id: number) {
  const one = await client.get(id);
  if (one === undefined) throw new Error(`there is no ${id}`);
  return one;
}

async function everyId(client: ReturnType<MemoryPartner['client']>): Promise<number[]> {
  const ids: number[] = [];
  for (let offset = 0; ; offset += 100) {
    const { assessments } = await client.list({ page: 100, offset });
    if (assessments.length === 0) return ids;
    ids.push(...assessments.map(({ id }) => id));
  }
}
