import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Licences that let their text be left out. */
const asksForNoText = new Set(['0BSD', 'MIT-0', 'Unlicense']);

/** Built into undici, which ships its code without its licence. */
const llhttp = {
  name: 'llhttp, in undici',
  texts: [readFileSync(join(import.meta.dirname, 'llhttp.txt'), 'utf8')],
};

/**
 * The licences of the packages that are bundled: each text once, below the names of its packages.
 *
 * @param bundled files of the bundles, as esbuild's metafile names them
 * @throws Error if a package has no licence text, and may not be without
 */
export function thirdPartyNotices(bundled: Iterable<string>): string {
  const files = [...bundled];
  const folders = new Set(files.flatMap((file) => packageFolder(file) ?? []));
  const packages = [...folders].map(licensed);
  if (files.some((file) => file.includes('undici/lib/llhttp/'))) packages.push(llhttp);

  const namesOf = new Map<string, Set<string>>();
  for (const { name, texts } of packages)
    for (const text of texts) namesOf.set(text, (namesOf.get(text) ?? new Set()).add(name));
  const sections = [...namesOf].map(
    ([text, names]) => `${[...names].sort().join('\n')}\n\n${text}`,
  );
  return [intro, ...sections.sort()].join(`\n${'-'.repeat(80)}\n\n`);
}

const intro = 'The functions contain parts of these packages, minified.\n';

/** `node_modules/@scope/name` of a file in it; nothing of our own files. */
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
