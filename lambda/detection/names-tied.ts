import type { Assessment } from '../events/assessment.ts';

/** The keys that a seam can be made of (partner-api.md, 4.2, `sort`). */
export type SeamKey = 'user_name' | 'product_name' | 'proctor_name';

export type NamePart = 'first_name' | 'last_name';

/** Whether two people who share this name, but not the other, may be tied by `user_name`. */
export type TiesByName = Readonly<Record<NamePart, boolean>>;

/**
 * Letters that Unicode does not decompose, but that some collations sort as these; and the sigma that
 * lower case writes at the end of a word, which a name without its spaces no longer has.
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
 * A name without what a collation may ignore: case, marks, everything but letters and digits. Names
 * that a collation holds to be equal fold to the same text; the reverse need not be so.
 *
 * Lower case twice, around upper case: ẞ becomes ß and only then, as ß itself, ss. Of ASCII letters, most names
 * by far, nothing of this changes any: each name of each page is folded several times.
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

/** What the host may compare under the key, verbatim. */
export function sortedBy(assessment: Assessment, key: SeamKey): string {
  const { assessment_name, results, name, first_name, last_name } = assessment;
  if (key === 'product_name') return JSON.stringify(assessment_name);
  if (key === 'user_name') return JSON.stringify([name, first_name, last_name]);
  return JSON.stringify(results?.map(({ proctor_name }) => proctor_name) ?? null);
}

/**
 * Two records that share none of these are certainly not tied under the key: whatever of the name
 * the host compares, it differs. The document does not say what `user_name` compares, nor whose
 * name counts where the parts had different proctors.
 *
 * @param ties what sharing one name means; must be established where it is false, not assumed
 * @returns undefined where a name is not there (null, absent, of another type): what the host compares instead is
 * unknown, so the record may be tied with every other
 */
export function tieMarks(
  assessment: Assessment,
  key: SeamKey,
  ties: TiesByName = { first_name: true, last_name: true },
): readonly string[] | undefined {
  if (key === 'product_name') {
    const { assessment_name } = assessment;
    return isThere(assessment_name) ? [foldName(assessment_name)] : undefined;
  }
  if (key === 'proctor_name') return marksOfProctors(assessment);
  const { name, first_name, last_name } = assessment;
  if (!isThere(name) || !isThere(first_name) || !isThere(last_name)) return undefined;
  const first = foldName(first_name);
  const last = foldName(last_name);
  const marks = [`full ${foldName(name)}`, `both ${first} ${last}`];
  if (ties.first_name) marks.push(`first ${first}`);
  if (ties.last_name) marks.push(`last ${last}`);
  return marks;
}

function marksOfProctors({ results }: Assessment): readonly string[] | undefined {
  if (!isThere(results)) return undefined;
  const marks: string[] = [];
  for (const { proctor_id, proctor_name } of results) {
    if (!isThere(proctor_id) || !isThere(proctor_name)) return undefined;
    marks.push(`name ${foldName(proctor_name)}`, `id ${proctor_id}`);
  }
  return marks.length > 0 ? marks : ['nobody'];
}

function isThere<Value>(value: Value): value is NonNullable<Value> {
  return value !== null && value !== undefined;
}
