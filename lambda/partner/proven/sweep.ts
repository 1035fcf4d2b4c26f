import { MAX_PAGE_SIZE } from '../query.ts';
import type { Part, Reading } from './reading.ts';

/** Rows by which pages overlap: as many may be removed between two without hiding another. */
const OVERLAP = 10;

export interface Sweep {
  readonly end: 'complete' | 'exhausted';
  /** Where the next page would begin. */
  readonly offset: number;
  /** What the host counted for the part on the last page; 0 before the first. */
  readonly count: number;
  /** Of the well-formed records on its pages. */
  readonly ids: ReadonlySet<number>;
}

/**
 * Looks at the rest of a part that cannot be proven, page after page. It proves nothing: in a list
 * that moves, or whose ties fall another way each time, it can overlook a record, which the next
 * sweep shows. But nothing stays hidden for ever behind a block of ties that fills a page.
 */
export async function sweep(reading: Reading, part: Part, from: number): Promise<Sweep> {
  const ids = new Set<number>();
  let offset = from;
  let count = 0;
  for (;;) {
    const page = await reading.page(part, { sort: 'user_name', page: MAX_PAGE_SIZE, offset });
    if (page === undefined) return { end: 'exhausted', offset, count, ids };
    for (const { id } of page.assessments) ids.add(id);
    count = page.meta.count;
    if (page.rows === 0 || offset + page.rows >= count)
      return { end: 'complete', offset, count, ids };
    offset += Math.max(Math.ceil(page.rows / 2), page.rows - OVERLAP);
  }
}
