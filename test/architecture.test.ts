import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

const filesOf = (...folders: string[]) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );

interface Import {
  readonly from: string;
  readonly to: string;
  readonly loads: boolean;
}

/** Each import of one of our files by another. */
const importsOf = (...folders: string[]): Import[] =>
  filesOf(...folders).flatMap((from) =>
    [...textOf(from).matchAll(/^(import|export)( type)? [^;]*?from '(\.[^']+)';/gms)].map(
      ([, , type, path = '']) => ({
        from,
        to: normalize(join(dirname(from), path)),
        loads: type === undefined,
      }),
    ),
  );
const shown = (imports: readonly Import[]) => imports.map(({ from, to }) => `${from} → ${to}`);

/** Imports of files that import themselves through others. Empty if each chain of imports ends. */
function endless(imports: readonly Import[]): readonly Import[] {
  const importing = new Set(imports.map(({ from }) => from));
  const left = imports.filter(({ to }) => importing.has(to));
  return left.length === imports.length ? left : endless(left);
}

const base = `lambda/(${[
  ...['errors', 'condition-table', 'access-denied', 'write-each', 'clock', 'names'],
  ...['json-text', 'english'],
].join('|')})\\.ts|lambda/(decisions|events)/.*`;
const contract =
  'lambda/commands/(contract|shapes|words|lives|events|prove|replay|status)\\.ts|lambda/events/event\\.ts';
const ofCommandLine = `${contract}|infra/output-names\\.ts|local/instance\\.ts|lambda/partner/client\\.ts`;

describe('arrows point one way', () => {
  it('no file imports itself through others', () => {
    const all = importsOf('lambda', 'infra', 'consumer', 'ops', 'console', 'local');
    expect(shown(endless(all.filter(({ loads }) => loads)))).toEqual([]);
  });

  it.each(['lambda', 'infra'])('no file of %s, not even for a type', (folder) => {
    expect(shown(endless(importsOf(folder)))).toEqual([]);
  });

  it.each<[folder: string, needs: 'loads' | 'names', outside: string]>([
    ['lambda/decisions', 'loads', 'nothing'],
    ['lambda/decisions', 'names', 'lambda/(errors\\.ts|events/.*)'],
    // Interfaces load nothing.
    ['lambda/ports', 'loads', 'nothing'],
    ['lambda/events', 'loads', 'nothing'],
    ['lambda/ledger', 'loads', `${base}|lambda/ports/.*`],
    ['lambda/partner', 'loads', base],
    ['lambda/delivery', 'loads', base],
    ['consumer', 'loads', 'lambda/(errors|clock|english)\\.ts|lambda/events/.*'],
    // Commands go through the ports of the tick.
    [
      'lambda/commands',
      'names',
      '(?!lambda/(partner|ledger|delivery)/|lambda/tick/(?!time|tick|report|parts)).*',
    ],
    // Deployed files know nothing that runs locally.
    ['infra', 'names', 'lambda/(names|errors|condition-table)\\.ts|cdk\\.json'],
    ['lambda', 'names', 'package\\.json'],
    [
      'ops',
      'loads',
      `${ofCommandLine}|lambda/(names|errors|condition-table|clock|describe-error|english)\\.ts`,
    ],
    ['ops/render', 'loads', '(?!ops/).*'],
    ['ops', 'names', '(?!console/).*'],
    ['console', 'loads', `ops/.*|lambda/(errors|condition-table|clock|json-text)\\.ts|${contract}`],
  ])('%s %s of the files outside it only: %s', (folder, needs, outside) => {
    const allowed = new RegExp(`^(${folder}/.*|${outside})$`);
    const needed = importsOf(folder).filter(({ loads }) => loads || needs === 'names');
    expect(shown(needed.filter(({ to }) => !allowed.test(to)))).toEqual([]);
  });
});

/** The files that import a package, perhaps a part of it. */
const importing = (isMeant: (specifier: string) => boolean, ...folders: string[]) =>
  filesOf(...folders).filter((file) =>
    [...textOf(file).matchAll(/from '([^.'][^']*)'/g)].some(([, name = '']) => isMeant(name)),
  );

it('each package that installers should not need is named in one module, which the build bundles', () => {
  const unneeded = Object.keys(JSON.parse(textOf('package.json')).devDependencies);
  const isOf = (specifier: string) =>
    unneeded.some((name) => specifier === name || specifier.startsWith(`${name}/`));
  const named = importing(isOf, 'ops', 'console', 'consumer');
  expect(named).toEqual(['ops/mcp/library.ts', 'console/library.ts']);
  const [bundled] = /const libraries = \[.*?\]/s.exec(textOf('scripts/bundle-libraries.ts')) ?? [];
  for (const file of named) expect(bundled).toContain(`'${file.replace('.ts', '')}'`);
});

it('bundled files use zod/mini: the whole of zod adds 60 KB', () => {
  expect(importing((specifier) => specifier === 'zod', 'lambda', 'consumer')).toEqual([]);
  // As a value, `z.core` keeps every part of zod in the bundle, with texts in all languages: 360 KB.
  const whole = filesOf('lambda', 'consumer').filter((file) =>
    /instanceof z\.core\.|\bz\.core\.(?!\$)/.test(textOf(file)),
  );
  expect(whole).toEqual([]);
});
