import { Temporal } from 'temporal-polyfill';
import type { Proof } from '../../decisions/calendar.ts';
import type { Bookmark } from '../../decisions/days.ts';
import { type DayRange, daysFrom, isWithin } from '../../decisions/days.ts';
import { hasRead } from '../../decisions/days-read.ts';
import type { RangeRead } from '../../decisions/partner-reads.ts';
import type { Assessment } from '../../events/assessment.ts';
import { MAX_PAGE_SIZE } from '../api.ts';
import type { PartnerClient } from '../client.ts';
import { type Chain, type ChainStart, readChain, resumed } from './chain.ts';
import { Reading, type ReadPart } from './reading.ts';

/**
 * The least number of rows from a page to the next. With fewer, the next page will hardly hold the
 * block that this one has cut. Measured: 20 costs more.
 */
const LEAST_ADVANCE = 40;

/**
 * Rows by which pages overlap in a read that proves nothing: as many may be removed between two
 * pages without hiding another.
 */
const OVERLAP = 10;

/** The next read needs any one of the last page's anchors; removals meanwhile may take some. */
const ANCHORS_KEPT = 30;

interface PartRead {
  /** Absent: the read may have overlooked records. */
  readonly proof?: Proof['kind'];
  /** Ids of the well-formed records that the proof covers. */
  readonly ids?: ReadonlySet<number>;
  /** The host's count of the part, on its last page. */
  readonly count?: number;
  /** Where the next read resumes, if time or pace ran out. */
  readonly stoppedAt?: Bookmark;
}

/**
 * Reads a range of days, and proves that the read is complete, if it can: see
 * docs/detection.md#a-proven-read. A range of up to 99 records costs one request.
 *
 * Every record that was in the range throughout a proven read, under an unchanged name, is among
 * its assessments. A `split` proof does not cover records that went from one part to another
 * meanwhile.
 *
 * @param bookmark where an earlier read of the same range stopped: this one returns the rest, which
 * is not all, and so is never a proof
 * @param cap the most rows of a page at this host
 * @throws {PartnerError} the errors of `client.list`, except for the deadline, which ends the read
 * as unproven with the records seen so far
 */
export async function proveRange(
  client: Pick<PartnerClient, 'list'>,
  range: DayRange,
  deadline: Temporal.Instant,
  bookmark?: Bookmark,
  cap: number = MAX_PAGE_SIZE,
): Promise<RangeRead> {
  const reading = new Reading((query) => client.list(query, { deadline }), cap);
  const part = { range, filter: {} };
  const { read, earlier } = await readFrom(reading, part, bookmark);
  const { proof } = read;
  const from = earlier?.offset ?? 0;
  const isProven = proof !== undefined && earlier === undefined && !reading.isDoubtful;
  const { count = 0, stoppedAt } = isProven ? read : await counted(reading, part, read, from);
  const isCutOff = stoppedAt !== undefined;
  const noted = notedCount(reading, earlier, stoppedAt);
  const isChained = proof !== undefined && reading.isOfWholePages;
  const shown = { isChained, ids: reading.ids, from, last: count };
  const { assessments, others, requests } = reading;
  const quarantined = [...reading.quarantined.values()];
  return {
    assessments,
    ...(others.length > 0 && { others }),
    quarantined,
    requests,
    isCutOff,
    // With a proof, the number of records seen: the host's count may include later arrivals.
    count: isProven ? assessments.length : Math.max(isCutOff ? assessments.length : 0, count),
    ...(isProven && { proof }),
    isRead: !isCutOff && (isProven || hasRead({ ...shown, first: consistentCount(noted) })),
    ...(stoppedAt && isBeyond(stoppedAt, bookmark) && { bookmark: { ...stoppedAt, ...noted } }),
  };
}

type NotedCount = Pick<Bookmark, 'count' | 'isContradicted'>;

/**
 * The host's count at the beginning, and whether each part has shown an id for each place, with one
 * count on each page.
 */
function notedCount(
  { ids, firstCount, pieces }: Reading,
  earlier: Bookmark | undefined,
  stoppedAt: Bookmark | undefined,
): NotedCount {
  const {
    offset: from,
    count,
    isContradicted,
  } = earlier ?? { offset: 0, count: firstCount, isContradicted: false };
  const lacks = pieces === 'differ' || ids < (stoppedAt?.offset ?? 0) - from;
  return {
    ...(count !== undefined && { count }),
    ...((isContradicted || lacks) && { isContradicted: true }),
  };
}

const consistentCount = ({ count, isContradicted }: NotedCount) =>
  isContradicted ? undefined : count;

/** @returns the read, and the bookmark that it resumed; undefined if it began anew */
async function readFrom(reading: Reading, part: ReadPart, bookmark: Bookmark | undefined) {
  const start = bookmark && {
    offset: bookmark.offset,
    anchors: new Map(bookmark.anchors.map((id) => [id, undefined])),
  };
  const read = await (bookmark?.isSweep
    ? seeRest(reading, part, bookmark.offset)
    : readPart(reading, part, start));
  if (!reading.nameOrder?.mistaken) return { read, earlier: bookmark };
  reading.nameOrder = undefined;
  return { read: await readPart(reading, part), earlier: undefined };
}

/**
 * Asks for the host's count at once, in the remaining time. If that is too short, the next read
 * begins behind the rows that were seen: otherwise the time could be too short again and again.
 */
async function counted(
  reading: Reading,
  part: ReadPart,
  read: PartRead,
  from: number,
): Promise<PartRead> {
  const count = read.count ?? (await reading.count(part));
  if (count !== undefined) return { ...read, count };
  const offset = from + reading.assessments.length;
  return { stoppedAt: { range: part.range, offset, anchors: [], isSweep: true } };
}

