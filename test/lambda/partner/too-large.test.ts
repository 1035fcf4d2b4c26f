import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { partnerReader } from '../../../lambda/partner/reader.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { MemoryPartner } from '../../scaffold/partner.ts';
import { rejection } from './scripted-host.ts';

const limit = 2 * 1024 * 1024;

/** A host with so many records of one day, and its client. */
function partner(many: number) {
  const clock = new ManualClock();
  const host = new MemoryPartner(clock);
  for (let id = 1; id <= many; id++) {
    const number = String(id).padStart(3, '0');
    host.add(id, '2026-11-02', { name: `Ada${number} Poe${number}` });
  }
  const client = host.client();
  const day = Temporal.PlainDate.from('2026-11-02');
  const pages = () => host.queries.map(({ page, offset = 0 }) => `${offset}+${page}`);
  const prove = () =>
    partnerReader(client).prove({ from: day, to: day }, clock.now().add({ minutes: 10 }));
  return { host, client, pages, prove };
}

it('a page that is too large is requested again with half of its rows, until they fit', async () => {
  const { host, client, pages } = partner(300);
  for (const id of host.records.keys()) host.weights.set(id, limit / 40);
  const page = await client.list({ page: 100, offset: 7 });
  expect(page).toMatchObject({ rows: 25, meta: { count: 300, offset: 7, page: 25 } });
  expect(page.quarantined).toEqual([]);
  expect(pages()).toEqual(['7+100', '7+50', '7+25']);
});

it('a page holds fewer rows if each of a few is large', async () => {
  const { host, client } = partner(30);
  for (const id of host.records.keys()) host.weights.set(id, limit / 4);
  const page = await client.list({ page: 100 });
  expect(page).toMatchObject({ rows: 3, quarantined: [] });
});

it('a page skips a row that is too large alone, and reports it', async () => {
  const { host, client } = partner(30);
  host.weights.set(5, limit + 1);
  const page = await client.list({ page: 100 });
  expect(page).toMatchObject({ rows: 12, meta: { count: 30, offset: 0, page: 12 } });
  expect(page.quarantined).toEqual([{ index: 4, problems: ['too large to be read'] }]);
  expect(page.assessments.map(({ id }) => id)).toEqual([1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12]);
});

it('a page of one row is counted beside a row that is too large', async () => {
  const { host, client, pages } = partner(30);
  host.weights.set(1, limit + 1).set(2, limit + 1);
  expect((await client.list({ page: 1 })).meta.count).toBe(30);
  expect(pages()).toEqual(['0+1', '1+1', '2+1']);
});

it('a page of one row is counted behind several rows that are too large', async () => {
  const { host, client } = partner(30);
  for (const id of [1, 2, 3]) host.weights.set(id, limit + 1);
  expect((await client.list({ page: 1 })).meta.count).toBe(30);
});

it('a page whose rows are all too large is passed', async () => {
  const { host, client } = partner(30);
  for (let id = 1; id <= 12; id++) host.weights.set(id, limit + 1);
  const page = await client.list({ page: 100 });
  expect(page).toMatchObject({
    rows: 13,
    assessments: [{ id: 13 }],
    meta: { count: 30, page: 13 },
  });
  expect(page.quarantined).toHaveLength(12);
});

it('a page is one answer if none of its own rows is too large', async () => {
  const { host, client } = partner(30);
  host.weights
    .set(1, 0.7 * limit)
    .set(2, 0.7 * limit)
    .set(3, limit + 1);
  expect(await client.list({ page: 2 })).toMatchObject({ rows: 1, meta: { page: 1 } });
});

it('a page shows the rows beside many that are too large', async () => {
  const { host, client } = partner(30);
  for (const id of [3, 5, 7, 9, 11, 12]) host.weights.set(id, limit + 1);
  const page = await client.list({ page: 100 });
  expect(page).toMatchObject({ rows: 12, meta: { count: 30, offset: 0, page: 12 } });
  expect(page.assessments.map(({ id }) => id)).toEqual(expect.arrayContaining([1, 2, 4, 6, 8]));
  expect(page.assessments.length + page.quarantined.length).toBe(12);
});

it('a page that is too large for another reason than its rows is given up', async () => {
  const { host, client } = partner(300);
  for (const id of host.records.keys()) host.weights.set(id, limit + 1);
  expect(await rejection(client.list({ page: 100 }))).toMatchObject({ code: 'response-too-large' });
  expect(host.queries.length).toBeLessThan(20);
  expect(await rejection(client.list({ page: 1 }))).toMatchObject({ code: 'response-too-large' });
});

it('a single record that is too large fails as any other', async () => {
  const { host, client } = partner(30);
  host.weights.set(5, limit + 1);
  expect(await rejection(client.get(5))).toMatchObject({ code: 'response-too-large' });
});

it('a proof is whole if a dozen rows fit, and the day of a row that does not fit has none', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 240 }),
      fc.integer({ min: 6, max: 300 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 240 }), { maxLength: 2 }),
      async (many, share, huge) => {
        const { host, prove } = partner(many);
        for (const id of host.records.keys()) host.weights.set(id, Math.floor(limit / share));
        const tooLarge = huge.filter((id) => id <= many);
        for (const id of tooLarge) host.weights.set(id, limit + 1);
        const read = await prove();
        const seen = read.assessments.map(({ id }) => id).sort((a, b) => a - b);
        const readable = [...host.records.keys()].filter((id) => !tooLarge.includes(id));
        expect(seen).toEqual(readable);
        expect(read.proof !== undefined).toBe(tooLarge.length === 0);
        expect(read.quarantined.length > 0).toBe(tooLarge.length > 0);
      },
    ),
    { numRuns: 40 },
  );
});
