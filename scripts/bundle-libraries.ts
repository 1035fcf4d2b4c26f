/**
 * Part of `npm run build`: replaces modules by bundles that contain the packages they import, so that installing ours
 * does not install those. Our own dependencies stay outside.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { thirdPartyNotices } from './notices/third-party-notices.ts';

const libraries = ['ops/mcp/library', 'console/library'];

const [dist = 'dist'] = process.argv.slice(2);
const root = fileURLToPath(new URL('..', import.meta.url));
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

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
  const outfile = join(dist, `${library}.js`);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [`${library}.ts`],
    outfile,
    allowOverwrite: true,
    bundle: true,
    minify: true,
    legalComments: 'none',
    platform: 'node',
    target: 'node22',
    format: 'esm',
    external: Object.keys(dependencies).flatMap((name) => [name, `${name}/*`]),
    plugins: [withoutValidator],
    metafile: true,
    logLevel: 'error',
  });
  // These files describe the module that the bundle has replaced.
  for (const left of ['js.map', 'd.ts']) rmSync(join(dist, `${library}.${left}`), { force: true });
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const notices = thirdPartyNotices(files, 'library.js contains');
  writeFileSync(join(dist, dirname(library), 'THIRD-PARTY-NOTICES.txt'), notices);
}
