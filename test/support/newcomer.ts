import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { compileCache } from './compile-cache.ts';
import { ended } from './running.ts';

const root = join(import.meta.dirname, '../..');

const PATH = `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`;
const common = { ...process.env, PATH, NODE_COMPILE_CACHE: compileCache };
const environment = (variables: object) => ({ ...common, ...variables });

function run(command: string, args: readonly string[], cwd: string, variables = {}) {
  return spawnSync(command, args, { cwd, env: environment(variables), encoding: 'utf8' });
}

/** The package, built and packed, which takes seconds. */
export class PackedPackage {
  readonly #folder = fs.mkdtempSync(join(tmpdir(), 'package-'));
  readonly file: string;

  constructor() {
    // `npm run check` checks our own types. Several threads would occupy more of two processors.
    const options = ['--noCheck', '--singleThreaded', '--outDir', join(this.#folder, 'dist')];
    this.#build('tsc', ['-p', 'tsconfig.build.json', ...options]);
    for (const script of ['bundle-functions.ts', 'bundle-libraries.ts'])
      this.#build('node', [`scripts/${script}`, join(this.#folder, 'dist')]);
    for (const part of ['package.json', 'ops/launcher.mjs', 'docs'])
      fs.cpSync(join(root, part), join(this.#folder, part), { recursive: true });
    // It is built already.
    this.#build('npm', ['pack', '--silent', '--ignore-scripts'], this.#folder);
    const [packed = ''] = fs.readdirSync(this.#folder).filter((name) => name.endsWith('.tgz'));
    this.file = join(this.#folder, packed);
  }

  remove(): void {
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }

  #build(command: string, args: readonly string[], cwd = root): void {
    const { status, stdout, stderr } = run(command, args, cwd);
    if (status !== 0) throw new Error(`${command} has failed: ${stdout}${stderr}`);
  }
}

/**
 * A subscriber's own project: it has the package in its `node_modules`, and only the files that it
 * is given.
 */
export class Newcomer {
  readonly folder = fs.mkdtempSync(join(tmpdir(), 'newcomer-'));
  readonly installed = join(this.folder, 'node_modules/certification-notifier');

  constructor({ file }: PackedPackage) {
    fs.mkdirSync(this.installed, { recursive: true });
    this.run('tar', ['-xzf', file, '-C', this.installed, '--strip-components=1']);
    this.write('package.json', '{"type": "module"}');
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  run(command: string, args: readonly string[], variables = {}) {
    return run(command, args, this.folder, variables);
  }

  /** Runs a program that asks this process for answers meanwhile. */
  runBeside(command: string, args: readonly string[], { input = '', variables = {} }) {
    const child = spawn(command, args, { cwd: this.folder, env: environment(variables) });
    child.stdin.end(input);
    return ended(child);
  }

  /** Installs from the checkout, so nothing is fetched. */
  install(...dependencies: readonly string[]): void {
    for (const dependency of dependencies) {
      const place = join(this.folder, 'node_modules', dependency);
      fs.mkdirSync(dirname(place), { recursive: true });
      fs.rmSync(place, { force: true });
      fs.symlinkSync(join(root, 'node_modules', dependency), place, 'junction');
    }
  }

  uninstall(dependency: string): void {
    fs.rmSync(join(this.folder, 'node_modules', dependency), { recursive: true, force: true });
  }

  write(name: string, content: string): void {
    fs.writeFileSync(join(this.folder, name), content);
  }

  /** Writes and runs a program. */
  node(file: string, source: string) {
    this.write(file, source);
    return this.run('node', [file]);
  }

  /** The errors that TypeScript reports. */
  typeErrors(files: Readonly<Record<string, string>>, how = '--skipLibCheck --module nodenext') {
    this.install('@types/node');
    for (const [name, source] of Object.entries(files)) this.write(name, source);
    const flags = `--noEmit --singleThreaded --strict --types node ${how}`;
    return this.run('tsc', [...flags.split(' '), ...Object.keys(files)]).stdout;
  }
}
