import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { brotliCompressSync } from 'node:zlib';
import type { Plugin } from 'esbuild';

const require = createRequire(import.meta.url);

/**
 * Modules of which the functions use next to nothing. Each is replaced by its used parts. undici's version is pinned
 * (docs/decisions/0003-undici-deep-import.md), and the scenario tests run the bundles.
 */
export const leftOut: Plugin = {
  name: 'left-out',
  setup(build) {
    // The client asks the partner over HTTP/1.1 (`allowH2: false`).
    build.onLoad({ filter: /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/ }, () => ({
      contents: `module.exports = () => { throw new Error('bundled without HTTP/2') }`,
    }));
    // Tables of all names of HTTP; undici's client reads two of them.
    build.onLoad({ filter: /undici[\\/]lib[\\/]llhttp[\\/]constants\.js$/ }, ({ path }) => {
      const { ERROR, TYPE } = require(path);
      return { contents: `module.exports = ${JSON.stringify({ ERROR, TYPE })}` };
    });
    // A quarter of the size. It is unpacked when the first connection is opened.
    build.onLoad({ filter: /undici[\\/]lib[\\/]llhttp[\\/]llhttp_simd-wasm\.js$/ }, ({ path }) => {
      const packed = brotliCompressSync(require(path)).toString('base64');
      return {
        contents: `module.exports = require('node:zlib').brotliDecompressSync(Buffer.from('${packed}', 'base64'))`,
      };
    });
    // The SDK tells AWS its version; nothing reads the other fields.
    build.onLoad({ filter: /@aws-sdk[\\/][^\\/]+[\\/]package\.json$/ }, ({ path }) => {
      const { version } = JSON.parse(readFileSync(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};
