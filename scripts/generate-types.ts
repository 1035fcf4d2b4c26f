/** Writes the types of the configuration. Git does not have them: `scripts/ensure-installed.mjs` keeps them fresh. */
import { writeFileSync } from 'node:fs';
import { configurationTypes } from './configuration-types.ts';

for (const [path, content] of configurationTypes())
  writeFileSync(new URL(`../${path}`, import.meta.url), content);
