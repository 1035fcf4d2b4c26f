import { once } from 'node:events';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PartnerSandbox, startPartnerSandbox } from '../../../local/partner-sandbox/index.ts';
import { type Visitor, visit } from './visitor.ts';

const listPath = '/api/v1/ax/assessments';
let sandbox: PartnerSandbox;
let visitor: Visitor;

beforeEach(async () => {
  sandbox = await startPartnerSandbox({ records: 30 });
  visitor = await visit(sandbox);
});
afterEach(() => sandbox.close());

async function control(method: string, path: string, body?: unknown) {
  const response = await fetch(`${sandbox.url}/_sandbox${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const count = async (query = '') => (await visitor.list(query)).meta.count;

/** fetch does not let its caller choose a Host. */
async function statusWith(headers: Record<string, string>): Promise<number> {
  const [{ statusCode }] = await once(
    request(`${sandbox.url}/_sandbox`, { headers }).end(),
    'response',
  );
  return statusCode;
}

describe('the control API', () => {
  it('adds, changes, moves, archives, removes and restores a record', async () => {
    const { body: added } = await control('POST', '/assessments', { certified_on: '2026-02-03' });
    expect(await count()).toBe(31);
    const path = `/assessments/${added.id}`;
    expect((await control('PATCH', path, { seid: 'XX9' })).body.seid).toBe('XX9');
    expect(await count('filter[seids][]=XX9')).toBeGreaterThan(0);
    await control('POST', `${path}/move`, { certified_on: '2012-02-29' });
    expect(await count('filter[end_date]=2012-02-29')).toBe(1);
    await control('POST', `${path}/archive`);
    expect((await control('GET', path)).body).toMatchObject({
      status: 'archived',
      assessment: { id: added.id },
    });
    expect((await control('DELETE', path)).status).toBe(204);
    expect(await count()).toBe(30);
    await control('POST', `${path}/restore`);
    expect(await count()).toBe(31);
  });

  it('renames a product, adds a record of somebody known, and unarchives a record', async () => {
    const { products, educators } = sandbox.world.catalogue;
    const [product_id, user_id] = [products.at(0).id, educators.at(0).id];
    const { body: added } = await control('POST', '/assessments', { user_id, name: 'Odalys Ash' });
    const path = `/assessments/${added.id}`;
    await control('PATCH', path, { product_id, legacy: true });
    await control('PATCH', `/products/${product_id}`, { name: 'Reading II' });
    expect(await count('filter[legacy_record]=legacy')).toBeGreaterThan(0);
    await control('POST', `${path}/archive`);
    await control('POST', `${path}/unarchive`);
    const renamed = { name: 'Odalys Ash', assessment_name: 'Reading II' };
    const { body } = await control('GET', path);
    expect(body).toMatchObject({ status: 'active', assessment: renamed });
  });

  it('adds many at once, and none with an id in use', async () => {
    const { body } = await control('POST', '/assessments', { count: 3 });
    expect(new Set(body.ids).size).toBe(3);
    expect(await count()).toBe(33);
    const again = await control('POST', '/assessments', { id: body.ids[0] });
    expect(again).toEqual({ status: 422, body: { message: `Id ${body.ids[0]} is in use.` } });
    expect(await count()).toBe(33);
  });

  it('narrows and widens the scope', async () => {
    const before = await count();
    const inside = await count('filter[organization_ids][]=308');
    await control('POST', '/scope/narrow', { organization_ids: [308] });
    expect(await count()).toBe(before - inside);
    await control('POST', '/scope/widen', { organization_ids: [308] });
    expect(await count()).toBe(before);
    await control('PUT', '/scope', { organization_ids: [] });
    expect((await visitor.request(listPath)).status).toBe(400);
  });

  it('sets switches, shows the log and rotates the secret', async () => {
    expect((await control('PATCH', '/switches', { tokenLifetime: 3 })).body.tokenLifetime).toBe(3);
    await visitor.request(`${listPath}?page=1`);
    const { body: log } = await control('GET', '/requests');
    expect(log.at(-1)).toMatchObject({ query: [['page', '1']], status: 200 });
    await control('DELETE', '/requests');
    expect((await control('GET', '')).body.requests).toBe(0);
    expect((await control('POST', '/secret')).body).toEqual(sandbox.credentials);
    expect((await visitor.request(listPath)).status).toBe(401);
  });

  it('injects faults, shows the waiting ones and removes them', async () => {
    await control('POST', '/faults', [{ kind: 'html', times: 2 }]);
    expect((await visitor.request(listPath)).status).toBe(502);
    expect((await control('GET', '/faults')).body).toMatchObject([{ kind: 'html', times: 1 }]);
    expect((await control('DELETE', '/faults')).status).toBe(204);
    expect((await control('GET', '/faults')).body).toEqual([]);
    expect((await visitor.request(listPath)).status).toBe(200);
  });

  it('names the mistake in an order', async () => {
    expect((await control('POST', '/assessments/1/archive')).status).toBe(404);
    expect((await control('GET', '/nonsense')).status).toBe(404);
    const { status, body } = await control('POST', '/faults', { kind: 'reset', often: true });
    expect(status).toBe(422);
    expect(body.message).toContain('often');
    const broken = await fetch(`${sandbox.url}/_sandbox/faults`, { method: 'POST', body: '{' });
    expect(broken.status).toBe(400);
  });

  it.each([
    [{ kind: 'nonsense' }, 'kind'],
    [[{ kind: 'reset', times: 0 }], '0.times'],
    [{ kind: 'server-error', retryAfter: 1.5 }, 'retryAfter'],
    [{ kind: 'html', status: 204 }, 'status'],
    [{ kind: 'redirect', location: 'a\r\nb: c' }, 'location'],
    [{ kind: 'unauthorized', on: 'token' }, 'on'],
  ])('refuses the fault %j, naming the field', async (order, field) => {
    const { status, body } = await control('POST', '/faults', order);
    expect(status).toBe(422);
    expect(body.message).toContain(`${field}: `);
    expect(sandbox.faults).toEqual([]);
  });

  it('refuses web pages and foreign host names', async () => {
    const { host } = new URL(sandbox.url);
    expect(await statusWith({})).toBe(200);
    expect(await statusWith({ host: 'rebound.example' })).toBe(403);
    expect(await statusWith({ origin: 'https://page.example' })).toBe(403);
    expect(await statusWith({ origin: `http://${host}` })).toBe(200);
  });
});
