import { describe, expect, it } from 'vitest';
import { tieMarks } from '../../../../lambda/decisions/names-tied.ts';
import type { UserNameOrder } from '../../../../local/partner-sandbox/list.ts';
import { breakParts, type Mutant } from '../../../simulation/mutants.ts';
import { POOLS, readOnce } from './simulation.ts';

/** Records lost by proven reads of up to 15 worlds: the first loss ends it. */
async function lost(hostOrder: UserNameOrder, nameless: number): Promise<number> {
  for (let seed = 1; seed <= 15; seed++) {
    const size = { records: 1000, perDay: 17, pool: POOLS.small, hostOrder, nameless };
    // Bursts are needed, since the slack absorbs single removals.
    const read = await readOnce({ ...size, churn: 0.5, burst: 30 }, seed);
    if (read.accepted && read.lost > 0) return read.lost;
  }
  return 0;
}

const untied = { first_name: false, last_name: false };

/** Each part of the rule of acceptance, broken; simulation.test.ts has the reads of the whole rule. */
const mutants: Record<
  string,
  { functions: Mutant['functions']; order?: UserNameOrder; nameless?: number }
> = {
  'any page is accepted': { functions: { seam: { holdsAnchor: () => true } } },
  'any record seen before is an anchor': {
    functions: {
      seam: {
        anchorsOf: (rows) => rows.filter((row) => row !== undefined),
        nextOffset: (offset, rows) => offset + rows.length - 2,
      },
    },
  },
  'only equal records are tied': {
    functions: { 'names-tied': { tieMarks: ({ id }) => [String(id)] } },
  },
  'a host that does not sort by name is believed': {
    functions: { 'names-tied': { looksSorted: () => true } },
    order: 'ignored',
  },
  'an order without evidence is believed': {
    functions: {
      'names-tied': { tieMarks: (one, key, ties) => tieMarks(one, key, ties && untied) },
    },
  },
  'nameless records are people of one name': {
    functions: {
      'names-tied': {
        tieMarks: ({ name, first_name, last_name, ...rest }, ...more) =>
          tieMarks(
            { ...rest, name: name ?? '', first_name: first_name ?? '', last_name: last_name ?? '' },
            ...more,
          ),
      },
    },
    nameless: 0.2,
  },
};

describe('a proven read loses records if', () => {
  it.each(Object.entries(mutants))(
    '%s',
    async (_, { functions, order = 'last_name', nameless = 0 }) => {
      const broken = breakParts(functions === undefined ? {} : { functions });
      expect(await broken.during(() => lost(order, nameless))).toBeGreaterThan(0);
    },
  );
});
