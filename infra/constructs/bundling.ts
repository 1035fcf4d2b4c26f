import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AssetHashType, DockerImage, Stage } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { sourceMaps } from '../bundling/options.ts';

const projectRoot = fileURLToPath(new URL('../../', import.meta.url));

/**
 * A function of `lambda/`, bundled as infra/bundling/options.ts says: `index.handler` of the result.
 * Its source map is kept aside, for `npm run trace`: in the asset it would be loaded at every start.
 */
export function bundled(scope: Construct, name: 'poll' | 'operate' | 'fan-out'): lambda.Code {
  const entry = join(projectRoot, 'lambda', `${name}.ts`);
  const map = join(Stage.of(scope)?.assetOutdir ?? '', sourceMaps, `${name}.mjs.map`);
  return lambda.Code.fromAsset(projectRoot, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never started: what is bundled here does not need it.
      image: DockerImage.fromRegistry('none'),
      // Tells the CDK's cache one function from another.
      command: [entry],
      local: {
        tryBundle(folder) {
          const program = join(projectRoot, 'infra/bundling/program.ts');
          const { status, error } = spawnSync(process.execPath, [program, entry, folder, map], {
            cwd: projectRoot,
            stdio: ['ignore', 'inherit', 'inherit'],
          });
          if (status !== 0) throw new Error(`${name} could not be bundled`, { cause: error });
          return true;
        },
      },
    },
  });
}
