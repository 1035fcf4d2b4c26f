import { describe, expect, it } from 'vitest';
import { page, record, rig } from './scripted-host.ts';

describe('partner client', () => {
  it('lists a page with a bearer token', async () => {
    const { host, client } = await rig();
    host.script('list', page([record(1), record(2)], 17));
    const result = await client.list({ page: 2 });
    expect(result.assessments.map(({ id }) => id)).toEqual([1, 2]);
    expect(result.meta).toEqual({ count: 17, offset: 0, page: 2 });
    expect(host.of('list')[0]?.headers.authorization).toBe('Bearer token-1');
  });
});
