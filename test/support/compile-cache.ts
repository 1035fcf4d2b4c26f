import { fileURLToPath } from 'node:url';

/**
 * The folder in which processes of tests keep compiled code (`NODE_COMPILE_CACHE`). More than half
 * of a start is compiling.
 */
export const compileCache = fileURLToPath(
  new URL('../../node_modules/.cache/compiled', import.meta.url),
);
