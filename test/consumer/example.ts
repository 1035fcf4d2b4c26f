import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { compileCache } from '../support/compile-cache.ts';

const root = join(import.meta.dirname, '../..');
const PATH = `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`;

/**
 * A folder with an example as a newcomer would have it. The example is copied beside a
 * `node_modules` with the package (here: its sources) and the example's other dependencies.
 */
async function copyOfExample(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  const modules = join(folder, 'node_modules');
  const installed = join(modules, 'certification-notifier');
  await mkdir(installed, { recursive: true });
  const link = (part: string, place: string) => symlink(join(root, part), place, 'junction');
  for (const part of ['consumer', 'lambda', 'ops']) await link(part, join(installed, part));
  await link('node_modules/@aws-sdk', join(modules, '@aws-sdk'));
  const exports = {
    './consumer': './consumer/index.ts',
    './consumer/dynamodb': './consumer/dynamodb.ts',
    './package.json': './package.json',
  };
  await writeFile(join(installed, 'package.json'), JSON.stringify({ type: 'module', exports }));
  await cp(join(root, 'examples', name), folder, {
    recursive: true,
    filter: (source) => !source.endsWith('node_modules'),
  });
  return folder;
}

/** A program and its output. */
export class Program implements AsyncDisposable {
  readonly [Symbol.asyncDispose] = () => this.end();
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #folder: string | undefined;
  #heard = Promise.withResolvers<void>();

  constructor(child: ChildProcess, folder?: string) {
    this.#child = child;
    this.#folder = folder;
    const hear = (line: string) => {
      this.lines.push(line);
      this.#heard.resolve();
      this.#heard = Promise.withResolvers();
    };
    for (const stream of [child.stdout, child.stderr])
      if (stream) createInterface({ input: stream }).on('line', hear);
    child.on('close', (code) => hear(`(ended with ${code})`));
  }

  /** Starts an example in a copy of its folder. */
  static async start(
    example: string,
    environment: Record<string, string>,
    [command, ...args]: readonly [string, ...string[]] = ['npm', 'start', '--silent'],
  ): Promise<Program> {
    const cwd = await copyOfExample(example);
    const env = { ...process.env, NODE_COMPILE_CACHE: compileCache, ...environment, PATH };
    // It leads a group, so npm, its shell and the program can be ended together.
    const how = {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    } satisfies SpawnOptions;
    return new Program(spawn(command, args, how), cwd);
  }

  /** The first matching line, written already or yet to come. */
  async line(pattern: RegExp, from = 0): Promise<string> {
    for (let next = from; ; next += 1) {
      while (this.lines[next] === undefined) await this.#heard.promise;
      const line = this.lines[next] ?? '';
      if (pattern.test(line)) return line;
      if (line.startsWith('(ended')) throw new Error(`It ended:\n${this.lines.join('\n')}`);
    }
  }

  /** Ends it as a person or a container's host would. */
  async end(): Promise<void> {
    const { exitCode, signalCode, pid } = this.#child;
    if (exitCode === null && signalCode === null && pid !== undefined) {
      const closed = once(this.#child, 'close');
      process.kill(-pid, 'SIGTERM');
      await closed;
    }
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}
