import type { Proof } from '../../detection/calendar.ts';
import { MAX_PAGE_SIZE } from '../api.ts';
import { type ChainEnd, type ChainStart, readChain, resumed } from './chain.ts';
import type { Part, Reading } from './reading.ts';
import { isDay, isFiltered, splitByDays, splitByFlag, splitByOrganizations } from './split.ts';

/** Rows; less, and the next page will hardly hold the block that this one has cut. Measured: 20 costs more. */
const LEAST_ADVANCE = 40;

/** Rows by which pages overlap that prove nothing: as many may be removed between two without hiding another. */
const OVERLAP = 10;

export interface PartRead {
  /** None: unproven, there may be records that were not seen. */
  readonly proof?: Proof['kind'];
  /** Of the well-formed records that the proof is of. */
  readonly ids?: ReadonlySet<number>;
  /** What the host counted for the part on the page that was the last of it. */
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
  const { end } = chain;
  if (end === 'exhausted') return { stoppedAt: { ...chain, isSweep: false } };
  if (end === 'lost' && isDay(part)) return seeRest(reading, part, chain.offset);
  if (end !== 'tied') return ended(chain);
  const halves = splitByDays(part, reading.seenWithin(part.range));
  if (halves === undefined) {
    const read = await readDay(reading, part);
    return read.proof === undefined ? seeRest(reading, part, chain.offset) : read;
  }
  const read = await readAll(halves, (half) =>
    readPart(reading, half, resumed(chain, reading.seenWithin(half.range))),
  );
  if (read.proof !== undefined || !reading.isSpent) return read;
  // What so many parts do not prove in one go is looked at as a whole by the next.
  const { offset, count } = chain;
  return { stoppedAt: { offset, count, anchors: new Map(), isSweep: true } };
}

async function readDay(reading: Reading, part: Part): Promise<PartRead> {
  for (const key of ['product_name', 'proctor_name'] as const) {
    const chain = await readChain(reading, part, key);
    if (chain.end !== 'tied') return ended(chain);
  }
  const flags = splitByFlag(part);
  return flags
    ? readAll(flags, (flag) => readPart(reading, flag))
    : readOrganizations(reading, part);
}

function ended({ end, pages, count, ids }: ChainEnd): PartRead {
  return end === 'complete' ? { proof: pages === 1 ? 'single-page' : 'key-seam', count, ids } : {};
}

/**
 * Looks at the rest of a day that nothing proves, page after page: news all the same. It proves nothing: in a
 * list that moves, or whose ties fall another way each time, it can overlook a record, which the next look
 * shows. But nothing stays hidden for ever behind a block of ties that fills a page. The day's parts by filter
 * are left to it as a whole.
 */
export async function seeRest(reading: Reading, part: Part, from: number): Promise<PartRead> {
  if (isFiltered(part)) return {};
  let [offset, count] = [from, 0];
  for (;;) {
    const page = await reading.page(part, { sort: 'user_name', page: MAX_PAGE_SIZE, offset });
    if (page === undefined)
      return { stoppedAt: { offset, count, anchors: new Map(), isSweep: true } };
    count = page.meta.count;
    if (page.rows === 0 || offset + page.rows >= count) return { count };
    offset += Math.max(Math.ceil(page.rows / 2), page.rows - OVERLAP);
  }
}

/** Goes on after a part that stayed unproven: what is seen of the others is news as well. */
async function readAll(
  parts: readonly Part[],
  read: (part: Part) => Promise<PartRead>,
): Promise<PartRead> {
  const ids = new Set<number>();
  let isProven = true;
  for (const part of parts) {
    const { proof, ids: more = [] } = await read(part);
    isProven &&= proof !== undefined;
    for (const id of more) ids.add(id);
  }
  return isProven ? { proof: 'split', ids } : {};
}

/**
 * The organizations in scope cannot be asked for (partner-api.md, 1), and those that were seen need
 * not be all. So the host's count of the whole, before and after, must be the number of records
 * that were seen in the parts.
 */
async function readOrganizations(reading: Reading, part: Part): Promise<PartRead> {
  const parts = splitByOrganizations(part, reading.assessments);
  if (parts === undefined) return {};
  const before = await reading.count(part);
  const read = await readAll(parts, (one) => readPart(reading, one));
  const after = await reading.count(part);
  return before === read.ids?.size && after === before ? read : {};
}
