import { describe, expect, it } from 'vitest';
import { toSearchParams } from '../../../lambda/partner/api.ts';
import type { ListQuery } from '../../../lambda/partner/index.ts';
import { rig } from './scripted-host.ts';

describe('list query', () => {
  it('sends each filter, sort, order, page size and offset of the document', async () => {
    const { host, client } = await rig();
    const dates = { start_date: '2026-02-28', end_date: '2026-03-01' };
    const ids = { product_ids: [1, 2], user_ids: [3], proctor_ids: [4], organization_ids: [5, 6] };
    const states = {
      user_record_status: ['active', 'archived'],
      legacy_record: [true, false, 'both'],
    } as const;
    const filter = { search: 'ada lovelace', ...dates, ...ids, seids: ['A 1', 'B+2'], ...states };
    await client.list({ filter, sort: 'user_name', order: 'DESC', page: 100, offset: 300 });
    const [request] = host.of('list');
    expect(request).toMatchObject({ method: 'GET', url: { pathname: '/api/v1/ax/assessments' } });
    expect(
      decodeURIComponent(request?.url.search ?? '')
        .split(/[?&]/)
        .sort(),
    ).toEqual(
      [
        ...['', 'filter[search]=ada+lovelace', 'sort=user_name', 'order=DESC', 'page=100'],
        ...['offset=300', 'filter[start_date]=2026-02-28', 'filter[end_date]=2026-03-01'],
        ...['filter[product_ids][]=1', 'filter[product_ids][]=2', 'filter[user_ids][]=3'],
        ...['filter[seids][]=A+1', 'filter[seids][]=B+2', 'filter[proctor_ids][]=4'],
        ...['filter[organization_ids][]=5', 'filter[organization_ids][]=6'],
        ...['filter[user_record_status][]=active', 'filter[user_record_status][]=archived'],
        ...['filter[legacy_record][]=true', 'filter[legacy_record][]=false'],
        'filter[legacy_record][]=both',
      ].sort(),
    );
  });

  it('drops empty lists and leaves the defaults to the API', () => {
    for (const query of [{}, { filter: { seids: [], product_ids: [] } }])
      expect([...toSearchParams(query)]).toEqual([]);
  });

  it.each<[string, ListQuery]>([
    ['page', { page: 0 }],
    ['page', { page: 1.5 }],
    ['offset', { offset: -1 }],
    ['filter.start_date', { filter: { start_date: '2026-02-30' } }],
    ['filter.end_date', { filter: { end_date: '20260228' } }],
    ['filter.user_ids', { filter: { user_ids: [1, 2.5] } }],
    // The types refuse these, but JavaScript callers and parsed input may pass them.
    ['sort', { sort: JSON.parse('"certifiedOn"') }],
    ['order', { order: JSON.parse('"desc"') }],
    ['filter.user_record_status', { filter: { user_record_status: JSON.parse('["gone"]') } }],
    ['filter.legacy_record', { filter: { legacy_record: JSON.parse('["maybe"]') } }],
  ])('names %s if it is not allowed: %j', (parameter, query) => {
    expect(() => toSearchParams(query)).toThrow(expect.objectContaining({ code: 'invalid-call' }));
    expect(() => toSearchParams(query)).toThrow(parameter);
  });

  it('names ten problems at once, and the number of others', () => {
    expect(() => toSearchParams({ page: 0, offset: -1 })).toThrow(/page.*offset/);
    const seids = JSON.parse('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]');
    expect(() => toSearchParams({ filter: { seids } })).toThrow(/seids.9.*; and 2 more/);
  });
});
