import { fileURLToPath } from 'node:url';

/**
 * For processes that tests start: where Node keeps what it has compiled (`NODE_COMPILE_CACHE`). More
 * than half of what a start takes is compiling.
 */
export const compileCache = fileURLToPath(
  new URL('../../node_modules/.cache/compiled', import.meta.url),
);
