import { expect, it, onTestFinished } from 'vitest';
import { createPartnerClient, type ListQuery } from '../../../lambda/partner/index.ts';
import { startPartnerSandbox } from '../../../local/partner-sandbox/index.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { MemoryPartner } from '../../scaffold/partner.ts';

it('the partner in memory answers the client as the sandbox does', async () => {
  const sandbox = await startPartnerSandbox({ records: 400, timeZone: 'UTC' });
  onTestFinished(() => sandbox.close());
  const { url: baseUrl, credentials } = sandbox;
  const real = createPartnerClient({ baseUrl, credentials: async () => credentials });
  onTestFinished(() => real.close());
  const partner = new MemoryPartner(new ManualClock());
  const client = partner.client();
  const whole = [0, 100, 200, 300].map((offset) => real.list({ page: 100, offset }));
  const all = (await Promise.all(whole)).flatMap(({ assessments }) => assessments);
  for (const assessment of all.toSorted((a, b) => a.id - b.id))
    partner.put({ assessment, legacy: false, archived: false });
  const [{ id = 0, certified_on: day = '' } = {}] = all;
  const queries: ListQuery[] = [
    ...[{}, { page: 7, offset: 390 }, { offset: 1000 }],
    ...[{ filter: { start_date: day } }, { filter: { organization_ids: [1, 2] } }],
    { filter: { end_date: day }, order: 'DESC' },
    { sort: 'user_name', order: 'DESC', page: 100, offset: 30 },
    { filter: { start_date: day, end_date: day }, page: 100 },
  ];
  for (const query of queries) {
    const [one, other] = [await client.list(query), await real.list(query)];
    expect(one).toEqual(other);
  }
  expect(await client.get(id)).toEqual(await real.get(id));
  expect(await client.get(999_999_999)).toBeUndefined();
});
