/** Part of `npm run build`: bundles the functions as they are deployed, for apps that import the construct. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../infra/bundling/bundle.ts';
import { functionNames, sourceMaps } from '../infra/bundling/options.ts';
import { thirdPartyNotices } from './notices/third-party-notices.ts';

const [dist = 'dist'] = process.argv.slice(2);

const bundled = await Promise.all(
  functionNames.map((name) =>
    bundle(
      join('lambda', `${name}.ts`),
      join(dist, 'functions', name),
      join(dist, sourceMaps, `${name}.mjs.map`),
    ),
  ),
);
writeFileSync(join(dist, 'functions/THIRD-PARTY-NOTICES.txt'), thirdPartyNotices(bundled.flat()));
