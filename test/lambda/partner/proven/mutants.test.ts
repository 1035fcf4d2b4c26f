import { describe, expect, it } from 'vitest';
import { type SeamRules, seamRules } from '../../../../lambda/partner/proven/reading.ts';
import type { HostOrder } from '../../../scaffold/listing.ts';
import { POOLS, readOnce } from './simulation.ts';

/** Whether records are lost without a part of the rule of acceptance. */
async function isLossy(broken: Partial<SeamRules>, hostOrder: HostOrder, nameless: number) {
  const rules = { ...seamRules, ...broken };
  const size = { records: 1000, perDay: 17, pool: POOLS.small, hostOrder, nameless };
  for (let seed = 1; seed <= 15; seed++) {
    // Bursts are needed, since the slack absorbs single removals.
    const { accepted, lost } = await readOnce({ ...size, churn: 0.5, burst: 30 }, seed, rules);
    if (accepted && lost > 0) return true;
  }
  return false;
}

const named: SeamRules['tieMarks'] = ({ name, first_name, last_name, ...rest }, ...more) => {
  const names = { name: name ?? '', first_name: first_name ?? '', last_name: last_name ?? '' };
  return seamRules.tieMarks({ ...rest, ...names }, ...more);
};
const untied = { first_name: false, last_name: false };
const anySeen: Partial<SeamRules> = {
  anchorsOf: (rows) => rows.filter((row) => row !== undefined),
  nextOffset: (offset, rows) => offset + rows.length - 2,
};
const withoutEvidence: Partial<SeamRules> = {
  tieMarks: (assessment, key, ties) => seamRules.tieMarks(assessment, key, ties && untied),
};

describe('a proven read, broken on purpose', () => {
  it.each<[HostOrder, number]>([
    ['last-name', 0],
    ['ignored', 0],
    // The host hides the names of some records.
    ['last-name', 0.2],
  ])('loses nothing while it is whole, at a host with order %s', async (hostOrder, nameless) => {
    expect(await isLossy({}, hostOrder, nameless)).toBe(false);
  });

  it.each<[string, Partial<SeamRules>, HostOrder, number]>([
    ['nameless ones are taken for people of one name', { tieMarks: named }, 'last-name', 0.2],
    ['any page is accepted', { holdsAnchor: () => true }, 'last-name', 0],
    ['any record seen before is an anchor', anySeen, 'last-name', 0],
    ['only equal records are tied', { tieMarks: ({ id }) => [String(id)] }, 'last-name', 0],
    ['a host that does not sort is believed', { looksSorted: () => true }, 'ignored', 0],
    ['an order is believed without evidence', withoutEvidence, 'last-name', 0],
  ])('loses records if %s', async (_, broken, hostOrder, nameless) => {
    expect(await isLossy(broken, hostOrder, nameless)).toBe(true);
  });
});
