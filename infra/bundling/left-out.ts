import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { brotliCompressSync } from 'node:zlib';
import type { Plugin } from 'esbuild';

const require = createRequire(import.meta.url);

/**
 * Modules that the functions load and use next to nothing of, each replaced by what they do use.
 * undici's version is pinned (docs/decisions/0003-undici-deep-import.md), and the scenario tests run
 * what is bundled.
 */
export const leftOut: Plugin = {
  name: 'left-out',
  setup(build) {
    // The partner is asked over HTTP/1.1 (`allowH2: false`).
    build.onLoad({ filter: /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/ }, () => ({
      contents: `module.exports = () => { throw new Error('bundled without HTTP/2') }`,
    }));
    // Tables of everything that HTTP has; undici's client reads two of them.
    build.onLoad({ filter: /undici[\\/]lib[\\/]llhttp[\\/]constants\.js$/ }, ({ path }) => {
      const { ERROR, TYPE } = require(path);
      return { contents: `module.exports = ${JSON.stringify({ ERROR, TYPE })}` };
    });
    // A quarter as large; unpacked when the first connection is opened.
    build.onLoad({ filter: /undici[\\/]lib[\\/]llhttp[\\/]llhttp_simd-wasm\.js$/ }, ({ path }) => {
      const packed = brotliCompressSync(require(path)).toString('base64');
      return {
        contents: `module.exports = require('node:zlib').brotliDecompressSync(Buffer.from('${packed}', 'base64'))`,
      };
    });
    // The SDK tells AWS its version; the rest of what npm knows of a package is of no use to anyone.
    build.onLoad({ filter: /@aws-sdk[\\/][^\\/]+[\\/]package\.json$/ }, ({ path }) => {
      const { version } = JSON.parse(readFileSync(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};
