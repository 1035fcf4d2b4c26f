import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toSearchParams } from '../../../lambda/partner/api.ts';
import { type ListQuery, MAX_PAGE_SIZE, SORT_KEYS } from '../../../lambda/partner/index.ts';
import { rejection, rig } from './scripted-host.ts';

const pairs = (query: ListQuery) => [...toSearchParams(query)];

describe('list query', () => {
  it('sends each filter, sort, order, page size and offset of the document', async () => {
    const { host, client } = await rig();
    await client
      .list({
        filter: {
          search: 'ada lovelace',
          start_date: '2026-02-28',
          end_date: '2026-03-01',
          product_ids: [1, 2],
          user_ids: [3],
          seids: ['A 1', 'B+2'],
          proctor_ids: [4],
          organization_ids: [5, 6],
          user_record_status: ['active', 'archived'],
          legacy_record: [true, false, 'both'],
        },
        sort: 'user_name',
        order: 'DESC',
        page: 100,
        offset: 300,
      })
      .catch(() => {});
    const [request] = host.of('list');
    expect(request?.method).toBe('GET');
    expect(request?.url.pathname).toBe('/api/v1/ax/assessments');
    expect([...(request?.url.searchParams ?? [])].sort()).toEqual(
      [
        ['filter[search]', 'ada lovelace'],
        ['filter[start_date]', '2026-02-28'],
        ['filter[end_date]', '2026-03-01'],
        ['filter[product_ids][]', '1'],
        ['filter[product_ids][]', '2'],
        ['filter[user_ids][]', '3'],
        ['filter[seids][]', 'A 1'],
        ['filter[seids][]', 'B+2'],
        ['filter[proctor_ids][]', '4'],
        ['filter[organization_ids][]', '5'],
        ['filter[organization_ids][]', '6'],
        ['filter[user_record_status][]', 'active'],
        ['filter[user_record_status][]', 'archived'],
        ['filter[legacy_record][]', 'true'],
        ['filter[legacy_record][]', 'false'],
        ['filter[legacy_record][]', 'both'],
        ['sort', 'user_name'],
        ['order', 'DESC'],
        ['page', '100'],
        ['offset', '300'],
      ].sort(),
    );
  });

  it('drops empty lists and leaves the defaults to the API', () => {
    expect(pairs({})).toEqual([]);
    expect(pairs({ filter: { seids: [], product_ids: [] } })).toEqual([]);
  });

  it.each([101, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses a page size of %s before anything is sent',
    async (size) => {
      const { host, client } = await rig();
      const error = await rejection(client.list({ page: size }));
      expect(error).toMatchObject({ code: 'invalid-call' });
      expect(error).toMatchObject({ message: expect.stringContaining(': page: ') });
      expect(host.received).toEqual([]);
    },
  );

  it.each<[string, ListQuery]>([
    ['offset', { offset: -1 }],
    ['filter.start_date', { filter: { start_date: '2026-02-30' } }],
    ['filter.end_date', { filter: { end_date: '20260228' } }],
    ['filter.user_ids', { filter: { user_ids: [1, 2.5] } }],
    // The types refuse these, but JavaScript callers and parsed input may pass them.
    ['sort', { sort: JSON.parse('"certifiedOn"') }],
    ['order', { order: JSON.parse('"desc"') }],
    ['filter.user_record_status', { filter: { user_record_status: JSON.parse('["gone"]') } }],
    ['filter.legacy_record', { filter: { legacy_record: JSON.parse('["maybe"]') } }],
  ])('names %s if it is not allowed', (parameter, query) => {
    expect(() => toSearchParams(query)).toThrow(expect.objectContaining({ code: 'invalid-call' }));
    expect(() => toSearchParams(query)).toThrow(parameter);
  });

  it('names every problem at once', () => {
    expect(() => toSearchParams({ page: 0, offset: -1 })).toThrow(/page.*offset/);
  });

  it('is parsed from the query string as it was written', () => {
    const query = fc.record(
      {
        sort: fc.constantFrom(...SORT_KEYS),
        order: fc.constantFrom('ASC' as const, 'DESC' as const),
        page: fc.integer({ min: 1, max: MAX_PAGE_SIZE }),
        offset: fc.nat(),
        filter: fc.record(
          {
            search: fc.string({ unit: 'grapheme' }).map((text) => text.trim()),
            seids: fc.array(fc.string().map((text) => text.trim())),
            product_ids: fc.array(fc.integer()),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(query, ({ filter = {}, ...rest }) => {
        const { search = '', seids = [], product_ids = [] } = filter;
        const sent = new URLSearchParams(toSearchParams({ ...rest, filter }).toString());
        expect(sent.get('filter[search]') ?? '').toBe(search);
        expect(sent.getAll('filter[seids][]')).toEqual(seids);
        expect(sent.getAll('filter[product_ids][]')).toEqual(product_ids.map(String));
        expect(sent.get('sort')).toBe(rest.sort ?? null);
        expect(sent.get('offset')).toBe(rest.offset === undefined ? null : String(rest.offset));
      }),
    );
  });
});
