// Runs after `npm ci`: writes the types of the configuration, with the Node of the devDependencies. Without them, the
// host's own Node may not run TypeScript, and nobody there compiles.
// Plain JavaScript, because any Node runs it.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const node = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
// npm puts that Node first in the PATH, so it is the one that runs this.
if (existsSync(node) || existsSync(`${node}.cmd`)) await import('./generate-types.ts');
