import { describe, expect, it } from 'vitest';
import { type SeamRules, seamRules } from '../../../../lambda/partner/proven/reading.ts';
import type { HostOrder } from '../../../scaffold/listing.ts';
import { POOLS, readOnce } from './simulation.ts';

/** Shows the need for each part of the rule of acceptance: without it, records are lost. */
async function lostWith(
  broken: Partial<SeamRules>,
  hostOrder: HostOrder = 'last-name',
  nameless = 0,
): Promise<number> {
  const rules = { ...seamRules, ...broken };
  let lost = 0;
  for (let seed = 1; seed <= 15; seed++) {
    const size = { records: 1000, perDay: 17, pool: POOLS.small, hostOrder, nameless };
    // Bursts are needed, since the slack absorbs single removals.
    const outcome = await readOnce({ ...size, churn: 0.5, burst: 30 }, seed, rules);
    if (outcome.accepted) lost += outcome.lost;
  }
  return lost;
}

describe('a proven read, broken on purpose', () => {
  it.each(['last-name', 'ignored'] as const)(
    'loses nothing while it is whole, at a host with order %s',
    async (hostOrder) => {
      expect(await lostWith({}, hostOrder)).toBe(0);
    },
  );

  it('loses nothing at a host that hides the names of some records', async () => {
    expect(await lostWith({}, 'last-name', 0.2)).toBe(0);
  });

  it('loses records if nameless ones are taken for people of one name', async () => {
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

  it('loses records if any record seen before is an anchor', async () => {
    const broken: Partial<SeamRules> = {
      anchorsOf: (rows) => rows.filter((row) => row !== undefined),
      nextOffset: (offset, rows) => offset + rows.length - 2,
    };
    expect(await lostWith(broken)).toBeGreaterThan(0);
  });

  it('loses records if only equal records are taken for tied', async () => {
    expect(await lostWith({ tieMarks: ({ id }) => [String(id)] })).toBeGreaterThan(0);
  });

  it('loses records if it believes a host that does not sort by name', async () => {
    expect(await lostWith({ looksSorted: () => true }, 'ignored')).toBeGreaterThan(0);
  });

  it('loses records if it believes an order without evidence', async () => {
    const untied = { first_name: false, last_name: false };
    const broken: Partial<SeamRules> = {
      tieMarks: (assessment, key, ties) => seamRules.tieMarks(assessment, key, ties && untied),
    };
    expect(await lostWith(broken)).toBeGreaterThan(0);
  });
});
