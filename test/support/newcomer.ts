import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * Somebody's own project: the package as it is built and packed is in its `node_modules`, and nothing
 * else but what it is given.
 */
export class Newcomer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'newcomer-'));
  readonly folder = join(this.#folder, 'project');
  readonly installed = join(this.folder, 'node_modules/certification-notifier');

  /** @param functions whether the package gets the bundled functions, which take a moment */
  constructor({ functions = false } = {}) {
    const source = join(this.#folder, 'source');
    mkdirSync(source);
    // `npm run check` is there for our own types.
    const build = ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', join(source, 'dist')];
    this.#build('tsc', build);
    if (functions) this.#build('node', ['scripts/bundle-functions.ts', join(source, 'dist')]);
    cpSync(join(root, 'package.json'), join(source, 'package.json'));
    cpSync(join(root, 'ops/launcher.mjs'), join(source, 'ops/launcher.mjs'));
    this.run('npm', ['pack', '--silent'], source);
    const [packed = ''] = readdirSync(source).filter((name) => name.endsWith('.tgz'));
    mkdirSync(this.installed, { recursive: true });
    const unpack = ['-xzf', join(source, packed), '-C', this.installed, '--strip-components=1'];
    this.run('tar', unpack, source);
    this.write('package.json', '{"type": "module"}');
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  run(command: string, args: readonly string[], cwd = this.folder, variables = {}) {
    const bin = join(root, 'node_modules/.bin');
    const PATH = `${bin}${delimiter}${process.env.PATH}`;
    const env = { ...process.env, PATH, ...variables };
    return spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  }

  /** From the checkout, so that nothing is fetched. */
  install(...dependencies: readonly string[]): void {
    for (const dependency of dependencies) {
      const place = join(this.folder, 'node_modules', dependency);
      mkdirSync(dirname(place), { recursive: true });
      rmSync(place, { force: true });
      symlinkSync(join(root, 'node_modules', dependency), place, 'junction');
    }
  }

  uninstall(dependency: string): void {
    rmSync(join(this.folder, 'node_modules', dependency), { recursive: true, force: true });
  }

  write(name: string, content: string): void {
    writeFileSync(join(this.folder, name), content);
  }

  /** Writes and runs a program. */
  node(file: string, source: string) {
    this.write(file, source);
    return this.run('node', [file]);
  }

  /** What TypeScript objects to. */
  typeErrors(files: Readonly<Record<string, string>>): string {
    this.install('@types/node');
    for (const [name, source] of Object.entries(files)) this.write(name, source);
    const flags = '--noEmit --strict --skipLibCheck --module nodenext --types node'.split(' ');
    return this.run('tsc', [...flags, ...Object.keys(files)]).stdout;
  }

  #build(command: string, args: readonly string[]): void {
    const { status, stdout, stderr } = this.run(command, args, root);
    if (status !== 0) throw new Error(`${command} has failed: ${stdout}${stderr}`);
  }
}
