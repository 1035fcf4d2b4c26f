/**
 * The rule by which pages of a sorted list prove, together, that they returned every record that
 * was present throughout, although the list changed between the requests.
 *
 * Write `f` for the key of a page's first row and `l` for that of its last, in the host's own
 * collation. One answer is consistent and sorted, so it holds every record whose key lies strictly
 * between `f` and `l`. At offset 0 it also holds all below, on the last page also all above. A row
 * of an accepted page is *below* if some later row of that page is certainly not tied with it: its
 * key is then strictly smaller than `l`. A further page is accepted if it holds, at any place, a
 * record that an accepted page showed below: `f` ≤ that record's key < that page's `l`.
 *
 * For any key `v`, take the first accepted page whose `l` lies beyond `v`, or else the last page.
 * The `l` of every page before it is at most `v`, hence its `f` is strictly smaller than `v`. So
 * this one answer held the whole block of `v`, even if rows moved between requests. Nothing is
 * concluded from the text of a name except that two names differ. Rows of two answers are compared
 * only for identity.
 *
 * A special case is a first row that the page before showed in front of its last tie block: a page
 * that begins with such a row holds it.
 */

export interface SeamRow {
  readonly id: number;
  /** The text that the host may sort it by, verbatim (`sortedBy`). */
  readonly sortedBy: string;
  /** Rows that share none of these are certainly not tied (`tieMarks`). */
  readonly marks: readonly string[];
}

/**
 * A page in the host's order. Undefined is a row that cannot be read, or that lacks a name that the
 * host may compare. It is tied with every row, so it is no anchor, and untied with none.
 */
export type SeamRows = readonly (SeamRow | undefined)[];

/**
 * Records certainly below the end of some accepted page, by id. The value is the text that the host
 * sorted the record by. It is undefined if an earlier tick began the read, since only ids are
 * saved.
 */
export type Anchors = ReadonlyMap<number, string | undefined>;

/**
 * Index of the last row that is below; all rows before it are below, too. -1: there is none. Rows
 * that share a mark without being neighbours in one tie block do no harm: every row before a row
 * that is below is below.
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

/** The anchors that an accepted page adds. */
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
 * @returns `offset` itself if there is no progress: one tie block may fill the page
 */
export function nextOffset(offset: number, rows: SeamRows, slack: number): number {
  return offset + Math.max(0, lastBelow(rows) - slack);
}

function maybeTied(row: SeamRow, other: SeamRow): boolean {
  return row.marks.some((mark) => other.marks.includes(mark));
}
