import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The comments around the part of a page that is generated; the rest is written by hand. */
export interface GeneratedPart {
  readonly begin: string;
  readonly end: string;
}

/**
 * The page of this path with a new version of that part.
 *
 * @param made makes the part from its previous text
 * @throws Error if the page lacks one of the comments, or has them in the wrong order
 */
export function pageWithPart(
  path: string,
  { begin, end }: GeneratedPart,
  made: (before: string) => string,
): ReadonlyMap<string, string> {
  const page = readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8');
  const [before, rest, ...more] = page.split(begin);
  const [part, after, ...further] = rest?.split(end) ?? [];
  const isWhole = more.length + further.length === 0;
  if (before === undefined || part === undefined || after === undefined || !isWhole)
    throw new Error(`The page has to have once, in this order: ${begin} and ${end}`);
  return new Map([[path, `${before}${begin}\n\n${made(part)}\n\n${end}${after}`]]);
}
