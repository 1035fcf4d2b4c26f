import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import type { DayRange } from '../../../../lambda/detection/days.ts';
import {
  type ListQuery,
  type PartnerClient,
  PartnerError,
} from '../../../../lambda/partner/index.ts';
import { proveRange } from '../../../../lambda/partner/proven/proven-read.ts';
import type { Bookmark, RangeRead } from '../../../../lambda/ports/partner-reader.ts';
import type { DocumentedRecord } from '../../../../local/documented-record.ts';
import { answer, type HostOrder, type HostRecord } from '../../../scaffold/listing.ts';
import { assessment } from '../../../support/assessments.ts';
import { NamePool } from './name-pool.ts';
import { Random } from './random.ts';

const DAY = '2026-11-20';
const oneDay = { from: Temporal.PlainDate.from(DAY), to: Temporal.PlainDate.from(DAY) };
const deadline = Temporal.Instant.from('2026-11-21T08:01:00Z');

interface Host extends Pick<PartnerClient, 'list'> {
  readonly queries: ListQuery[];
}

/** @param before called before each request, with its number from 1 */
function host(
  records: readonly Partial<HostRecord>[] | (() => readonly Partial<HostRecord>[]),
  before: (request: number) => void = () => {},
  order: HostOrder = 'full-name',
): Host {
  const random = new Random(7);
  const queries: ListQuery[] = [];
  return {
    queries,
    async list(query = {}) {
      queries.push(query);
      before(queries.length);
      const now = typeof records === 'function' ? records() : records;
      const whole = now.map((record) => ({
        ...{ legacy: false, archived: false, assessment: assessment(), ...record },
      }));
      return answer(whole, query, order, () => random.next());
    },
  };
}