/** The knowledge that nothing will prove the day is progress, too. */
function isBeyond(stop: Bookmark, start: Bookmark | undefined): boolean {
  return stop.offset > (start?.offset ?? 0) || stop.isSweep !== start?.isSweep;
}

/**
 * Reads a part by name. Where names may be tied over a whole page, it goes on with halves of its
 * days, each by itself; a single day is read by another key, or else split by filters.
 */
async function readPart(reading: Reading, part: ReadPart, start?: ChainStart): Promise<PartRead> {
  const { range } = part;
  const chain = await readChain(
    reading,
    part,
    'user_name',
    start,
    isDay(range) ? 1 : LEAST_ADVANCE,
  );
  const { end, offset, anchors, count } = chain;
  if (end === 'exhausted') {
    const kept = [...anchors.keys()].slice(-ANCHORS_KEPT);
    return { count, stoppedAt: { range, offset, anchors: kept } };
  }
  if (end === 'lost' && isDay(range)) return seeRest(reading, part, offset, count);
  if (end !== 'tied') return ended(chain);
  const halves = halvesOf(range, reading.seenWithin(range));
  const read = halves
    ? await readAll(
        halves.map((half) => ({ ...part, range: half })),
        (half) => readPart(reading, half, resumed(chain, reading.seenWithin(half.range))),
      )
    : await readDay(reading, part);
  // Parts that were not proven in one go are read as a whole by the next read.
  const isToBeSeen = halves === undefined || reading.isSpent;
  return read.proof === undefined && isToBeSeen ? seeRest(reading, part, offset, count) : read;
}

function ended({ end, pages, count, ids }: Chain): PartRead {
  return end === 'complete' ? { proof: pages === 1 ? 'single-page' : 'key-seam', count, ids } : {};
}

/**
 * Reads a day by another key, or else in parts by legacy flag and by record status
 * (docs/partner.md, 3), or else by organization.
 */
async function readDay(reading: Reading, part: ReadPart): Promise<PartRead> {
  for (const key of ['product_name', 'proctor_name'] as const) {
    const chain = await readChain(reading, part, key);
    if (chain.end !== 'tied') return ended(chain);
  }
  const { legacy_record, user_record_status, organization_ids } = part.filter;
  const readBy = (filters: readonly ReadPart['filter'][]) =>
    readAll(
      filters.map((filter) => ({ ...part, filter: { ...part.filter, ...filter } })),
      (one) => readPart(reading, one),
    );
  if (legacy_record === undefined)
    return readBy([{ legacy_record: [true] }, { legacy_record: [false] }]);
  if (user_record_status === undefined)
    return readBy([{ user_record_status: ['active'] }, { user_record_status: ['archived'] }]);
  if (organization_ids !== undefined) return {};
  // The API does not list the organizations in scope (docs/partner.md, 1), and those that were seen
  // need not be all. So the host's count of the whole, before and after, must be the number of
  // records that were seen in the parts.
  const seen = new Set(reading.assessments.flatMap(({ organization_id }) => organization_id ?? []));
  const before = await reading.count(part);
  const read = await readBy([...seen].map((id) => ({ organization_ids: [id] })));
  const after = await reading.count(part);
  return before === read.ids?.size && after === before ? read : {};
}

/** Goes on after a part that stayed unproven: records of the other parts are news as well. */
async function readAll(
  parts: readonly ReadPart[],
  read: (part: ReadPart) => Promise<PartRead>,
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
 * Reads the rest of a day that nothing proves, page after page, since its records are news all the
 * same. In a list that moves, or whose ties fall another way each time, it can overlook a record,
 * which a later read shows. But no record stays hidden for ever behind a tie block that fills a
 * page. It reads the day as a whole, and not its parts by filter.
 *
 * @param count the host's count of the part
 */
async function seeRest(
  reading: Reading,
  part: ReadPart,
  from: number,
  count = 0,
): Promise<PartRead> {
  if (Object.keys(part.filter).length > 0) return {};
  let [offset, counted] = [from, count];
  for (;;) {
    const page = await reading.page(part, { sort: 'user_name', page: MAX_PAGE_SIZE, offset });
    if (page === undefined) {
      const stoppedAt = { range: part.range, offset, anchors: [], isSweep: true };
      return { count: counted, stoppedAt };
    }
    counted = page.meta.count;
    if (page.rows === 0 || offset + page.rows >= counted) return { count: counted };
    offset += Math.max(Math.ceil(page.rows / 2), page.rows - OVERLAP);
  }
}

/** A single day, or none at all. */
function isDay({ from, to }: DayRange): boolean {
  return from !== undefined && to !== undefined && Temporal.PlainDate.compare(from, to) >= 0;
}

/**
 * Halves of the days, with about as many assessments each; undefined for a single day.
 *
 * Measured: more parts than halves cost more, since each ends with a page that is half empty. A
 * half that is stuck at the same block again is halved again.
 *
 * @param seen the records of the range that were seen
 */
function halvesOf(range: DayRange, seen: readonly Assessment[]): readonly DayRange[] | undefined {
  const days = seen.map(({ certified_on }) => certified_on).toSorted();
  const median = days[Math.floor(days.length / 2)];
  if (isDay(range) || median === undefined) return undefined;
  const day = Temporal.PlainDate.from(median);
  // Neither half may be the whole again, even if all records were seen on one day.
  const before = range.from?.equals(day) ? undefined : daysFrom(day, -1);
  const [to, from] = before ? [before, day] : [day, daysFrom(day, 1)];
  if (from === undefined || !isWithin(from.toString(), range)) return undefined;
  return [
    { ...range, to },
    { ...range, from },
  ];
}
