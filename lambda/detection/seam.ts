/**
 * The rule by which pages of a sorted list prove, together, that they returned every record which
 * was present throughout, although the list changed between the requests.
 *
 * Write `f` for the key of a page's first row and `l` for that of its last, in the host's own
 * collation. One answer is consistent and sorted, so it holds every record whose key lies
 * strictly between `f` and `l`; at offset 0 also all below, on the last page also all above.
 * A row of an accepted page is *below* if some later row of that page is certainly not tied with
 * it: its key is then strictly smaller than `l`. A further page is accepted if it holds, at any
 * place, a record that an accepted page showed below: `f` ≤ that record's key < that page's `l`.
 *
 * For any key `v`, take the first accepted page whose `l` lies beyond `v`, or else the last page.
 * The `l` of every page before it is at most `v`, hence its `f` is strictly smaller than `v`: this
 * one answer held the whole block of `v`, whatever moved between requests. Nothing is concluded
 * from the text of a name save that two names differ, and no two answers' rows are compared save
 * for identity.
 *
 * The rule of a first row that the page before showed in front of its last tie block is a special
 * case: a page that begins with such a row holds it.
 */

export interface SeamRow {
  readonly id: number;
  /** What the host may sort it by, verbatim (`sortedBy`). */
  readonly sortedBy: string;
  /** Rows that share none of these are certainly not tied (`tieMarks`). */
  readonly marks: readonly string[];
}

/**
 * A page in the host's order. A row that cannot be read, or has no name where the host may look for one, is tied
 * with every row: it is no anchor, nor is it untied with any.
 */
export type SeamRows = readonly (SeamRow | undefined)[];

/**
 * Records certainly below the end of some accepted page, by id: what the host sorted each by, or
 * undefined where only its identity is kept, from a read that an earlier tick has begun.
 */
export type Anchors = ReadonlyMap<number, string | undefined>;

/**
 * Index of the last row that is below, as are then all rows before it; -1 if there is none.
 * Rows that share a mark without being neighbours in one tie block do no harm: whatever precedes
 * a row that is below is below.
 */
export function lastBelow(rows: SeamRows): number {
  for (let index = rows.length - 2; index >= 0; index--) {
    const row = rows[index];
    if (row === undefined) continue;
    const untied = (later: SeamRow | undefined) => later !== undefined && !maybeTied(row, later);
    if (rows.slice(index + 1).some(untied)) return index;
  }
  return -1;
}

/** What an accepted page adds to the anchors. */
export function anchorsOf(rows: SeamRows): SeamRow[] {
  return rows.slice(0, lastBelow(rows) + 1).filter((row) => row !== undefined);
}

/** Whether the page may be accepted. A record that has been renamed in between is no anchor. */
export function holdsAnchor(rows: SeamRows, anchors: Anchors): boolean {
  return rows.some(
    (row) =>
      row !== undefined &&
      anchors.has(row.id) &&
      (anchors.get(row.id) ?? row.sortedBy) === row.sortedBy,
  );
}

/**
 * Where the next page should begin: at the last row that is below, or `slack` rows before it, so
 * that the seam survives as many removals.
 *
 * @returns `offset` itself if there is no progress: what may be one tie block fills the page
 */
export function nextOffset(offset: number, rows: SeamRows, slack: number): number {
  return offset + Math.max(0, lastBelow(rows) - slack);
}

/** Not certainly not tied. */
function maybeTied(row: SeamRow, other: SeamRow): boolean {
  return row.marks.some((mark) => other.marks.includes(mark));
}
