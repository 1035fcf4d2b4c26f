import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Licences that do not require their text. */
const asksForNoText = new Set(['0BSD', 'MIT-0', 'Unlicense']);

/** Code that packages contain without its licence. */
const builtIn = [
  { within: 'undici/lib/llhttp/', name: 'llhttp, in undici', file: 'llhttp.txt' },
  {
    within: '@modelcontextprotocol/server/dist/src-',
    name: 'content-type, in @modelcontextprotocol/server',
    file: 'content-type.txt',
  },
];

/**
 * The licences of the bundled packages: each text once, below the names of its packages.
 *
 * @param bundled the files of the bundles, as esbuild's metafile names them
 * @param whole begins a sentence
 * @throws Error if a package has no licence text, but its licence requires one
 */
export function thirdPartyNotices(
  bundled: Iterable<string>,
  whole = 'The functions contain',
): string {
  const files = [...bundled];
  const folders = new Set(files.flatMap((file) => packageFolder(file) ?? []));
  const packages = [...folders].map(licensed);
  for (const { within, name, file } of builtIn)
    if (files.some((one) => one.includes(within)))
      packages.push({ name, texts: [readFileSync(join(import.meta.dirname, file), 'utf8')] });

  const namesOf = new Map<string, Set<string>>();
  for (const { name, texts } of packages)
    for (const text of texts) namesOf.set(text, (namesOf.get(text) ?? new Set()).add(name));
  const sections = [...namesOf].map(
    ([text, names]) => `${[...names].sort().join('\n')}\n\n${text}`,
  );
  const intro = `${whole} parts of these packages.\n`;
  return [intro, ...sections.sort()].join(`\n${'-'.repeat(80)}\n\n`);
}

/** `node_modules/@scope/name` of a file in it; undefined for our own files. */
function packageFolder(file: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
}

function licensed(folder: string): { name: string; texts: string[] } {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)\b/i.test(file))
    .map((file) => `${readFileSync(join(folder, file), 'utf8').trim()}\n`);
  if (texts.length > 0) return { name: `${name} ${version}`, texts };
  if (!asksForNoText.has(license))
    throw new Error(
      `${name} is bundled and has no licence text (${license}): put its text beside scripts/notices/llhttp.txt, or bundle another package.`,
    );
  return { name: `${name} ${version}`, texts: [`Licence: ${license}\n`] };
}
