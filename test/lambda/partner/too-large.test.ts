import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import type { ListQuery } from '../../../lambda/partner/index.ts';
import { partnerReader } from '../../../lambda/partner/reader.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { MemoryPartner } from '../../scaffold/partner.ts';
import { rejection } from './scripted-host.ts';

const limit = 2 * 1024 * 1024;
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** A host with so many records of one day, of these shares of the limit, and its client. */
function partner(many: number, shareOf: (id: number) => number = () => 0) {
  const clock = new ManualClock();
  const host = new MemoryPartner(clock);
  for (const id of range(1, many)) {
    const number = String(id).padStart(3, '0');
    host.add(id, '2026-11-02', { name: `Ada${number} Poe${number}` });
    const share = shareOf(id);
    if (share > 0) host.weights.set(id, share < 1 ? Math.floor(limit * share) : limit + 1);
  }
  const client = host.client();
  const day = Temporal.PlainDate.from('2026-11-02');
  const pages = () => host.queries.map(({ page, offset }) => `${offset}+${page}`);
  const prove = () =>
    partnerReader(client).prove({ from: day, to: day }, clock.now().add({ minutes: 10 }));
  return { host, client, pages, prove };
}

const tooLarge =
  (...ids: number[]) =>
  (id: number) =>
    ids.includes(id) ? 1 : 0;

const halves = ['7+100', '7+50', '7+25'];
const singly = ['0+1', '1+1', '2+1', '3+1'];

it.each<[string, number, (id: number) => number, ListQuery, seen: number[], asked?: string[]]>([
  ['of large rows is halved', 300, () => 1 / 41, { offset: 7 }, range(8, 32), halves],
  ['of huge rows has a few', 30, () => 1 / 4.1, {}, [1, 2, 3]],
  ['skips a row that is too large', 30, tooLarge(5), {}, [...range(1, 4), ...range(6, 12)]],
  ['counts behind such rows', 30, tooLarge(1, 2, 3), { page: 1 }, [4], singly],
  ['passes such rows', 30, tooLarge(...range(1, 12)), {}, [13]],
  ['is one answer if it can', 30, (id) => [0, 0.7, 0.7, 1][id] ?? 0, { page: 2 }, [1]],
  ['shows rows between such', 30, tooLarge(3, 5, 7, 9, 11, 12), {}, [1, 2, 4, 6, 8]],
])('a page that is too large %s', async (_, many, shareOf, query, seen, asked) => {
  const { client, pages } = partner(many, shareOf);
  const { offset = 0 } = query;
  const { assessments, quarantined, rows, meta } = await client.list({ page: 100, ...query });
  expect(assessments.map(({ id }) => id)).toEqual(seen);
  expect(meta).toEqual({ count: many, offset, page: rows });
  const unread = range(offset + 1, offset + rows).filter((id) => !seen.includes(id));
  expect(quarantined).toEqual(
    unread.map((id) => ({ index: id - 1 - offset, problems: ['too large to be read'] })),
  );
  if (asked) expect(pages()).toEqual(asked);
});

it('a page with such a row shows each content of an id that is there twice, once', async () => {
  const { host, client } = partner(8, tooLarge(5));
  host.twinOf = ({ assessment, ...record }) =>
    assessment.id === 2
      ? { ...record, assessment: { ...assessment, name: 'Zoe Twin' } }
      : undefined;
  const { assessments } = await client.list({ page: 12, sort: 'user_name' });
  expect(assessments.map(({ id }) => id).sort()).toEqual([1, 2, 2, 3, 4, 6, 7, 8]);
});

it.each<[string, (host: MemoryPartner) => void, isRead: boolean]>([
  ['has been read', () => undefined, true],
  ['has not: such a row takes the place of another', (host) => renamed(host, 12), false],
  ['has not: a removal lets another slip', (host) => host.remove(1), false],
])(
  'a list with such a row, of which the last piece is asked for, %s',
  async (_, happen, isRead) => {
    const { host, prove } = partner(12, tooLarge(9));
    host.onList = ({ offset, page }) => {
      if (offset === 9 && page === 3) happen(host);
      return undefined;
    };
    expect((await prove()).isRead).toBe(isRead);
  },
);

const renamed = (host: MemoryPartner, id: number) => host.edit(id, { name: 'Ada0085 Poe' });

it('a page that is too large for another reason than its rows is given up', async () => {
  const { host, client } = partner(300, () => 1);
  for (const page of [100, 1])
    expect(await rejection(client.list({ page }))).toMatchObject({ code: 'response-too-large' });
  expect(host.queries.length).toBeLessThan(40);
  expect(await rejection(client.get(5))).toMatchObject({ code: 'response-too-large' });
});

it('a proof is whole if a dozen rows fit, and the day of a row that does not fit has none', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 240 }),
      fc.integer({ min: 6, max: 300 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 240 }), { maxLength: 2 }),
      async (many, share, huge) => {
        const unread = huge.filter((id) => id <= many);
        const { host, prove } = partner(many, (id) => (unread.includes(id) ? 1 : 1 / share));
        const read = await prove();
        const seen = read.assessments.map(({ id }) => id).sort((a, b) => a - b);
        const readable = [...host.records.keys()].filter((id) => !unread.includes(id));
        expect(seen).toEqual(readable);
        expect(read.proof !== undefined).toBe(unread.length === 0);
        expect(read.quarantined.length > 0).toBe(unread.length > 0);
      },
    ),
    { numRuns: 40 },
  );
});
