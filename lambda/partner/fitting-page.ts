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

/** The progress on a page that was too large to be read at once. */
export interface Pieces {
  /** Queries to be sent, the next one first. */
  readonly waiting: readonly ListQuery[];
  /** In the order of the list; a row that is skipped is a page, too. */
  readonly pages: readonly Page[];
  /** Rows that are too large by themselves, or among too many of these. */
  readonly skipped: number;
}

/**
 * Asks for half of the rows of a page that was too large, and so on. Rows that are too large by
 * themselves are skipped. If there are no other rows, the row behind them is read as well, since
 * its answer has the count.
 *
 * @throws the error, if it is another one, or if the page is given up
 */
export function afterTooLarge(
  error: unknown,
  query: ListQuery,
  { waiting, pages, skipped }: Pieces,
): Pieces {
  if (faultOf(error) !== 'record') throw error;
  const { offset = 0, page = DEFAULT_PAGE_SIZE } = query;
  if (page > leastRows)
    return { waiting: [{ ...query, page: Math.floor(page / 2) }], pages, skipped };
  if (page > 1 && skipped < mostTooLarge) {
    const middle = Math.ceil(page / 2);
    const first = { ...query, offset, page: middle };
    const second = { ...query, offset: offset + middle, page: page - middle };
    return { waiting: [first, second, ...waiting], pages, skipped };
  }
  if (skipped + page > leastRows) throw error;
  const rows = Array.from({ length: page }, (_, row) => skippedRow(offset + row));
  const isUnread = waiting.length === 0 && pages.length === skipped;
  const behind = isUnread ? [{ ...query, offset: offset + page, page: 1 }] : [];
  return { waiting: [...waiting, ...behind], pages: [...pages, ...rows], skipped: skipped + page };
}

/** Quarantined without an id. */
function skippedRow(offset: number): Page {
  const quarantined = [{ index: 0, problems: ['too large to be read'] }];
  return { assessments: [], quarantined, meta: { count: 0, offset, page: 1 }, rows: 1 };
}

/**
 * If no row was skipped, the first piece: it is one answer, as any page is. Else all pieces: these
 * are several answers, so they prove nothing. A row that moved between them is one, and rows of one id with
 * different content are several.
 */
export function joined({ pages, skipped }: Pieces): Page {
  return pages.reduce((before, { assessments, quarantined, copies = [], meta, rows }) => {
    if (skipped === 0) return before;
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
  });
}
