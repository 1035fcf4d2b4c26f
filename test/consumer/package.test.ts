import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { event } from './events.ts';

// The package as it is built and packed, in a folder that has nothing else but what it is given.
const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'package-'));
const subscriber = join(folder, 'subscriber');
const installed = join(subscriber, 'node_modules/certification-notifier');

function run(command: string, args: string[], cwd: string) {
  const bin = join(root, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  return spawnSync(command, args, { cwd, env, encoding: 'utf8' });
}

function install(dependency: string): void {
  const place = join(subscriber, 'node_modules', dependency);
  mkdirSync(dirname(place), { recursive: true });
  rmSync(place, { force: true });
  symlinkSync(join(root, 'node_modules', dependency), place, 'junction');
}

function node(file: string, source: string) {
  writeFileSync(join(subscriber, file), source);
  return run('node', [file], subscriber);
}

/** What TypeScript objects to, as a subscriber would have it check. */
function typeErrors(files: Record<string, string>): string {
  for (const dependency of ['@types/node', '@aws-sdk/client-dynamodb']) install(dependency);
  for (const [name, source] of Object.entries(files)) writeFileSync(join(subscriber, name), source);
  const flags = '--noEmit --strict --skipLibCheck --module nodenext --types node'.split(' ');
  return run('tsc', [...flags, ...Object.keys(files)], subscriber).stdout;
}

beforeAll(() => {
  const source = join(folder, 'source');
  mkdirSync(source);
  run('tsc', ['-p', 'tsconfig.build.json', '--outDir', join(source, 'dist')], root);
  cpSync(join(root, 'package.json'), join(source, 'package.json'));
  run('npm', ['pack', '--silent'], source);
  const [packed = ''] = readdirSync(source).filter((name) => name.endsWith('.tgz'));
  mkdirSync(installed, { recursive: true });
  run('tar', ['-xzf', join(source, packed), '-C', installed, '--strip-components=1'], source);
  writeFileSync(join(subscriber, 'package.json'), '{"type": "module"}');
  for (const dependency of ['zod', 'temporal-polyfill', 'sns-payload-validator'])
    install(dependency);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packed package', () => {
  it('handles an event with three dependencies', () => {
    const { stdout, stderr } = node(
      'once.js',
      `import { memoryStore, onlyOnce, parseEvent, verifySnsMessage, webhook } from 'certification-notifier/consumer';
       const once = onlyOnce(memoryStore());
       const event = parseEvent(${JSON.stringify({ Body: JSON.stringify(event()) })});
       for (const _ of [1, 2]) console.log(await once(event, async ({ id }) => console.log(id)));
       console.log(typeof verifySnsMessage, typeof webhook);`,
    );
    expect(stderr).toBe('');
    expect(stdout).toBe('district-a/48213/1\nhandled\nduplicate\nfunction function\n');
  });

  it('needs the SDK for the store in DynamoDB only', () => {
    const source = `import { dynamoStore } from 'certification-notifier/consumer/dynamodb';
      console.log(typeof dynamoStore);`;
    rmSync(join(subscriber, 'node_modules/@aws-sdk'), { recursive: true, force: true });
    expect(node('without.js', source).stderr).toContain("'@aws-sdk/client-dynamodb'");
    install('@aws-sdk/client-dynamodb');
    expect(node('with.js', source).stdout).toBe('function\n');
  });

  it('is typed: an event is told apart by its type', () => {
    const source = `import { parseEvent } from 'certification-notifier/consumer';
      const event = parseEvent('');
      if (event.type === 'certification.created') event.data.assessment.name satisfies string | undefined;
      if (event.type === 'unknown') event.announced satisfies string;
      // @ts-expect-error: an event of a later version has no data that is known
      event.data;`;
    expect(typeErrors({ 'typed.ts': source })).toBe('');
  });

  it('fits the programs of the guide', () => {
    const guide = readFileSync(join(root, 'docs/subscribing.md'), 'utf8');
    const programs = [...guide.matchAll(/```ts\n(import .*?)```/gs)].map(
      ([, program = ''], index) => [`guide-${index}.ts`, program] as const,
    );
    expect(programs).toHaveLength(3);
    expect(typeErrors(Object.fromEntries(programs))).toBe('');
  });

  it("holds the operators' command line, with what it depends on", () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const dependency of Object.keys(dependencies)) install(dependency);
    const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const program = join(installed, bin['certification-notifier']);
    const help = run('node', [program, '--help'], subscriber);
    expect(help.stderr).toBe('');
    expect(help.stdout).toContain('Usage: certification-notifier');
    const nobody = run('node', [program, 'status', '--local'], subscriber);
    expect(nobody.status).toBe(3);
  });

  it('holds what is exported, and nothing of the stack', () => {
    const rooms = ['consumer', 'lambda', 'local', 'ops'];
    expect(readdirSync(join(installed, 'dist')).sort()).toEqual(rooms);
    const local = readdirSync(join(installed, 'dist/local'));
    expect(local.filter((name) => name.endsWith('.js'))).toEqual(['errors.js', 'instance.js']);
  });
});
