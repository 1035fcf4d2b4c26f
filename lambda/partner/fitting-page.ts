import { faultOf } from '../errors.ts';
import { DEFAULT_PAGE_SIZE, type ListQuery } from './query.ts';
import type { Page, Quarantined } from './records.ts';

type List = (query: ListQuery) => Promise<Page>;

/** So few rows that are too large are looked at in pieces: otherwise a read could not get past a row that is. */
const leastRows = 12;
/** So many are told apart from their neighbours; beyond, all rows of a piece that is too large are skipped. */
const mostTooLarge = 3;

/**
 * A page that was too large is asked for again with half of its rows, and again. What fits is one answer, as
 * any page is. A row that is too large by itself is skipped and quarantined, without an id; such a page is made of
 * several answers, and proves nothing.
 *
 * @throws {PartnerError}
 */
export async function fittingPage(list: List, query: ListQuery): Promise<Page> {
  let page = query.page ?? DEFAULT_PAGE_SIZE;
  let fitting: Page | undefined;
  while (fitting === undefined && page > leastRows) {
    page = Math.floor(page / 2);
    fitting = await unlessTooLarge(list({ ...query, page }));
  }
  return fitting ?? (await inPieces(list, { ...query, page, offset: query.offset ?? 0 }));
}

/** Rows that follow each other, or a single one that is too large. */
type Piece = Page | 'too-large';
type Rows = Required<Pick<ListQuery, 'page' | 'offset'>>;

async function inPieces(list: List, query: ListQuery & Rows): Promise<Page> {
  const pieces = query.page === 1 ? (['too-large'] as const) : await halves(list, query, []);
  const pages = pieces.filter((piece) => piece !== 'too-large');
  const [first] = pages;
  // All fit, one by one: the first is a slice of the list by itself.
  if (first !== undefined && pages.length === pieces.length) return first;
  const { count } = pages.at(-1)?.meta ?? (await beyond(list, query));
  return joined(pieces, { count, offset: query.offset, page: query.page });
}

/** @param before pieces of earlier rows */
async function halves(
  list: List,
  query: ListQuery & Rows,
  before: readonly Piece[],
): Promise<readonly Piece[]> {
  const { offset, page: rows } = query;
  const middle = Math.ceil(rows / 2);
  const first = { ...query, page: middle };
  const second = { ...query, offset: offset + middle, page: rows - middle };
  return await piecesOf(list, second, await piecesOf(list, first, before));
}

async function piecesOf(
  list: List,
  query: ListQuery & Rows,
  before: readonly Piece[],
): Promise<readonly Piece[]> {
  const page = await unlessTooLarge(list(query));
  if (page !== undefined) return [...before, page];
  const areMany = before.filter((piece) => piece === 'too-large').length >= mostTooLarge;
  if (areMany || query.page === 1)
    return [...before, ...Array.from({ length: query.page }, () => 'too-large' as const)];
  return await halves(list, query, before);
}

/** What the host counts, where no row of a page says it. */
async function beyond(list: List, query: ListQuery & Rows): Promise<Page['meta']> {
  const next = (further: number) =>
    list({ ...query, offset: query.offset + query.page + further, page: 1 });
  for (let further = 0; further < mostTooLarge; further++) {
    const page = await unlessTooLarge(next(further));
    if (page !== undefined) return page.meta;
  }
  return (await next(mostTooLarge)).meta;
}

function joined(pieces: readonly Piece[], meta: Page['meta']): Page {
  const assessments = new Map<number, Page['assessments'][number]>();
  const quarantined: Quarantined[] = [];
  let rows = 0;
  for (const page of pieces) {
    if (page === 'too-large') {
      quarantined.push({ index: rows, problems: ['too large to be read'] });
      rows += 1;
      continue;
    }
    for (const one of page.assessments) assessments.set(one.id, one);
    for (const one of page.quarantined) quarantined.push({ ...one, index: rows + one.index });
    rows += page.rows;
  }
  return { assessments: [...assessments.values()], quarantined, meta, rows };
}

async function unlessTooLarge(asked: Promise<Page>): Promise<Page | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (faultOf(error) === 'record') return undefined;
    throw error;
  }
}
