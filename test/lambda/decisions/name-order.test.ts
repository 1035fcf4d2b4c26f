import { describe, expect, it } from 'vitest';
import { looksSorted, NameOrderEvidence } from '../../../lambda/decisions/names-tied.ts';
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
  const byName = pagesBy(({ name }) => name);
  const byLastAndFirst = pagesBy(({ first_name, last_name }) => `${last_name}\t${first_name}`);
  const apart = byName.map((page) => page.flatMap((row) => [row, undefined]));
  const [page = []] = byName;
  const samePairs = Array.from({ length: 50 }, () => page.slice(0, 20));
  const nameless = (field: 'first_name' | 'last_name', none: null | undefined) =>
    byName.map((page) => page.map((row) => ({ ...row, [field]: none })));
  const both = { first_name: true, last_name: true };

  it.each([
    ['nothing at first: people who share a name may be tied', [], both],
    ['that full names do not tie by first name', byName, { first_name: false }],
    ['that last, then first names do not tie by last name', byLastAndFirst, { last_name: false }],
    [
      'nothing if only last names are compared',
      pagesBy((row) => row.last_name),
      { last_name: true },
    ],
    ['nothing if only first names are', pagesBy((row) => row.first_name), { first_name: true }],
    ['nothing by the same pair of names twice', samePairs, { first_name: true }],
    ['nothing by rows on both sides of an unreadable row', apart, both],
    ['nothing by people whose first name is null', nameless('first_name', null), both],
    ['nothing by people whose last name is absent', nameless('last_name', undefined), both],
  ])('shows %s', (_, pages, expected) => {
    expect(evidenceOf(pages).ties).toMatchObject(expected);
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

  it('reports a refuted conclusion as mistaken', () => {
    const evidence = evidenceOf(byName);
    expect(evidence.mistaken).toBe(false);
    evidence.observe(byName.flat().toReversed());
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
