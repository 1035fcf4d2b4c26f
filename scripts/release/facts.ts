import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { generatedFiles } from '../generated-files.ts';
import type { Release } from './problems.ts';

export const manifestSchema = z.looseObject({
  version: z.string(),
  private: z.boolean().default(false),
  repository: z.unknown().optional(),
  publishConfig: z
    .object({ access: z.string().default(''), provenance: z.boolean().default(false) })
    .prefault({}),
  bin: z.record(z.string(), z.string()),
  exports: z.record(z.string(), z.json()),
});
const lockSchema = z.object({ version: z.string() });
const packed = z.object({ files: z.array(z.object({ path: z.string(), size: z.int() })) });
/** npm 11 answers with a list; later versions answer with an object by the package's name. */
const packSchema = z.union([
  z.array(packed),
  z.record(z.string(), packed).transform(Object.values),
]);

/** Reads the facts of a built checkout. */
export function factsOf(root: string): Release {
  const text = (path: string) => {
    const file = join(root, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const json = (path: string): unknown => JSON.parse(text(path) ?? '{}');
  const linesOf = (command: string, ...args: readonly string[]) =>
    run(root, command, args)
      .split('\n')
      .filter((line) => line !== '');
  const events = 'docs/events';
  const schemas = readdirSync(join(root, events)).filter((name) => name.endsWith('.schema.json'));
  const [tarball] = packSchema.parse(
    JSON.parse(run(root, 'npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])),
  );
  return {
    manifest: manifestSchema.parse(json('package.json')),
    lockedVersion: lockSchema.parse(json('package-lock.json')).version,
    changelog: text('CHANGELOG.md') ?? '',
    today: Temporal.Now.plainDateISO(),
    contract: new Map(
      schemas.map((name) => [
        name,
        { current: text(`${events}/${name}`) ?? '', released: text(`${events}/released/${name}`) },
      ]),
    ),
    stale: [...generatedFiles()].flatMap(([path, content]) =>
      text(path) === content ? [] : [path],
    ),
    uncommitted: linesOf('git', 'status', '--porcelain').map((line) => line.slice(3)),
    tags: linesOf('git', 'tag', '--no-contains', 'HEAD'),
    tarball: tarball?.files ?? [],
  };
}

function run(cwd: string, command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} has failed: ${stderr}`);
  return stdout;
}
