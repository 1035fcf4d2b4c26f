/**
 * Part of `npm run build`: replaces modules by bundles that contain the packages they import, so that installing ours
 * does not install those. Our own dependencies stay outside. The parts for subscribers get a second form, for `require`.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { thirdPartyNotices } from './notices/third-party-notices.ts';

const libraries = ['ops/mcp/library', 'console/library'];

const [dist = 'dist'] = process.argv.slice(2);
const root = fileURLToPath(new URL('..', import.meta.url));
const dependencies = Object.keys(
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies,
);
const withPaths = (names: readonly string[]) => names.flatMap((name) => [name, `${name}/*`]);

/** @returns the files that the bundle has parts of */
async function bundled(options: BuildOptions): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    keepNames: true,
    legalComments: 'none',
    platform: 'node',
    target: 'node22',
    logLevel: 'error',
    ...options,
    metafile: true,
  });
  return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
}

const writeNotices = (folder: string, files: readonly string[], whole: string) =>
  writeFileSync(join(dist, folder, 'THIRD-PARTY-NOTICES.txt'), thirdPartyNotices(files, whole));

/** Half of the bundle, and only for answers to questions that our server does not ask. */
const withoutValidator: Plugin = {
  name: 'without-validator',
  setup({ onLoad }) {
    onLoad(
      { filter: /@modelcontextprotocol[\\/]server[\\/]dist[\\/]ajvProvider-.*\.mjs$/ },
      () => ({
        contents:
          'export const n = class { getValidator() { throw new Error("bundled without it"); } };',
      }),
    );
  },
};

for (const library of libraries) {
  const files = await bundled({
    entryPoints: [`${library}.ts`],
    outfile: join(dist, `${library}.js`),
    allowOverwrite: true,
    minify: true,
    format: 'esm',
    external: withPaths(dependencies),
    plugins: [withoutValidator],
  });
  // These files describe the module that the bundle has replaced.
  for (const left of ['js.map', 'd.ts']) rmSync(join(dist, `${library}.${left}`), { force: true });
  writeNotices(dirname(library), files, 'library.js contains');
}

/** Each error has one class in all entries: a subscriber asks with `instanceof`. */
const errorsOfIndex: Plugin = {
  name: 'errors-of-index',
  setup({ onResolve }) {
    onResolve({ filter: /[\\/]errors\.ts$/ }, () => ({ path: './index.cjs', external: true }));
  },
};

/** The only dependency of these that is an ES module and nothing else. */
const esModule = 'temporal-polyfill';

// Where `require` loads no ES modules, as in Lambda functions: docs/decisions/0035-bundles-for-require.md.
for (const entry of ['consumer/index', 'consumer/dynamodb', 'lambda/partner/index']) {
  const files = await bundled({
    entryPoints: [`${entry}.ts`],
    outfile: join(dist, `${entry}.cjs`),
    format: 'cjs',
    external: withPaths(dependencies.filter((name) => name !== esModule)),
    alias: { 'zod/v4/locales/en.js': 'zod/v4/locales/en.cjs' },
    plugins: entry === 'consumer/dynamodb' ? [errorsOfIndex] : [],
  });
  // The types are the same; a declaration's ending says of which kind its module is.
  writeFileSync(join(dist, `${entry}.d.cts`), `export * from './${basename(entry)}.js';\n`);
  if (files.some((file) => file.includes('node_modules')))
    writeNotices(dirname(entry), files, 'index.cjs contains');
}
