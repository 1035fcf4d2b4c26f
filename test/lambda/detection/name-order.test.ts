import { describe, expect, it } from 'vitest';
import { looksSorted, NameOrderEvidence } from '../../../lambda/detection/names-tied.ts';
import type { DocumentedRecord } from '../../../local/documented-record.ts';
import { assessment } from '../../support/assessments.ts';
import { NamePool } from '../partner/proven/name-pool.ts';
import { Random } from '../partner/proven/random.ts';

const random = new Random(11);
const pool = new NamePool(random, { firsts: 30, lasts: 40, skew: 0 });

const people = Array.from({ length: 400 }, (_, index) => {
  const { first, last } = pool.person(random);
  const names = { name: `${first} ${last}`, first_name: first, last_name: last };
  return assessment({ id: index + 1, ...names });
});

function pagesBy(keyOf: (record: DocumentedRecord) => string): DocumentedRecord[][] {
  const keyed = people.map((record) => ({
    record,
    key: keyOf(record).toLowerCase(),
    tie: random.next(),
  }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.tie - b.tie));
  const rows = keyed.map(({ record }) => record);
  return [0, 100, 200, 300].map((offset) => rows.slice(offset, offset + 100));
}

function evidenceOf(pages: readonly (readonly (DocumentedRecord | undefined)[])[]) {
  const evidence = new NameOrderEvidence();
  for (const page of pages) evidence.observe(page);
  return evidence;
}

describe('the evidence of the order by name', () => {
  it('is empty at first: people who share a name may be tied', () => {
    expect(new NameOrderEvidence().ties).toEqual({ first_name: true, last_name: true });
  });

  it('shows that a host that sorts by full name does not tie people with one first name', () => {
    expect(evidenceOf(pagesBy(({ name }) => name)).ties.first_name).toBe(false);
  });

  it.each([
    [39, true],
    [40, false],
  ])('of %i distinct pairs leaves people with one first name tied: %s', (many, tied) => {
    const row = (index: number) =>
      assessment({ last_name: `Quill${String(index).padStart(2, '0')}` });
    const pairs = Array.from({ length: many }, (_, index) => [row(index), row(index + 1)]);
    expect(evidenceOf(pairs).ties.first_name).toBe(tied);
  });

  it('shows that a host that sorts by last, then first name does not tie people with one last name', () => {
    const pages = pagesBy(({ first_name, last_name }) => `${last_name}\t${first_name}`);
    expect(evidenceOf(pages).ties.last_name).toBe(false);
  });

  it('leaves people tied who share the one name that the host compares', () => {
    expect(evidenceOf(pagesBy(({ last_name }) => last_name)).ties.last_name).toBe(true);
    expect(evidenceOf(pagesBy(({ first_name }) => first_name)).ties.first_name).toBe(true);
  });

  it('does not count the same pair of names twice', () => {
    const [page = []] = pagesBy(({ name }) => name);
    const few = page.slice(0, 20);
    expect(evidenceOf(Array.from({ length: 50 }, () => few)).ties.first_name).toBe(true);
  });

  it('does not treat rows on both sides of an unreadable row as neighbours', () => {
    const apart = pagesBy(({ name }) => name).map((page) =>
      page.flatMap((row) => [row, undefined]),
    );
    expect(evidenceOf(apart).ties).toEqual({ first_name: true, last_name: true });
  });

  it.each([null, undefined])('does not treat two people whose name is %s as namesakes', (none) => {
    for (const name of ['first_name', 'last_name'] as const) {
      const nameless = pagesBy((row) => row.name).map((page) =>
        page.map((row) => ({ ...row, [name]: none })),
      );
      expect(evidenceOf(nameless).ties).toEqual({ first_name: true, last_name: true });
    }
  });

  it('reports a refuted conclusion as mistaken', () => {
    const pages = pagesBy(({ name }) => name);
    const evidence = evidenceOf(pages);
    expect(evidence.mistaken).toBe(false);
    evidence.observe(pages.flat().toReversed());
    expect(evidence.mistaken).toBe(true);
    expect(evidence.ties.first_name).toBe(true);
  });
});

describe('looksSorted', () => {
  it.each([
    ['full', (row: DocumentedRecord) => row.name],
    ['first', (row: DocumentedRecord) => row.first_name],
    ['last', (row: DocumentedRecord) => row.last_name],
  ])('recognizes the order by the %s name', (_, keyOf) => {
    for (const page of pagesBy(keyOf)) expect(looksSorted(page, 'user_name')).toBe(true);
  });

  it('recognizes a list without an order', () => {
    const pages = pagesBy(({ id }) => String((id * 7919) % 1009).padStart(4, '0'));
    for (const page of pages) expect(looksSorted(page, 'user_name')).toBe(false);
  });

  it('ignores rows without a name', () => {
    const [page = []] = pagesBy((row) => row.name);
    const some = page.map((row, index) =>
      index % 3 === 0 ? { ...row, name: null, first_name: null, last_name: null } : row,
    );
    expect(looksSorted(some, 'user_name')).toBe(true);
    const unsorted = some.toSorted((a, b) => ((a.id * 7919) % 1009) - ((b.id * 7919) % 1009));
    expect(looksSorted(unsorted, 'user_name')).toBe(false);
  });

  it('takes a few rows for sorted in any order', () => {
    expect(looksSorted(people.slice(0, 10), 'user_name')).toBe(true);
  });
});
