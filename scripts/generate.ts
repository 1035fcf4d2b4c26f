/** `npm run generate`: writes the documents and the types that are made from the sources. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedFiles } from './generated-files.ts';
import './generate-types.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const [path, content] of generatedFiles()) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}
