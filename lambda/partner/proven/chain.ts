import { looksSorted, type SeamKey, sortedBy, tieMarks } from '../../decisions/names-tied.ts';
import {
  type Anchors,
  anchorsOf,
  holdsAnchor,
  nextOffset,
  type SeamRow,
} from '../../decisions/seam.ts';
import type { Assessment } from '../../events/assessment.ts';
import { MAX_PAGE_SIZE, type Page } from '../api.ts';
import type { Reading, ReadPart } from './reading.ts';

/**
 * Rows by which a page overlaps the one before beyond the rule's need, so that as many removals
 * cost no request. Measured: 0 costs more requests in lost seams, 2 costs more in rows.
 */
const SLACK = 1;

/** About one of this many records comes or goes while the pages before are read. */
const DRIFT = 200;

/** Rows of each further step back when a seam is lost, as after a burst of removals upstream. */
const STEPS_BACK = [8, 30, 100, 300];

/** Seams that may be lost beyond one in four pages before a chain is given up. */
const LOSSES = 8;

/** Where a chain of pages begins. */
export interface ChainStart {
  readonly offset: number;
  /** A page at another offset than 0 must hold one of these. */
  readonly anchors: Anchors;
}

/** A chain between two pages; with an `end`, after its last. */
export interface Chain extends ChainStart {
  /**
   * - `complete`: proven.
   * - `tied`: one tie block may fill a page, or the host sorts by something else than the key.
   * - `lost`: the list moves faster than the steps back.
   * - `mistaken`: the evidence about the names that the host compares was refuted.
   * - `exhausted`: no time or no requests are left.
   */
  readonly end?: 'complete' | 'tied' | 'lost' | 'mistaken' | 'exhausted';
  /** This and `ids` grow in place: copies after each page would cost the square of a long chain. */
  readonly anchors: Map<number, SeamRow['sortedBy'] | undefined>;
  /** Ids of the well-formed records on its pages. */
  readonly ids: Set<number>;
  readonly pages: number;
  /** The host's count of the part on the last page; 0 before the first. */
  readonly count: number;
  /** Rows of the next page. */
  readonly size: number;
  /** Steps back in a row. */
  readonly steps: number;
  /** Seams lost in all. */
  readonly losses: number;
}

/**
 * Reads a part page after page in the order of the key, each page accepted by its seam.
 *
 * @param leastAdvance rows from a page to the next; with fewer, the chain counts as tied
 * @returns the chain at its end
 */
export async function readChain(
  reading: Reading,
  part: ReadPart,
  key: SeamKey,
  { offset, anchors }: ChainStart = { offset: 0, anchors: new Map() },
  leastAdvance = 1,
): Promise<Chain> {
  const counts = { pages: 0, count: 0, size: reading.mostRows, steps: 0, losses: 0 };
  let chain: Chain = { ...counts, offset, anchors: new Map(anchors), ids: new Set() };
  while (chain.end === undefined) {
    const page = await reading.page(part, { sort: key, page: chain.size, offset: chain.offset });
    chain = page
      ? afterPage(reading, key, chain, page, leastAdvance)
      : { ...chain, end: 'exhausted' };
  }
  return chain;
}

function afterPage(
  reading: Reading,
  key: SeamKey,
  before: Chain,
  page: Page,
  leastAdvance: number,
): Chain {
  const { offset, anchors } = before;
  const { count } = page.meta;
  const chain: Chain = { ...before, pages: before.pages + 1, count };
  for (const { id } of page.assessments) chain.ids.add(id);
  const assessments = inOrder(page);
  if (key === 'user_name') reading.nameOrder?.observe(assessments);
  if (reading.nameOrder?.mistaken) return { ...chain, end: 'mistaken' };
  const rows = assessments.map((row) => row && seamRow(row, key, reading));
  const isJoined = offset === 0 || holdsAnchor(rows, anchors);
  const { room, size, isWhole } = judgedRows(reading, before.size, page);
  if (!isJoined || !isWhole) return steppedBack({ ...chain, size });
  // Short and reaching the count: two witnesses that nothing follows.
  if (page.rows < room && page.meta.offset + page.rows === count)
    return { ...chain, end: 'complete' };
  if (!looksSorted(assessments, key))
    return { ...chain, end: 'tied', offset: 0, anchors: new Map() };
  for (const row of anchorsOf(rows)) anchors.set(row.id, row.sortedBy);
  const joined = { ...chain, size, steps: 0 };
  const next = nextOffset(offset, rows, SLACK);
  const least = Math.min(leastAdvance, reading.mostRows / 2);
  return next - offset < least ? { ...joined, end: 'tied' } : { ...joined, offset: next };
}

/**
 * Rows decide: a host may say that it applies another size than it does. A page has exactly the
 * rows that it has room for and that the count promises.
 *
 * @param asked the rows that were asked for
 */
function judgedRows(reading: Reading, asked: number, page: Page) {
  const { rows, meta } = page;
  const room = rows === meta.page ? meta.page : asked;
  const whole = Math.min(room, Math.max(0, meta.count - meta.offset));
  const isShort = rows < whole;
  if (isShort) reading.mostRows = MAX_PAGE_SIZE;
  // A larger page was too large: the size that fits is close to this one.
  const fitting = isShort ? asked : 2 * Math.max(1, rows);
  return { room, size: Math.min(reading.mostRows, fitting), isWhole: rows === whole };
}

function steppedBack({ steps, ...chain }: Chain): Chain {
  const back = STEPS_BACK[steps];
  const losses = chain.losses + 1;
  const lost = { ...chain, losses, steps: steps + 1 };
  if (back === undefined || losses > LOSSES + chain.pages / 4) return { ...lost, end: 'lost' };
  return { ...lost, offset: Math.max(0, Math.min(chain.offset, chain.count) - back) };
}

/**
 * Where a stuck chain resumes for some of its records alone. Their rows on a page are in the same
 * order, so the proof by the pages so far holds for each subset.
 *
 * @param seen the records seen so far of those that the new chain reads
 */
export function resumed({ anchors }: ChainStart, seen: readonly Assessment[]): ChainStart {
  const below = seen.filter(({ id }) => anchors.has(id)).length;
  return { offset: Math.max(0, below - 1 - SLACK - Math.ceil(below / DRIFT)), anchors };
}

/** In the host's order; a quarantined row and a copy keep their places. */
function inOrder({
  rows,
  assessments,
  quarantined,
  copies = [],
}: Page): (Assessment | undefined)[] {
  const unread = new Set([...quarantined.map(({ index }) => index), ...copies]);
  const read = assessments.values();
  return Array.from({ length: rows }, (_, index) =>
    unread.has(index) ? undefined : read.next().value,
  );
}

/** Undefined for a record that may be tied with every other. */
function seamRow(assessment: Assessment, key: SeamKey, reading: Reading): SeamRow | undefined {
  if (reading.isTwice(assessment.id)) return undefined;
  const { nameOrder } = reading;
  const marks = tieMarks(assessment, key, nameOrder?.ties);
  return marks && { id: assessment.id, sortedBy: sortedBy(assessment, key), marks };
}
