import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import type { Bookmark, DayRange } from '../../../../lambda/decisions/days.ts';
import {
  type ListQuery,
  type PartnerClient,
  PartnerError,
} from '../../../../lambda/partner/index.ts';
import { proveRange } from '../../../../lambda/partner/proven/proven-read.ts';
import type { DocumentedRecord } from '../../../../local/documented-record.ts';
import type { UserNameOrder } from '../../../../local/partner-sandbox/list.ts';
import { RowsByDay } from '../../../../local/partner-sandbox/rows.ts';
import { answer, type HostRecord } from '../../../scaffold/listing.ts';
import { assessment } from '../../../support/assessments.ts';
import { NamePool } from './name-pool.ts';
import { Random } from './random.ts';

const DAY = '2026-11-20';
const oneDay = { from: Temporal.PlainDate.from(DAY), to: Temporal.PlainDate.from(DAY) };
const deadline = Temporal.Instant.from('2026-11-21T08:01:00Z');

interface Host extends Pick<PartnerClient, 'list'> {
  readonly queries: ListQuery[];
}
type Records = readonly Partial<HostRecord>[];

/** @param records may depend on the number of the request, from 1, and on its query */
function host(
  records: Records | ((request: number, query: ListQuery) => Records),
  order: UserNameOrder = 'name',
): Host {
  const random = new Random(7);
  const queries: ListQuery[] = [];
  return {
    queries,
    async list(query = {}, options = {}) {
      expect(options).toEqual({ deadline });
      queries.push(query);
      const now = typeof records === 'function' ? records(queries.length, query) : records;
      const whole = now.map((record) => ({
        ...{ legacy: false, archived: false, assessment: assessment(), ...record },
      }));
      return answer(new RowsByDay(whole), query, { userName: order, tie: () => random.next() });
    },
  };
}

/** People with a name each, unless described otherwise. */
function people(many: number, describe: (index: number) => Partial<DocumentedRecord> = () => ({})) {
  const random = new Random(1);
  const pool = new NamePool(random, { firsts: 400, lasts: 900, skew: 0 });
  return Array.from({ length: many }, (_, index) => {
    const { first, last } = pool.person(random);
    const names = { name: `${first} ${last}`, first_name: first, last_name: last };
    return { assessment: assessment({ id: index + 1, ...names, ...describe(index) }) };
  });
}

const prove = (partner: Host, range: DayRange = oneDay, bookmark?: Bookmark) =>
  proveRange(partner, range, deadline, bookmark);

const sameName = { name: 'Ada Twin', first_name: 'Ada', last_name: 'Twin' };
const ofOneName = (many: number, describe: (index: number) => Partial<DocumentedRecord>) =>
  people(many, (index) => ({ ...sameName, ...describe(index) }));

/** Records of a host that fails at a request. */
const failing = (code: 'out-of-time' | 'unavailable', at: number) => (request: number) => {
  if (request === at) throw new PartnerError(code, 'list');
  return people(500);
};
const inNovember = (index: number) => ({ certified_on: `2026-11-0${1 + (index % 5)}` });

