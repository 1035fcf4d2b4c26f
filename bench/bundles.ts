import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { bundleOptions } from '../infra/bundling/options.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/** The least that a function with these three services costs. */
const threeClients = `
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
  import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
  import { SNSClient } from '@aws-sdk/client-sns';
  export const clients = [new DynamoDBClient({}), new SecretsManagerClient({}), new SNSClient({})];`;

const root = fileURLToPath(new URL('..', import.meta.url));
const poll = join(root, 'lambda/poll.ts');

export interface BundleFile {
  readonly url: string;
  readonly bytes: number;
}

export interface Bundles {
  /** As in the stack. */
  readonly poll: BundleFile;
  /** The three bare clients, without any exclusion. */
  readonly clients: BundleFile;
  /** The three bare clients, with the stack's exclusions. */
  readonly barest: BundleFile;
}

export async function withBundles<Result>(
  use: (bundles: Bundles) => Promise<Result>,
): Promise<Result> {
  return await inTemporaryFolder(async (folder) => {
    const built = async (name: string, options: BuildOptions): Promise<BundleFile> => {
      const outfile = join(folder, `${name}.mjs`);
      await build({ ...bundleOptions, ...options, outfile });
      return { url: pathToFileURL(outfile).href, bytes: (await stat(outfile)).size };
    };
    const stdin = { contents: threeClients, resolveDir: root };
    return await use({
      poll: await built('poll', { entryPoints: [poll] }),
      clients: await built('clients', { stdin, external: [], plugins: [] }),
      barest: await built('barest', { stdin }),
    });
  });
}
