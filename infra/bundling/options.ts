import type { BuildOptions } from 'esbuild';
import { leftOut } from './left-out.ts';

/** Each is a module of `lambda/` that exports `handler`. */
export const functionNames = ['poll', 'operate'] as const;

/** The folder of the assembly for source maps, a file for each function. It is not deployed. */
export const sourceMaps = 'source-maps';

/**
 * The options for a function: one minified ES module with the SDK inside, so that the version of the SDK is ours. The
 * external modules are never reached in Lambda; they would be a third of the bundle.
 */
export const bundleOptions = {
  bundle: true,
  minify: true,
  // Lambda's log names the class of an error.
  keepNames: true,
  legalComments: 'none',
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  external: [
    // Lambda puts credentials into the environment, where the SDK looks first. It never gets to these.
    '@aws-sdk/credential-provider-http',
    '@aws-sdk/credential-provider-ini',
    '@aws-sdk/credential-provider-login',
    '@aws-sdk/credential-provider-process',
    '@aws-sdk/credential-provider-sso',
    '@aws-sdk/credential-provider-web-identity',
    '@aws-sdk/nested-clients/*',
    '@aws-sdk/token-providers',
    '@smithy/credential-provider-imds',
    // Imported only by operations that stream, and in browsers.
    '@smithy/core/event-streams',
    'bowser',
    // undici requires these lazily: for machines without SIMD, and for bodies that are streams or forms.
    '*/llhttp-wasm.js',
    '../web/*',
  ],
  // As in Node's own build of undici, which leaves an experimental parser out.
  define: { esbuildDetection: 'true' },
  plugins: [leftOut],
  // undici is CommonJS and requires modules of Node, which an ES module cannot do without this line. The function would
  // not even load in Lambda.
  banner: {
    js: "import{createRequire as createRequireHere}from'node:module';const require=createRequireHere(import.meta.url);",
  },
  logLevel: 'error',
} as const satisfies BuildOptions;
