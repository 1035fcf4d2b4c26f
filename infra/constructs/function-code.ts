import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AssetHashType, DockerImage, Stage } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type functionNames, sourceMaps } from '../bundling/options.ts';

/** The checkout, or the `dist` of the package. */
const root = fileURLToPath(new URL('../../', import.meta.url));
const isPackage = import.meta.url.endsWith('.js');

/** A function of `lambda/`; or the sandbox of the demo, which is deployed from a checkout only. */
export type FunctionName = (typeof functionNames)[number] | 'sandbox';

/**
 * A function, bundled as infra/bundling/options.ts says: `index.handler` of the result. In the package,
 * the functions are bundled already (docs/decisions/0011-functions-in-the-package.md).
 */
export function functionCode(scope: Construct, name: FunctionName): lambda.Code {
  if (name === 'sandbox') return bundledNow(scope, name, 'local/partner-sandbox/function.ts');
  return isPackage
    ? lambda.Code.fromAsset(join(root, 'functions', name))
    : bundledNow(scope, name, `lambda/${name}.ts`);
}

/**
 * Bundles a module. The source map stays outside of the asset, for `npm run trace`: Node would load it at every start.
 */
function bundledNow(scope: Construct, name: string, module: string): lambda.Code {
  const entry = join(root, module);
  const map = join(Stage.of(scope)?.assetOutdir ?? '', sourceMaps, `${name}.mjs.map`);
  return lambda.Code.fromAsset(root, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // The image is never started, since `tryBundle` does the work.
      image: DockerImage.fromRegistry('none'),
      // Distinguishes the functions in the CDK's cache.
      command: [entry],
      local: {
        tryBundle(folder) {
          const program = join(root, 'infra/bundling/program.ts');
          const { status, error } = spawnSync(process.execPath, [program, entry, folder, map], {
            cwd: root,
            stdio: ['ignore', 'inherit', 'inherit'],
          });
          if (status !== 0) throw new Error(`${name} could not be bundled`, { cause: error });
          return true;
        },
      },
    },
  });
}
