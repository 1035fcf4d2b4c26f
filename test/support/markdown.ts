/** Reads enough of a page for its sentences and its commands. */

const fences = /^( *)```(\w*)\n(.*?)\n\1```$/gms;
/** The part between a script's two comments. Notes of the runbook in it are by hand. */
const generated = /<!-- [^>]*[Gg]enerated by .*?(<!-- End of [^>]* -->|$)/gs;

/** The page without its blocks of code. */
const withoutCode = (page: string) => page.replace(fences, '');

/** Blocks of code, and the languages that they name. */
export function blocksOf(page: string) {
  return [...page.matchAll(fences)].map(([, , language = '', code = '']) => ({ language, code }));
}

/** The text without links, emphasis and the marks of code. */
function textOf(prose: string): string {
  return prose
    .replace(/<!--.*?-->/gs, '')
    .replace(/<[^>\n]+>/g, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*`]/g, '');
}

/**
 * The text by hand, which excludes code and generated parts and includes the notes within these.
 */
export function writtenByHand(page: string): string {
  const notes = (part: string) =>
    [...part.matchAll(/<!-- By hand: -->(.*?)(?=^### |<!-- End of)/gms)]
      .map(([, note = '']) => note)
      .join('\n');
  return withoutCode(page.replace(generated, notes)).replace(/<[^>\n]+>/g, '');
}

/** Paragraphs and items of lists; a cell of a table counts as one, a heading as none. */
function passagesOf(prose: string): string[] {
  return textOf(prose)
    .split(/\n\s*\n|\n(?=\s*(?:[-|]|\d+\.) )/)
    .flatMap((passage) => (/^\s*\|/.test(passage) ? passage.split('|') : [passage]))
    .map((passage) => passage.replace(/^\s*(?:[-*]|\d+\.|#+ .*\n?)\s*/, ''))
    .map((passage) => passage.replace(/\s+/g, ' ').trim())
    .filter((passage) => /[\p{L}\p{N}]/u.test(passage) && !/^#/.test(passage));
}

const abbreviations = /\b(e\.g|i\.e|etc|cf)\./g;

/** A sentence ends with `.`, `?`, `!`, or a `:` before a new beginning, or with its passage. */
export function sentencesOf(prose: string): string[] {
  return passagesOf(prose)
    .flatMap((passage) =>
      passage.replace(abbreviations, '$1').split(/(?<=[.?!:][)"']*) +(?=["'(]*[\p{Lu}\p{N}…])/u),
    )
    .filter((sentence) => wordsIn(sentence) > 0);
}

export function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/**
 * Average number of words in a sentence. Cells and items of a few words do not count as sentences.
 */
export function sentenceLength(prose: string): number {
  const lengths = sentencesOf(prose)
    .filter((sentence) => /[.?!:][)"']*$/.test(sentence))
    .map(wordsIn);
  return lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
}
