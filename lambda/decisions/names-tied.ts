import type { Assessment } from '../events/assessment.ts';

/** The keys that a seam can be made of (docs/partner.md, 4.2, `sort`). */
export type SeamKey = 'user_name' | 'product_name' | 'proctor_name';

export type NamePart = 'first_name' | 'last_name';

/** Whether two people who share this name, but not the other, may be tied by `user_name`. */
export type TiesByName = Readonly<Record<NamePart, boolean>>;

/**
 * Letters that Unicode does not decompose, but that some collations sort as these. Final sigma is
 * among them: lower case writes it at the end of a word, but a name without its spaces has lost its
 * word ends.
 */
const ALIKE: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  þ: 'th',
  ς: 'σ',
};

/**
 * A name without everything that a collation may ignore: case, marks, all but letters and digits.
 * Names that a collation holds to be equal fold to the same text; the reverse need not be so.
 *
 * Lower case twice, around upper case: ẞ becomes ß and only then, as ß itself, ss. ASCII names, the
 * most by far, need none of this: each name of each page is folded several times.
 */
export function foldName(name: string): string {
  if (/^[ -~]*$/.test(name)) return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return name
    .normalize('NFKD')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replaceAll(/[æœøłđðħŧþς]/g, (letter) => ALIKE[letter] ?? letter);
}

/** The values that the host may compare under the key, verbatim. */
export function sortedBy(assessment: Assessment, key: SeamKey): string {
  const { assessment_name, results, name, first_name, last_name } = assessment;
  if (key === 'product_name') return JSON.stringify(assessment_name);
  if (key === 'user_name') return JSON.stringify([name, first_name, last_name]);
  return JSON.stringify(results?.map(({ proctor_name }) => proctor_name) ?? null);
}

/**
 * Two records that share none of these marks are certainly not tied under the key: they differ in
 * every name that the host may compare. The document does not say which names `user_name` compares,
 * nor whose name counts where the parts had different proctors.
 *
 * @param ties whether a shared name may be a tie; false must be established, not assumed
 * @returns undefined if a name is not there (null, absent, of another type): the host compares
 * something unknown instead, so the record may be tied with every other
 */
export function tieMarks(
  assessment: Assessment,
  key: SeamKey,
  ties: TiesByName = { first_name: true, last_name: true },
): readonly string[] | undefined {
  if (key === 'product_name') {
    const { assessment_name } = assessment;
    return typeof assessment_name === 'string' ? [foldName(assessment_name)] : undefined;
  }
  if (key === 'proctor_name') return marksOfProctors(assessment);
  const { name, first_name, last_name } = assessment;
  if (typeof name !== 'string') return undefined;
  if (typeof first_name !== 'string' || typeof last_name !== 'string') return undefined;
  const first = foldName(first_name);
  const last = foldName(last_name);
  const marks = [`full ${foldName(name)}`, `both ${first} ${last}`];
  if (ties.first_name) marks.push(`first ${first}`);
  if (ties.last_name) marks.push(`last ${last}`);
  return marks;
}

function marksOfProctors({ results }: Assessment): readonly string[] | undefined {
  if (!Array.isArray(results)) return undefined;
  const marks: string[] = [];
  for (const { proctor_id, proctor_name } of results) {
    if (typeof proctor_id !== 'number' || typeof proctor_name !== 'string') return undefined;
    marks.push(`name ${foldName(proctor_name)}`, `id ${proctor_id}`);
  }
  return marks.length > 0 ? marks : ['nobody'];
}

/**
 * Pairs of names that must have come in order before the order counts as the host's doing. If such
 * pairs were tied and came in any order, all of them would be in order once in 2^40 reads.
 */
const ENOUGH = 40;

/** Fewer neighbours that differ say nothing about the order. */
const TELLING = 20;

/** Share of neighbours in descending order: a half by chance, next to none in any collation. */
const TOLERATED = 1 / 3;

/**
 * Whether an answer can be in the order that was asked for. The API takes a sort that it does not
 * know as its default, without an error (docs/partner.md, 4.2). Then the names do not show the
 * ties.
 */
export function looksSorted(rows: readonly (Assessment | undefined)[], key: SeamKey): boolean {
  const columns = NAMES[key].map((nameOf) => rows.map((row) => folded(row && nameOf(row))));
  return columns.some((column) => {
    const isDescending = column.flatMap((name, index) => {
      const next = column[index + 1];
      return name === undefined || next === undefined || name === next ? [] : name > next;
    });
    const { length } = isDescending;
    return length < TELLING || isDescending.filter(Boolean).length / length < TOLERATED;
  });
}

type Name = string | null | undefined;

/** A name that is not there says nothing about the order. */
const folded = (name: Name) => (typeof name === 'string' ? foldName(name) : undefined);

/** The host may compare any of these. */
const NAMES: Readonly<Record<SeamKey, readonly ((row: Assessment) => Name)[]>> = {
  user_name: [(row) => row.name, (row) => row.first_name, (row) => row.last_name],
  product_name: [(row) => row.assessment_name],
  proctor_name: [
    (row) => row.results?.[0]?.proctor_name,
    (row) => row.results?.at(-1)?.proctor_name,
  ],
};

/**
 * Evidence from the answers about the names that `user_name` compares, since the document does not
 * say it.
 *
 * Neighbours in an answer that share one name and differ in the other are witnesses. If the host
 * compares only the shared name, they are tied, and the other name comes in any order. If the other
 * name always ascends, the host compares it as well, and a shared name is no tie. Each name is
 * counted by itself, by distinct pairs of names, and only where every collation orders the two
 * alike.
 *
 * A host that orders its ties by the other name in some answers and by chance in others would
 * deceive this. The proof assumes that it always does the same.
 */
export class NameOrderEvidence {
  /** Which shared names may be ties, as far as is known. */
  readonly ties: Record<NamePart, boolean> = { first_name: true, last_name: true };
  /** An established fact was refuted, so every conclusion from it must go. */
  mistaken = false;
  /** Pairs that came in order; undefined once others did not. */
  readonly #pairs: Record<NamePart, Set<string> | undefined> = {
    first_name: new Set(),
    last_name: new Set(),
  };

  /**
   * @param rows of one answer sorted by `user_name`, ascending; undefined for one that cannot be read
   */
  observe(rows: readonly (Assessment | undefined)[]): void {
    for (const [index, row] of rows.entries()) {
      const next = rows[index + 1];
      if (row === undefined || next === undefined) continue;
      this.#witness('first_name', 'last_name', row, next);
      this.#witness('last_name', 'first_name', row, next);
    }
  }

  #witness(shared: NamePart, other: NamePart, row: Assessment, next: Assessment): void {
    const [name, a, b] = [row[shared], row[other], next[other]];
    // Two people without a name share none.
    if (typeof name !== 'string' || name !== next[shared]) return;
    if (typeof a !== 'string' || typeof b !== 'string') return;
    const [foldedA, foldedB] = [foldName(a), foldName(b)];
    if (a < b && foldedA < foldedB) {
      const pairs = this.#pairs[shared]?.add(JSON.stringify([name, a, b]));
      if (pairs !== undefined && pairs.size >= ENOUGH) this.ties[shared] = false;
    } else if (a > b && foldedA > foldedB) {
      this.mistaken ||= !this.ties[shared];
      this.ties[shared] = true;
      this.#pairs[shared] = undefined;
    }
  }
}
