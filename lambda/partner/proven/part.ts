import type { SeamKey } from '../../detection/names-tied.ts';
import { type ChainEnd, type ChainStart, readChain, resumed } from './chain.ts';
import type { Part, Reading } from './reading.ts';
import { isDay, isFiltered, splitByDays, splitByFlag, splitByOrganizations } from './split.ts';
import { sweep } from './sweep.ts';

/**
 * Measured with the advance below: each part more ends with a page that is half empty. Two that are
 * stuck at the same block again are halved again.
 */
const DAY_PARTS = 2;

/** Rows; less, and the next page will hardly hold the block that this one has cut. Measured: 20 costs more. */
const LEAST_ADVANCE = 40;

/** By what a part was proven. */
export type Means =
  | { readonly kind: 'single-page' | 'split' }
  | { readonly kind: 'key-seam'; readonly key: SeamKey };

export interface PartRead {
  /** Undefined: unproven, there may be records that were not seen. */
  readonly means: Means | undefined;
  /** Of the well-formed records that were seen. */
  readonly ids: ReadonlySet<number>;
  /** What the host counted for the part on the page that was the last of it; undefined without one. */
  readonly count?: number;
  /** Where time ran out; undefined if it did not, or if the part was split. */
  readonly stoppedAt?: Stop;
}

/** Where a read that ran out of time can go on. */
export interface Stop extends ChainStart {
  /** What the host counted for the part, as far as it was seen; else 0. */
  readonly count: number;
  /** The rest can be looked at and not proven. */
  readonly isSweep: boolean;
}

/**
 * Reads a part by name. Where names may be tied over a whole page, it goes on with halves of its
 * days, each by itself; a single day is read by another key, or else split by filters.
 */
export async function readPart(
  reading: Reading,
  part: Part,
  start?: ChainStart,
): Promise<PartRead> {
  const chain = await readChain(reading, part, 'user_name', start, isDay(part) ? 1 : LEAST_ADVANCE);
  const { end, ids } = chain;
  if (end === 'exhausted')
    return { means: undefined, ids, stoppedAt: { ...chain, isSweep: false } };
  if (end === 'complete') return { means: meansOf(chain, 'user_name'), ids, count: chain.count };
  if (end === 'lost' && isDay(part)) return seeRest(reading, part, chain.offset, ids);
  if (end !== 'tied') return { means: undefined, ids };
  const parts = splitByDays(part, reading.days, DAY_PARTS);
  if (parts === undefined) {
    const read = await readDay(reading, part);
    return read.means === undefined ? seeRest(reading, part, chain.offset, read.ids) : read;
  }
  const read = await readAll(parts, (some) =>
    readPart(reading, some, resumed(chain, reading.idsWithin(some.range))),
  );
  if (read.means !== undefined || !reading.isSpent) return read;
  // What so many parts do not prove in one go is looked at as a whole by the next.
  const { offset, count } = chain;
  return { ...read, stoppedAt: { offset, count, anchors: new Map(), isSweep: true } };
}

async function readDay(reading: Reading, part: Part): Promise<PartRead> {
  for (const key of ['product_name', 'proctor_name'] as const) {
    const chain = await readChain(reading, part, key);
    if (chain.end !== 'tied') return { means: meansOf(chain, key), ids: chain.ids };
  }
  const flags = splitByFlag(part);
  return flags
    ? readAll(flags, (flag) => readPart(reading, flag))
    : readOrganizations(reading, part);
}

/** Of a day that nothing proves: news all the same. Its parts by filter are left to it as a whole. */
export async function seeRest(
  reading: Reading,
  part: Part,
  from: number,
  ids: ReadonlySet<number> = new Set(),
): Promise<PartRead> {
  if (isFiltered(part)) return { means: undefined, ids };
  const { end, offset, count, ids: more } = await sweep(reading, part, from);
  return {
    means: undefined,
    ids: new Set([...ids, ...more]),
    ...(end === 'exhausted'
      ? { stoppedAt: { offset, count, anchors: new Map(), isSweep: true } }
      : { count }),
  };
}

function meansOf({ end, pages }: ChainEnd, key: SeamKey): Means | undefined {
  if (end !== 'complete') return undefined;
  return pages === 1 ? { kind: 'single-page' } : { kind: 'key-seam', key };
}

/** Goes on after a part that stayed unproven: what is seen of the others is news as well. */
async function readAll(
  parts: readonly Part[],
  read: (part: Part) => Promise<PartRead>,
): Promise<PartRead> {
  const ids = new Set<number>();
  let proven = true;
  for (const part of parts) {
    const { means, ids: more } = await read(part);
    proven &&= means !== undefined;
    for (const id of more) ids.add(id);
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
  const read = await readAll(parts, (one) => readPart(reading, one));
  const after = await reading.count(part);
  const allSeen = before === read.ids.size && after === read.ids.size;
  return allSeen ? read : { ...read, means: undefined };
}
