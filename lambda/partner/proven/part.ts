import type { SeamKey } from '../../detection/names-tied.ts';
import { type ChainEnd, type ChainStart, readChain, resumed } from './chain.ts';
import type { Part, Reading } from './reading.ts';
import { splitByDays, splitByFlag, splitByOrganizations } from './split.ts';

/** By what a part was proven. */
export type Means =
  | { readonly kind: 'single-page' | 'split' }
  | { readonly kind: 'key-seam'; readonly key: SeamKey };

export interface PartRead {
  /** Undefined: unproven, there may be records that were not seen. */
  readonly means: Means | undefined;
  /** Of the well-formed records that were seen, at the least those of this part. */
  readonly ids: ReadonlySet<number>;
}

/**
 * Reads a part by name. Where names may be tied over a whole page: by halves of its days, and a
 * single day by the other keys, then by filters.
 */
export async function readPart(
  reading: Reading,
  part: Part,
  start?: ChainStart,
): Promise<PartRead> {
  const byName = await readChain(reading, part, 'user_name', start);
  if (byName.end !== 'tied') return partRead(byName, 'user_name');

  const halves = splitByDays(part, reading.days);
  if (halves) {
    return allOf(halves, byName.ids, (half) =>
      readPart(reading, half, resumed(byName, reading.idsWithin(half.range))),
    );
  }
  for (const key of ['product_name', 'proctor_name'] as const) {
    const byKey = await readChain(reading, part, key);
    if (byKey.end !== 'tied') return partRead(byKey, key);
  }
  const flags = splitByFlag(part);
  if (flags) return allOf(flags, new Set(), (flag) => readPart(reading, flag));
  return readOrganizations(reading, part);
}

function partRead({ end, pages, ids }: ChainEnd, key: SeamKey): PartRead {
  if (end !== 'complete') return { means: undefined, ids };
  return { means: pages === 1 ? { kind: 'single-page' } : { kind: 'key-seam', key }, ids };
}

/** Goes on after a part that stayed unproven: what is seen of the others is news as well. */
async function allOf(
  parts: readonly Part[],
  before: ReadonlySet<number>,
  read: (part: Part) => Promise<PartRead>,
): Promise<PartRead> {
  let ids = before;
  let proven = true;
  for (const part of parts) {
    const { means, ids: more } = await read(part);
    proven &&= means !== undefined;
    ids = new Set([...ids, ...more]);
  }
  return { means: proven ? { kind: 'split' } : undefined, ids };
}

/**
 * The organizations in scope cannot be asked for (partner-api.md, 1), and those that were seen need
 * not be all. So the host's count of the whole, before and after, must be the number of records
 * that were seen in the parts.
 */
async function readOrganizations(reading: Reading, part: Part): Promise<PartRead> {
  const parts = splitByOrganizations(part, reading.organizationIds);
  if (parts === undefined) return { means: undefined, ids: new Set() };
  const before = await reading.count(part);
  const read = await allOf(parts, new Set(), (one) => readPart(reading, one));
  const after = await reading.count(part);
  const allSeen = before === read.ids.size && after === read.ids.size;
  return allSeen ? read : { ...read, means: undefined };
}