describe('proveRange', () => {
  it('asks for the range by name, from the start', async () => {
    const partner = host(people(99));
    expect((await prove(partner)).assessments).toHaveLength(99);
    const filter = { start_date: DAY, end_date: DAY };
    expect(partner.queries).toEqual([
      { sort: 'user_name', order: 'ASC', page: 100, offset: 0, filter },
    ]);
  });

  it.each([
    ['nothing', 0, 'single-page', 1],
    ['less than a page', 99, 'single-page', 1],
    ['a full page, which need not be the last one', 100, 'key-seam', 2],
    ['several pages', 250, 'key-seam', 3],
  ])('proves %s', async (_, count, proof, requests) => {
    expect(await prove(host(people(count)))).toMatchObject({ proof, count, requests });
  });

  const filtered = people(250, () => sameName).map((record, index) => ({
    ...{ ...record, legacy: index % 2 === 0, archived: index % 5 < 2 },
  }));
  const byProctor = (index: number) => ({
    results: assessment().results.map((part) => ({
      ...{ ...part, proctor_id: index % 10, proctor_name: `Proctor ${index % 10}` },
    })),
  });
  const byProduct = (index: number) => ({ assessment_name: `Product ${index % 10}` });
  const byOrganization = (index: number) => ({ organization_id: 1 + (index % 5) });

  it.each([
    ['by product', ofOneName(250, byProduct), 'key-seam', { sort: 'product_name' }],
    ['by proctor', ofOneName(250, byProctor), 'key-seam', { sort: 'proctor_name' }],
    ['by legacy flag and status', filtered, 'split', {}],
    ['by organization', ofOneName(250, byOrganization), 'split', {}],
  ])('reads a day whose one name fills a page %s', async (_, records, proof, last) => {
    const partner = host(records);
    expect(await prove(partner)).toMatchObject({ proof, count: 250 });
    expect(partner.queries.at(-1)).toMatchObject(last);
  });

  it.each([
    ['0001-01-01', { to: oneDay.to }],
    ['9999-12-31', { from: oneDay.from }],
  ])('asks for no day outside of the calendar, where most are of %s', async (edge, range) => {
    const many = ofOneName(250, (index) => ({
      ...{ certified_on: index % 9 === 0 ? DAY : edge, organization_id: 1 + (index % 5) },
    }));
    const partner = host(many);
    expect(await prove(partner, range)).toMatchObject({ count: 250, proof: 'split' });
    const days = partner.queries.flatMap(({ filter }) => [filter?.start_date, filter?.end_date]);
    expect(days.filter((day) => day && !/^(?!0000)\d{4}-/.test(day))).toEqual([]);
  });

  it('does not call a day complete if an organization was not seen, and reads the rest', async () => {
    const results = assessment().results.map((part) => ({ ...part, proctor_name: 'Zoe' }));
    const last = { name: 'Zoe', assessment_name: 'Zoology', results };
    const records = ofOneName(250, (index) => ({
      ...{ ...byOrganization(index), ...(index % 5 === 2 && last) },
    }));
    const { proof, assessments } = await prove(host(records));
    expect(proof).toBeUndefined();
    expect(assessments).toHaveLength(250);
  });

  const inOctober = (index: number) => ({
    certified_on: `2026-10-${String(1 + (index % 30)).padStart(2, '0')}`,
  });

  it.each<[string, Records, UserNameOrder]>([
    ['if one name fills a page', ofOneName(300, inOctober), 'name'],
    ['even if the host does not sort by name', people(180, inNovember), 'ignored'],
  ])('splits a range by its days %s', async (_, records, order) => {
    const read = await prove(host(records, order), {});
    expect(read).toMatchObject({ proof: 'split', count: records.length });
    expect(read.requests).toBeLessThan(12);
  });

  it('steps back, and does not begin again, when many rows are removed at once', async () => {
    const records = people(400);
    const kept = records.filter((_, index) => index % 20 !== 0);
    const partner = host((request) => (request < 3 ? records : kept));
    const { proof, assessments } = await prove(partner);
    expect(proof).toBe('key-seam');
    expect(assessments.map(({ id }) => id)).toEqual(
      expect.arrayContaining(kept.map(({ assessment: { id } }) => id)),
    );
    const offsets = partner.queries.map(({ offset = 0 }) => offset);
    expect(offsets.filter((offset) => offset === 0)).toHaveLength(1);
    expect(offsets.some((offset, index) => offset < (offsets[index - 1] ?? 0))).toBe(true);
  });

  it('ends unproven when each seam is lost, with the records that it saw', async () => {
    const partner = host((request) =>
      people(1000, (index) => ({ id: request * 1000 + index + 1 })),
    );
    const { proof, assessments } = await prove(partner);
    expect(proof).toBeUndefined();
    expect(assessments.length).toBeGreaterThan(100);
    expect(partner.queries.length).toBeLessThan(30);
  });

  it('does not take a renamed record for an anchor', async () => {
    const records = people(300);
    const renamed = records.map(({ assessment: one }) => ({
      assessment: { ...one, name: `Z${one.name}` },
    }));
    const partner = host((request) => (request < 2 ? records : renamed));
    expect(await prove(partner)).toMatchObject({ proof: 'key-seam', count: 300 });
    expect(partner.queries.filter(({ offset }) => offset === 0)).toHaveLength(2);
  });

  it('proves days with an id that is there twice, counts both rows, and follows no page by it', async () => {
    const records = people(150).toSorted((a, b) =>
      a.assessment.name < b.assessment.name ? -1 : 1,
    );
    const twice = records.map(({ assessment: one }, n) => ({
      assessment: n === 99 ? { ...one, id: records[98]?.assessment.id ?? 0 } : one,
    }));
    const partner = host(() => twice);
    expect(await prove(partner)).toMatchObject({ proof: 'key-seam', count: 150 });
    expect(partner.queries.map(({ offset }) => offset)).toEqual([0, 95]);
  });

  it('has the versions of a record that was edited between two pages', async () => {
    const records = people(150).toSorted((a, b) =>
      a.assessment.name < b.assessment.name ? -1 : 1,
    );
    const edited = records.map(({ assessment: one }) => ({ assessment: { ...one, email: 'b' } }));
    const read = await prove(host((request) => (request < 2 ? records : edited)));
    expect(read).toMatchObject({ proof: 'key-seam', count: 150 });
    expect(read.others?.map(({ id }) => id)).toEqual(
      [97, 98, 99].map((n) => records[n]?.assessment.id),
    );
  });

  it.each([
    ['mended', 1, 0, 'key-seam'],
    ['spoiled', 2, 1, undefined],
  ])('counts a record as it was last read: %s meanwhile', async (_, spoiledIn, spoiled, proof) => {
    const records = people(150).toSorted((a, b) =>
      a.assessment.name.toLowerCase() < b.assessment.name.toLowerCase() ? -1 : 1,
    );
    const newcomer = ofOneName(1, () => ({ ...{ id: 999, name: 'Aa Aa' } }));
    // The record is on the first page and, in the overlap, on the second.
    const partner = host((request) => [
      ...(request === 1 ? [] : newcomer),
      ...records.map((record, index) => ({
        ...{ ...record, malformed: index === 98 && request === spoiledIn },
      })),
    ]);
    const read = await prove(partner);
    expect(partner.queries).toHaveLength(2);
    expect([read.quarantined.length, read.assessments.length]).toEqual([spoiled, 150 - spoiled]);
    expect([read.proof, read.isRead]).toEqual([proof, true]);
  });

  it('sends no more requests after its deadline', async () => {
    const partner = host(failing('out-of-time', 4));
    const { proof, isCutOff, assessments } = await prove(partner);
    expect([proof, isCutOff]).toEqual([undefined, true]);
    expect(assessments.length).toBeGreaterThan(280);
    expect(partner.queries).toHaveLength(4);
  });

  it('reaches the end of an unprovable range, with any number of requests at a time', async () => {
    const range = { to: Temporal.PlainDate.from(DAY) };
    const tied = (index: number) => (index % 5 < 2 ? sameName : {});
    const records = people(500, (index) => ({ ...tied(index), ...inNovember(index) }));
    const alone = host(records);
    const whole = await prove(alone, range);
    expect(whole).toMatchObject({ isCutOff: false, count: 500 });
    expect(whole.proof).toBeUndefined();
    const all = alone.queries.length;
    for (let requests = 1; requests <= all; requests++) {
      let isAnswered = true;
      const partner = host((request) => {
        expect(isAnswered, 'the last request was answered').toBe(true);
        isAnswered = request % (requests + 1) > 0;
        if (!isAnswered) throw new PartnerError('pace-spent', 'list');
        return records;
      });
      let read = await prove(partner, range);
      while (read.isCutOff) {
        expect(read.bookmark, `${requests} of ${all} requests`).toBeDefined();
        expect(partner.queries.length).toBeLessThan(4 * all);
        isAnswered = true;
        read = await prove(partner, range, read.bookmark);
      }
      expect(read.count).toBe(500);
    }
  });

  it('throws a failure of the partner', async () => {
    const partner = host(failing('unavailable', 2));
    await expect(prove(partner)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
