import { describe, expect, it } from 'vitest';
import { type SeamRules, seamRules } from '../../../../lambda/partner/proven/reading.ts';
import type { HostOrder } from '../../../scaffold/listing.ts';
import { POOLS, readOnce } from './simulation.ts';

/** What the rule of acceptance is for: each part of it, taken out, loses records. */
async function lostWith(
  broken: Partial<SeamRules>,
  hostOrder: HostOrder = 'last-name',
  nameless = 0,
): Promise<number> {
  const rules = { ...seamRules, ...broken };
  let lost = 0;
  for (let seed = 1; seed <= 15; seed++) {
    const size = { records: 1000, perDay: 17, pool: POOLS.small, hostOrder, nameless };
    // Bursts, because single removals are absorbed by the slack.
    const outcome = await readOnce({ ...size, churn: 0.5, burst: 30 }, seed, rules);
    if (outcome.accepted) lost += outcome.lost;
  }
  return lost;
}

describe('a proven read, broken on purpose', () => {
  it.each(['last-name', 'ignored'] as const)(
    'loses nothing as long as it is whole, of a host with order %s',
    async (hostOrder) => {
      expect(await lostWith({}, hostOrder)).toBe(0);
    },
  );

  it('loses nothing of a host that keeps the names of some records to itself', async () => {
    expect(await lostWith({}, 'last-name', 0.2)).toBe(0);
  });

  it('loses records if those without names are taken for people of one name', async () => {
    const broken: Partial<SeamRules> = {
      tieMarks: ({ name, first_name, last_name, ...rest }, ...more) =>
        seamRules.tieMarks(
          {
            ...rest,
            name: name ?? '',
            first_name: first_name ?? '',
            last_name: last_name ?? '',
          },
          ...more,
        ),
    };
    expect(await lostWith(broken, 'last-name', 0.2)).toBeGreaterThan(0);
  });

  it('loses records if any page is accepted', async () => {
    expect(await lostWith({ holdsAnchor: () => true })).toBeGreaterThan(0);
  });

  it('loses records if any record that was seen before is an anchor', async () => {
    const broken: Partial<SeamRules> = {
      anchorsOf: (rows) => rows.filter((row) => row !== undefined),
      nextOffset: (offset, rows) => offset + rows.length - 2,
    };
    expect(await lostWith(broken)).toBeGreaterThan(0);
  });

  it('loses records if only equal records are taken for tied', async () => {
    expect(await lostWith({ tieMarks: ({ id }) => [String(id)] })).toBeGreaterThan(0);
  });

  it('loses records if a host that does not sort by name is believed to', async () => {
    expect(await lostWith({ looksSorted: () => true }, 'ignored')).toBeGreaterThan(0);
  });

  it('loses records if an order is believed before there is evidence', async () => {
    const untied = { first_name: false, last_name: false };
    const broken: Partial<SeamRules> = {
      tieMarks: (assessment, key, ties) => seamRules.tieMarks(assessment, key, ties && untied),
    };
    expect(await lostWith(broken)).toBeGreaterThan(0);
  });
});
