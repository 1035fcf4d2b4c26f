import { faultOf } from '../errors.ts';
import { DEFAULT_PAGE_SIZE, type ListQuery } from './query.ts';
import type { Page, Quarantined } from './records.ts';

/** So few rows that are too large are looked at one by one: otherwise a read could not get past a row that is. */
const fewRows = 12;
/** So many at least, and the one behind them: any of them that fits says what the host counts. */
const rowsCounted = 3;

/**
 * A page that was too large is asked for again with half of its rows, and again. What fits is one answer, as
 * any page is. A row that is too large by itself is skipped and quarantined, without an id; such a page is made of
 * several answers, and proves nothing.
 *
 * @throws {PartnerError}
 */
export async function fittingPage(
  list: (query: ListQuery) => Promise<Page>,
  query: ListQuery,
): Promise<Page> {
  const { page: asked = DEFAULT_PAGE_SIZE, offset = 0 } = query;
  const rowsFrom = (row: number, page: number) => list({ ...query, offset: offset + row, page });
  let size = asked;
  let fitting: Page | undefined;
  while (fitting === undefined && size > 1) {
    size = Math.floor(size / 2);
    fitting = await unlessTooLarge(rowsFrom(0, size));
  }
  if (fitting !== undefined && size >= fewRows) return fitting;

  const page = Math.min(asked, fewRows);
  const behind = Math.max(page, rowsCounted);
  const pieces = [fitting];
  for (let row = size; row < behind; row++) pieces.push(await unlessTooLarge(rowsFrom(row, 1)));
  const ofPage = pieces.slice(0, page);
  if (fitting !== undefined && !ofPage.includes(undefined)) return fitting;
  const counted = pieces.findLast((piece) => piece !== undefined) ?? (await rowsFrom(behind, 1));
  return joined(ofPage, { count: counted.meta.count, offset, page });
}

function joined(pieces: readonly (Page | undefined)[], meta: Page['meta']): Page {
  const assessments = new Map<number, Page['assessments'][number]>();
  const quarantined: Quarantined[] = [];
  let rows = 0;
  for (const page of pieces) {
    if (page === undefined) {
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