/** A host that has other records from a request on. */
function changing(before: Partial<HostRecord>[], at: number, after: Partial<HostRecord>[]): Host {
  const partner: Host = host(() => (partner.queries.length < at ? before : after));
  return partner;
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

const prove = (
  partner: Pick<PartnerClient, 'list'>,
  range: DayRange = oneDay,
  bookmark?: Bookmark,
): Promise<RangeRead> => proveRange(partner, range, deadline, bookmark);

const sameName = { name: 'Ada Twin', first_name: 'Ada', last_name: 'Twin' };
const ofOneName = (many: number, describe: (index: number) => Partial<DocumentedRecord>) =>
  people(many, (index) => ({ ...sameName, ...describe(index) }));

/** A host's day of which 110 people share the name by which it sorts. */
function garcias(before?: (request: number) => void) {
  const tied = { name: 'Ada Garcia', first_name: 'Ada', last_name: 'Garcia' };
  const records = people(1_000, (index) => (index < 110 ? tied : {}));
  return host(records, before, 'last-name');
}
const failing = (code: 'out-of-time' | 'unavailable', at: number) => (request: number) => {
  if (request === at) throw new PartnerError(code, 'list');
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

  it('does not call a day complete if an organization was not seen', async () => {
    const partner = host(ofOneName(250, byOrganization));
    const deaf: Pick<PartnerClient, 'list'> = {
      async list(query = {}) {
        const page = await partner.list(query);
        // The filter is about the educator's organizations, the field about the assessment's.
        if (!query.filter?.organization_ids?.includes(3)) return page;
        return { ...page, assessments: [], rows: 0, meta: { ...page.meta, count: 0 } };
      },
    };
    const { proof, assessments } = await prove(deaf);
    expect(proof).toBeUndefined();
    expect(assessments.length).toBeGreaterThan(100);
  });

  it('splits a range by its days if one name fills a page', async () => {
    const from = Temporal.PlainDate.from('2026-10-01');
    const records = ofOneName(300, (index) => ({
      certified_on: from.add({ days: index % 30 }).toString(),
    }));
    const read = await prove(host(records), { from });
    expect(read).toMatchObject({ proof: 'split', count: 300 });
    expect(read.requests).toBeLessThan(12);
  });

  it('proves days of a page each even if the host does not sort by name', async () => {
    const read = await prove(host(people(180, inNovember), undefined, 'ignored'), {});
    expect(read).toMatchObject({ proof: 'split', count: 180 });
  });

  it('steps back, and does not begin again, when many rows are removed at once', async () => {
    const records = people(400);
    const kept = records.filter((_, index) => index % 20 !== 0);
    const partner = changing(records, 3, kept);
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
    const partner: Host = host(() =>
      people(1000, (index) => ({ id: partner.queries.length * 1000 + index + 1 })),
    );
    const { proof, assessments } = await prove(partner);
    expect(proof).toBeUndefined();
    expect(assessments.length).toBeGreaterThan(100);
    expect(partner.queries.length).toBeLessThan(30);
  });

  it('reads to the end of a day whose block of ties fills a page, and does not call it proven', async () => {
    const { proof, assessments } = await prove(garcias());
    expect(proof).toBeUndefined();
    // The host decides which of the tied records a page shows. All others are seen.
    expect(assessments.filter(({ last_name }) => last_name !== 'Garcia')).toHaveLength(890);
    expect(assessments.length).toBeGreaterThan(980);
  });

  it('resumes such a day where its time ended', async () => {
    const partner = garcias(failing('out-of-time', 13));
    const first = await prove(partner);
    expect(first).toMatchObject({ isCutOff: true, bookmark: { isSweep: true } });
    const rest = await prove(partner, oneDay, first.bookmark);
    expect([first.proof, rest.proof]).toEqual([undefined, undefined]);
    const seen = new Set([...first.assessments, ...rest.assessments].map(({ id }) => id));
    expect(seen.size).toBeGreaterThan(980);
  });

  it('does not take a renamed record for an anchor', async () => {
    const records = people(300);
    const renamed = records.map(({ assessment: one }) => ({
      assessment: { ...one, name: `Z${one.name}` },
    }));
    const partner = changing(records, 2, renamed);
    expect(await prove(partner)).toMatchObject({ proof: 'key-seam', count: 300 });
    expect(partner.queries.filter(({ offset }) => offset === 0)).toHaveLength(2);
  });

  it('proves nothing with a quarantined record, which may be of any day', async () => {
    const records = people(250).map((record, index) => ({ ...record, malformed: index === 99 }));
    const read = await prove(host(records));
    expect(read.proof).toBeUndefined();
    expect(read.assessments).toHaveLength(249);
    expect(read.quarantined).toMatchObject([{ id: 100 }]);
  });

  it.each([
    ['mended', 1, 0, 'key-seam'],
    ['spoiled', 2, 1, undefined],
  ])('counts a record as it was last read: %s meanwhile', async (_, spoiledIn, spoiled, proof) => {
    const records = people(150).toSorted((a, b) =>
      a.assessment.name.toLowerCase() < b.assessment.name.toLowerCase() ? -1 : 1,
    );
    // The record is on the first page and, in the overlap, on the second.
    const partner: Host = host(() =>
      records.map((record, index) => ({
        ...{ ...record, malformed: index === 98 && partner.queries.length === spoiledIn },
      })),
    );
    const read = await prove(partner);
    expect(partner.queries).toHaveLength(2);
    expect(read.quarantined).toHaveLength(spoiled);
    expect(read.assessments).toHaveLength(150 - spoiled);
    expect(read.proof).toBe(proof);
  });

  it('passes its deadline on, and sends no more requests after it', async () => {
    const deadlines: unknown[] = [];
    const partner = host(people(500));
    const client: Pick<PartnerClient, 'list'> = {
      async list(query, options) {
        if (deadlines.push(options?.deadline) > 3) throw new PartnerError('out-of-time', 'list');
        return partner.list(query);
      },
    };
    const { proof, isCutOff, assessments } = await prove(client);
    expect([proof, isCutOff]).toEqual([undefined, true]);
    expect(assessments.length).toBeGreaterThan(280);
    expect(deadlines).toEqual([deadline, deadline, deadline, deadline]);
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
      const partner = host(records, (request) => {
        if (request % (requests + 1) === 0) throw new PartnerError('pace-spent', 'list');
      });
      let read = await prove(partner, range);
      while (read.isCutOff) {
        expect(read.bookmark, `${requests} of ${all} requests`).toBeDefined();
        expect(partner.queries.length).toBeLessThan(4 * all);
        read = await prove(partner, range, read.bookmark);
      }
      expect(read.count).toBe(500);
    }
  });

  it('throws a failure of the partner', async () => {
    const partner = host(people(500), failing('unavailable', 2));
    await expect(prove(partner)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
