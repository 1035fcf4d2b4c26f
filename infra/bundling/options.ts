import type { BuildOptions } from 'esbuild';
import { leftOut } from './left-out.ts';

/** Each is a module of `lambda/` that exports `handler`. */
export const functionNames = ['poll', 'operate', 'fan-out'] as const;

/** A folder of the assembly, with one file a function. Nothing of it is deployed. */
export const sourceMaps = 'source-maps';

/**
 * How a function is bundled: one minified ES module with the SDK inside, so that its version is
 * ours. What stays out is never reached in Lambda, and would be a third of the bundle.
 */
export const bundleOptions = {
  bundle: true,
  minify: true,
  legalComments: 'none',
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  external: [
    // Lambda puts credentials into the environment, where the SDK looks first; these would come next.
    '@aws-sdk/credential-provider-http',
    '@aws-sdk/credential-provider-ini',
    '@aws-sdk/credential-provider-login',
    '@aws-sdk/credential-provider-process',
    '@aws-sdk/credential-provider-sso',
    '@aws-sdk/credential-provider-web-identity',
    '@aws-sdk/nested-clients/*',
    '@aws-sdk/token-providers',
    '@smithy/credential-provider-imds',
    // Imported only by operations that stream, and where there is a browser.
    '@smithy/core/event-streams',
    'bowser',
    // undici requires these lazily: for machines without SIMD, and for bodies that are streams or forms.
    '*/llhttp-wasm.js',
    '../web/*',
  ],
  // What Node's own build of undici says of itself, which leaves an experimental parser out.
  define: { esbuildDetection: 'true' },
  plugins: [leftOut],
  // undici is CommonJS and requires Node's own modules, which an ES module cannot without this: the
  // function would not load in Lambda at all.
  banner: {
    js: "import{createRequire as createRequireHere}from'node:module';const require=createRequireHere(import.meta.url);",
  },
  logLevel: 'error',
} as const satisfies BuildOptions;
