import { dirname, join, normalize } from 'node:path/posix';

/** A file, and its distance from a changed file in imports. */
export interface Near {
  readonly file: string;
  readonly steps: number;
}

/**
 * The files that name a file. That is more than imports: programs that are started, worker threads, pages and approved
 * outputs are named, too.
 *
 * @param texts path from the root → content
 * @returns path → the files that name it
 */
export function namedBy(texts: ReadonlyMap<string, string>): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>();
  const add = (named: string, by: string) => {
    if (!texts.has(named) || named === by) return;
    users.set(named, (users.get(named) ?? new Set()).add(by));
  };
  for (const [file, text] of texts) {
    if (!/\.(ts|mjs)$/.test(file)) continue;
    for (const [, name = ''] of text.matchAll(/['"`]([^'"`\s]+\.\w+)['"`]/g)) {
      add(join(dirname(file), name), file);
      add(normalize(name), file);
    }
  }
  // The bundler gets names without folder and ending.
  for (const entry of ['poll', 'operate'])
    add(`lambda/${entry}.ts`, 'infra/constructs/function-code.ts');
  return users;
}

/** Everything that a change can reach, the nearest first. */
export function nearest(
  changed: readonly string[],
  users: ReadonlyMap<string, ReadonlySet<string>>,
): Near[] {
  const steps = new Map(changed.map((file) => [file, 0]));
  // The map grows during the loop, which ends when nothing new is reached.
  for (const [file, at] of steps)
    for (const user of users.get(file) ?? []) if (!steps.has(user)) steps.set(user, at + 1);
  return [...steps].map(([file, at]) => ({ file, steps: at }));
}
