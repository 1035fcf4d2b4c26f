import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { generatedFiles } from '../generated-files.ts';
import type { Release } from './problems.ts';

const packed = z.object({ files: z.array(z.object({ path: z.string(), size: z.int() })) });
/** npm 11 answers with a list; later versions answer with an object by the package's name. */
const packSchema = z.union([
  z.array(packed),
  z.record(z.string(), packed).transform(Object.values),
]);

/** The build is done, so that packing need not repeat it. */
const how = {
  encoding: 'utf8',
  env: { ...process.env, npm_config_ignore_scripts: 'true' },
  maxBuffer: 64 * 1024 * 1024,
  shell: process.platform === 'win32',
} as const;

/** Reads the facts of a built checkout. */
export function factsOf(root: string): Release {
  const text = (path: string) => {
    const file = join(root, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const answer = (command: string, ...args: readonly string[]) =>
    execFileSync(command, args, { ...how, cwd: root });
  const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
  const events = 'docs/events';
  const schemas = readdirSync(join(root, events)).filter((name) => name.endsWith('.schema.json'));
  const [tarball] = packSchema.parse(JSON.parse(answer('npm', 'pack', '--dry-run', '--json')));
  return {
    version: JSON.parse(text('package.json') ?? '{}').version,
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
    uncommitted: linesOf(answer('git', 'status', '--porcelain')).map((line) => line.slice(3)),
    tags: linesOf(answer('git', 'tag', '--no-contains', 'HEAD')),
    tarball: tarball?.files ?? [],
  };
}

/** Exports that lack their files or types, for each kind of module: two kept tools look for them. */
export function exportProblems(root: string): string[] {
  const tools = [
    ['publint', 'run', '--strict'],
    // The construct has no form for `require` and resolves by `import` alone.
    [
      'attw',
      '--pack',
      '.',
      '--profile',
      'node16',
      '--no-definitely-typed',
      '--exclude-entrypoints',
      'cdk',
    ],
  ] as const;
  return tools.flatMap(([tool, ...args]) => {
    const { status, stdout, stderr } = spawnSync(tool, args, { ...how, cwd: root });
    return status === 0 ? [] : [`${tool} finds:\n${stdout}${stderr}`];
  });
}
