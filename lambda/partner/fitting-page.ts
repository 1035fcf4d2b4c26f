import { isDeepStrictEqual } from 'node:util';
import { faultOf } from '../errors.ts';
import { DEFAULT_PAGE_SIZE, type ListQuery, type Page } from './api.ts';

/**
 * A page of at most this many rows that is too large is read in pieces: otherwise a read could not
 * get past a row that is too large by itself. If more rows would be skipped, the page is given up.
 */
const leastRows = 12;
/**
 * This many rows are told apart from their neighbours. After that, all rows of a piece that is too
 * large are skipped.
 */
const mostTooLarge = 3;

/**
 * Reads a page. One that is too large is asked for again with half of its rows, and so on. Rows that
 * are too large by themselves are skipped. If there are no other rows, the row behind them is read
 * as well, since its answer has the count.
 *
 * @throws the error of the request, if it is another one, or if the page is given up
 */
export async function fittingPage(
  query: ListQuery,
  ask: (query: ListQuery) => Promise<Page>,
): Promise<Page> {
  const waiting = [query];
  /** In the order of the list. */
  const pages: Page[] = [];
  let [skipped, isRead] = [0, false];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    try {
      pages.push(await ask(next));
      isRead = true;
    } catch (error) {
      const smaller = smallerThan(next, error, skipped);
      waiting.unshift(...smaller);
      if (smaller.length > 0) continue;
      pages.push(unread(next));
      skipped += next.page ?? DEFAULT_PAGE_SIZE;
    }
    if (waiting.length === 0 && !isRead)
      waiting.push({ ...query, offset: (query.offset ?? 0) + skipped, page: 1 });
  }
  // If no row was skipped, the first piece is one answer, as any page is.
  return pages.reduce((before, page) => (skipped === 0 ? before : joined(before, page)));
}

/**
 * Half of the rows of a page that was too large, or all of a few, in halves; none: they are skipped.
 *
 * @param skipped rows so far that are too large by themselves, or among too many of these
 */
function smallerThan(query: ListQuery, error: unknown, skipped: number): ListQuery[] {
  if (faultOf(error) !== 'record') throw error;
  const { offset = 0, page = DEFAULT_PAGE_SIZE } = query;
  if (page > leastRows) return [{ ...query, page: Math.floor(page / 2) }];
  if (page > 1 && skipped < mostTooLarge) {
    const middle = Math.ceil(page / 2);
    const second = { ...query, offset: offset + middle, page: page - middle };
    return [{ ...query, page: middle }, second];
  }
  if (skipped + page > leastRows) throw error;
  return [];
}

/** Rows that are skipped: quarantined without an id. */
function unread({ offset = 0, page = DEFAULT_PAGE_SIZE }: ListQuery): Page {
  const quarantined = Array.from({ length: page }, (_, index) => ({
    ...{ index, problems: ['too large to be read'] },
  }));
  return { assessments: [], quarantined, meta: { count: 0, offset, page }, rows: page };
}

/**
 * Several answers, so they prove nothing. A row that moved between them is one, and rows of one id
 * with different content are several.
 */
function joined(before: Page, { assessments, quarantined, copies = [], meta, rows }: Page): Page {
  const others = assessments.filter(
    (one) => !before.assessments.some((shown) => isDeepStrictEqual(shown, one)),
  );
  const counts = [before, { meta }].flatMap((one) => one.meta.count || []);
  const differs = before.pieces === 'differ' || new Set(counts).size > 1;
  const moved = quarantined.map((one) => ({ ...one, index: before.rows + one.index }));
  return {
    assessments: [...before.assessments, ...others],
    quarantined: [...before.quarantined, ...moved],
    copies: [...(before.copies ?? []), ...copies.map((index) => before.rows + index)],
    pieces: differs ? 'differ' : 'agree',
    meta: {
      count: meta.count || before.meta.count,
      offset: before.meta.offset,
      page: before.meta.page + meta.page,
    },
    rows: before.rows + rows,
  };
}
