import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import {
  type ListQuery,
  type PartnerClient,
  PartnerError,
} from '../../../../lambda/partner/index.ts';
import { proveRange } from '../../../../lambda/partner/proven/proven-read.ts';
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

const sameName = { name: 'Ada Twin', first_name: 'Ada', last_name: 'Twin' };

function proctoredBy(index: number): Partial<DocumentedRecord> {
  const [part] = assessment().results;
  if (part === undefined) return {};
  return { results: [{ ...part, proctor_id: index, proctor_name: `Proctor ${index}` }] };
}

describe('proveRange', () => {
  it('reads up to 99 records in one request, by name, and proves them by the single page', async () => {
    const partner = host(people(99));
    const read = await proveRange(partner, oneDay, deadline);
    expect(partner.queries).toEqual([
      {
        ...{ sort: 'user_name', order: 'ASC', page: 100, offset: 0 },
        filter: { start_date: DAY, end_date: DAY },
      },
    ]);
    expect(read.assessments).toHaveLength(99);
    expect(read).toMatchObject({ proof: 'single-page', count: 99, requests: 1 });
  });

  it('proves an empty range', async () => {
    const read = await proveRange(host([]), {}, deadline);
    expect(read).toMatchObject({ assessments: [], proof: 'single-page', count: 0 });
  });

  it('does not take a full page for the last one, even if it reaches the count', async () => {
    const read = await proveRange(host(people(100)), oneDay, deadline);
    expect(read).toMatchObject({ proof: 'key-seam', count: 100, requests: 2 });
  });

  it('reads 250 records of one day in three requests', async () => {
    const read = await proveRange(host(people(250)), oneDay, deadline);
    expect(read).toMatchObject({ proof: 'key-seam', count: 250, requests: 3 });
  });

  it('reads on if the count has grown meanwhile', async () => {
    let records = people(150);
    const partner = host(
      () => records,
      (request) => {
        if (request === 2) records = people(260);
      },
    );
    const { proof, assessments } = await proveRange(partner, oneDay, deadline);
    expect(proof).toBe('key-seam');
    const returned = new Set(assessments.map(({ id }) => id));
    expect(people(150).every(({ assessment }) => returned.has(assessment.id))).toBe(true);
  });

  it('steps back, and does not begin again, when many rows are removed at once', async () => {
    let records = people(400);
    const partner = host(
      () => records,
      (request) => {
        if (request === 3) records = records.filter((_, index) => index % 20 !== 0);
      },
    );
    const { proof, assessments } = await proveRange(partner, oneDay, deadline);
    expect(proof).toBe('key-seam');
    const returned = new Set(assessments.map(({ id }) => id));
    expect(records.every(({ assessment }) => returned.has(assessment.id))).toBe(true);
    const offsets = partner.queries.map(({ offset }) => offset ?? 0);
    expect(offsets.filter((offset) => offset === 0)).toHaveLength(1);
    expect(offsets.some((offset, index) => offset < (offsets[index - 1] ?? 0))).toBe(true);
  });

  it('ends unproven when each seam is lost, with the records that it saw', async () => {
    let request = 0;
    const partner = host(
      () => people(1000, (index) => ({ id: request * 1000 + index + 1 })),
      () => {
        request += 1;
      },
    );
    const { proof, assessments } = await proveRange(partner, oneDay, deadline);
    expect(proof).toBeUndefined();
    expect(assessments.length).toBeGreaterThan(100);
    expect(partner.queries.length).toBeLessThan(30);
  });

  it('reads to the end of a day whose block of ties fills a page, and does not call it proven', async () => {
    const tied = { name: 'Ada Garcia', first_name: 'Ada', last_name: 'Garcia' };
    const partner = host(
      people(1_000, (index) => (index < 110 ? tied : {})),
      undefined,
      'last-name',
    );
    const { proof, assessments } = await proveRange(partner, oneDay, deadline);
    expect(proof).toBeUndefined();
    // The host decides which of the tied records a page shows. All others are seen.
    const others = assessments.filter(({ last_name }) => last_name !== 'Garcia');
    expect(others).toHaveLength(890);
    expect(assessments.length).toBeGreaterThan(980);
  });

  it('resumes such a day where its time ended', async () => {
    const tied = { name: 'Ada Garcia', first_name: 'Ada', last_name: 'Garcia' };
    let isInTime = false;
    const partner = host(
      people(1_000, (index) => (index < 110 ? tied : {})),
      (request) => {
        if (request > 12 && !isInTime) throw new PartnerError('out-of-time', 'list');
      },
      'last-name',
    );
    const first = await proveRange(partner, oneDay, deadline);
    expect(first).toMatchObject({ isCutOff: true, bookmark: { isSweep: true } });
    expect(first.proof).toBeUndefined();
    isInTime = true;
    const rest = await proveRange(partner, oneDay, deadline, first.bookmark);
    expect(rest.proof).toBeUndefined();
    const seen = new Set([...first.assessments, ...rest.assessments].map(({ id }) => id));
    expect(seen.size).toBeGreaterThan(980);
  });

  it('does not take a renamed record for an anchor', async () => {
    let records = people(300);
    const partner = host(
      () => records,
      (request) => {
        if (request !== 2) return;
        records = records.map(({ assessment }) => ({
          assessment: { ...assessment, name: `Z${assessment.name}` },
        }));
      },
    );
    const read = await proveRange(partner, oneDay, deadline);
    expect(read).toMatchObject({ proof: 'key-seam', count: 300 });
    expect(
      partner.queries.map(({ offset }) => offset).filter((offset) => offset === 0),
    ).toHaveLength(2);
  });

  it('reads a day by product if one name fills a page', async () => {
    const records = people(250, (index) => ({
      ...sameName,
      assessment_name: `Product ${index % 10}`,
    }));
    const partner = host(records);
    const read = await proveRange(partner, oneDay, deadline);
    expect(read).toMatchObject({ proof: 'key-seam', count: 250 });
    expect(partner.queries.at(-1)).toMatchObject({ sort: 'product_name' });
  });

  it('reads a day by proctor if one name and one product fill a page', async () => {
    const records = people(250, (index) => ({ ...sameName, ...proctoredBy(index % 10) }));
    const partner = host(records);
    const read = await proveRange(partner, oneDay, deadline);
    expect(read).toMatchObject({ proof: 'key-seam', count: 250 });
    expect(partner.queries.at(-1)).toMatchObject({ sort: 'proctor_name' });
  });

  it('splits a day by filters if no key works', async () => {
    const records = people(250, () => sameName).map((record, index) => ({
      ...{ ...record, legacy: index % 2 === 0, archived: index % 5 < 2 },
    }));
    const read = await proveRange(host(records), oneDay, deadline);
    expect(read).toMatchObject({ proof: 'split', count: 250 });
  });

  it('splits a day by organization, and compares the parts with the count of the whole', async () => {
    const records = people(250, (index) => ({ ...sameName, organization_id: 1 + (index % 5) }));
    const read = await proveRange(host(records), oneDay, deadline);
    expect(read).toMatchObject({ proof: 'split', count: 250 });
  });

  it('does not call a day complete if an organization was not seen', async () => {
    const records = people(250, (index) => ({ ...sameName, organization_id: 1 + (index % 5) }));
    const partner = host(records);
    const deaf: Pick<PartnerClient, 'list'> = {
      async list(query = {}) {
        const page = await partner.list(query);
        const { organization_ids: ids = [] } = query.filter ?? {};
        // The filter is about the educator's organizations, the field about the assessment's.
        return ids.includes(3)
          ? { ...page, assessments: [], rows: 0, meta: { ...page.meta, count: 0 } }
          : page;
      },
    };
    const { proof, assessments } = await proveRange(deaf, oneDay, deadline);
    expect(proof).toBeUndefined();
    expect(assessments.length).toBeGreaterThan(100);
  });

  it('is unproven if nothing works, with the records that it saw', async () => {
    const { proof, assessments } = await proveRange(
      host(people(250, () => sameName)),
      oneDay,
      deadline,
    );
    expect(proof).toBeUndefined();
    expect(assessments.length).toBeGreaterThanOrEqual(100);
  });

  it('splits a range by its days if one name fills a page', async () => {
    const first = Temporal.PlainDate.from('2026-10-01');
    const records = people(300, (index) => ({
      ...{ ...sameName, certified_on: first.add({ days: index % 30 }).toString() },
    }));
    const read = await proveRange(host(records), { from: first }, deadline);
    expect(read).toMatchObject({ proof: 'split', count: 300 });
    expect(read.requests).toBeLessThan(12);
  });

  it('proves days of a page each even if the host does not sort by name', async () => {
    const records = people(180, (index) => ({ certified_on: `2026-11-0${1 + (index % 3)}` }));
    const partner = host(records, undefined, 'ignored');
    const read = await proveRange(partner, {}, deadline);
    expect(read).toMatchObject({ proof: 'split', count: 180 });
  });

  it('proves nothing with a quarantined record, which may be of any day', async () => {
    const records = people(250).map((record, index) => ({ ...record, malformed: index === 99 }));
    const read = await proveRange(host(records), oneDay, deadline);
    expect(read.proof).toBeUndefined();
    expect(read.assessments).toHaveLength(249);
    expect(read.quarantined).toMatchObject([{ id: 100 }]);
  });

  it.each([
    { when: 'mended', malformedIn: 1, quarantined: 0, proven: true },
    { when: 'spoiled', malformedIn: 2, quarantined: 1, proven: false },
  ])('counts a record as it was last read: $when meanwhile', async (expected) => {
    const records = people(150).toSorted((a, b) =>
      a.assessment.name.toLowerCase() < b.assessment.name.toLowerCase() ? -1 : 1,
    );
    let request = 0;
    // The record is on the first page and, in the overlap, on the second.
    const partner = host(
      () =>
        records.map((record, index) => ({
          ...{ ...record, malformed: index === 98 && request === expected.malformedIn },
        })),
      (number) => {
        request = number;
      },
    );
    const { assessments, quarantined, proof } = await proveRange(partner, oneDay, deadline);
    expect(partner.queries).toHaveLength(2);
    expect(quarantined).toHaveLength(expected.quarantined);
    expect(assessments).toHaveLength(150 - expected.quarantined);
    expect(proof !== undefined).toBe(expected.proven);
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
    const { proof, isCutOff } = await proveRange(client, oneDay, deadline);
    expect(proof).toBeUndefined();
    expect(isCutOff).toBe(true);
    expect(deadlines).toEqual([deadline, deadline, deadline, deadline]);
  });

  it('ends unproven when a request runs into the deadline', async () => {
    const partner = host(people(500), (request) => {
      if (request === 2) throw new PartnerError('out-of-time', 'list');
    });
    const read = await proveRange(partner, oneDay, deadline);
    expect(read.proof).toBeUndefined();
    expect(read.assessments).toHaveLength(100);
  });

  it('reaches the end of an unprovable range, with any number of requests at a time', async () => {
    const range = { to: Temporal.PlainDate.from(DAY) };
    const records = people(500, (index) => ({
      ...(index % 5 < 2 && sameName),
      certified_on: `2026-11-0${1 + (index % 5)}`,
    }));
    const alone = host(records);
    const whole = await proveRange(alone, range, deadline);
    expect(whole).toMatchObject({ isCutOff: false, count: 500 });
    expect(whole.proof).toBeUndefined();
    const all = alone.queries.length;
    for (let requests = 1; requests <= all; requests++) {
      const partner = host(records, (request) => {
        if (request % (requests + 1) === 0) throw new PartnerError('pace-spent', 'list');
      });
      let read = await proveRange(partner, range, deadline);
      while (read.isCutOff) {
        expect(read.bookmark, `${requests} of ${all} requests`).toBeDefined();
        expect(partner.queries.length).toBeLessThan(4 * all);
        read = await proveRange(partner, range, deadline, read.bookmark);
      }
      expect(read.count).toBe(500);
    }
  });

  it('throws a failure of the partner', async () => {
    const partner = host(people(500), (request) => {
      if (request === 2) throw new PartnerError('unavailable', 'list');
    });
    await expect(proveRange(partner, oneDay, deadline)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
