import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { startPartnerSandbox } from '../local/partner-sandbox/index.ts';
import { buildProgram } from '../ops/program.ts';
import { blocksOf } from './support/markdown.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const patterns = ['{README,CONTRIBUTING}.md', 'docs/*.md', 'docs/*/*.md', 'examples/*/README.md'];
const pages = globSync(patterns, { cwd: root }).map((path) => path.replaceAll('\\', '/'));
const names = new Set(buildProgram(async () => {}).commands.map((command) => command.name()));

/** Placeholders for values that the reader knows. */
const placeholders: Readonly<Record<string, string>> = {
  NAME: 'certification-notifier',
  DAY: '2026-11-21',
  ID: '48213',
  ARN: 'arn:aws:sqs:us-east-1:111122223333:certifications',
};

/** The arguments of a command line, without quotes. */
const argumentsOf = (line: string) =>
  (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => placeholders[word] ?? word.replaceAll('"', ''));

const program = /^(?:npx certification-notifier|npm run (?:--silent )?ops --) /;

/**
 * In the text: lines with the program's name, or beginning with a command's. In blocks of code:
 * lines with the program's name. A line with a placeholder is no command line yet.
 */
function commandLinesOf(page: string): string[] {
  const prose = page.replace(/```.*?```/gs, '');
  const inText = [...prose.matchAll(/`([^`]+)`/g)]
    .map(([, code = '']) => code.replace(/\s+/g, ' '))
    .filter((code) => program.test(code) || names.has(code.split(' ')[0] ?? ''));
  const inBlocks = blocksOf(page)
    .flatMap(({ code }) => code.split('\n'))
    .map((line) => line.replace(/ +# .*$/, ''))
    .filter((line) => program.test(line));
  return [...inText, ...inBlocks]
    .map((line) => line.replace(program, ''))
    .filter((line) => !/[…<]/.test(line));
}

/** The commands that a line carries out. */
async function carriedOut(args: readonly string[]): Promise<readonly string[]> {
  const carried: string[] = [];
  const parsed = buildProgram(async ({ usage }) => void carried.push(usage));
  await parsed.parseAsync([...args], { from: 'user' });
  return carried;
}

const ofPages = pages.flatMap((path) =>
  [...new Set(commandLinesOf(read(path)))].map((line) => [path, line] as const),
);

it('the runbook has commands', () => {
  expect(ofPages.filter(([path]) => path === 'docs/operations.md').length).toBeGreaterThan(20);
});

it.each(ofPages)('%s says `%s`, which is a valid command', async (_, line) => {
  const args = argumentsOf(line);
  // The text is about the command itself, without its arguments.
  if (args.length === 1) expect(names).toContain(args[0]);
  else expect(await carriedOut(args)).toHaveLength(1);
});

const noticed = globSync('test/lambda/delivery/notices/*', { cwd: root }).flatMap(
  (path) => read(path).match(/npx certification-notifier .*/g) ?? [],
);

it.each([...new Set(noticed)])('a notice says `%s`, which runs as it is', async (line) => {
  expect(await carriedOut(argumentsOf(line).slice(2))).toHaveLength(1);
  expect(line).toMatch(/ --stack \S+ --integration \S+$/);
});

/** Lines of blocks of code in a shell's language: continued ones joined, remarks removed. */
const shellLines = pages.flatMap((path) =>
  blocksOf(read(path))
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.replace(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.replace(/(^| +)# .*$/, '').trim())
    .filter((line) => line !== '')
    .flatMap((line) => line.split(' && '))
    .map((line) => [path, line] as const),
);

const linesOf = (command: RegExp) => shellLines.filter(([, line]) => command.test(line));
const flagsOf = (line: string) => line.match(/(?<= )--?[a-z][\w-]*(?=[ =]|$)/g) ?? [];

describe('blocks of shell commands', () => {
  const known =
    /^(npx certification-notifier|npm (run|start|test|install|pack)|npx (cdk|json2ts)|datamodel-codegen|pip install|python3|mvn|javac?|aws|export AWS_REGION=|curl|S=|cd|cat|cp|claude mcp add)\b/;

  it('have only commands that a test here runs, reads or knows to be marked', () => {
    expect(shellLines.filter(([, line]) => !known.test(line))).toEqual([]);
  });

  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('package.json')));
  const withFlags = /^npm (?:run )?(?!ops )([\w:-]+) -- /;
  const byScript = Map.groupBy(linesOf(withFlags), ([, line]) => withFlags.exec(line)?.[1] ?? '');

  it.each([...byScript])('give npm run %s only flags that it has', async (name, lines) => {
    const [node, ...script] = scripts[name]?.split(' ') ?? [];
    expect(node).toBe('node');
    const { stdout: help } = await run(process.execPath, [...script, '--help'], { cwd: root });
    const flags = lines.flatMap(([, line]) => flagsOf(line.replace(/^.*? -- /, ' ')));
    expect(flags.filter((flag) => !new RegExp(`${flag}\\b`).test(help))).toEqual([]);
  });

  it('give the CDK only commands and flags that it has', () => {
    const alias = z.union([z.string(), z.array(z.string())]).default([]);
    const options = z.record(z.string(), z.object({ alias })).default({});
    const commands = z.record(z.string(), z.object({ options }));
    const registry = z
      .object({ globalOptions: options, commands })
      .parse(JSON.parse(read('node_modules/aws-cdk/lib/cli/cli-type-registry.json')));
    const inText = pages.flatMap(
      (path) => read(path).match(/(?<=`(?:npx )?)cdk [^`]+(?=`)/g) ?? [],
    );
    const lines = [...linesOf(/^npx cdk /).map(([, line]) => line.replace('npx ', '')), ...inText];
    expect(lines.length).toBeGreaterThan(10);
    const unknown = lines.filter((line) => {
      const command = registry.commands[line.split(/\s+/)[1] ?? ''];
      const has = Object.entries({ ...registry.globalOptions, ...command?.options });
      const flags = has.flatMap(([name, one]) => [
        `--${name}`,
        ...[one.alias].flat().map((short) => `-${short}`),
      ]);
      return !command || flagsOf(line).some((flag) => !flags.includes(flag));
    });
    expect(unknown).toEqual([]);
  });

  it('with the command line of AWS are on pages that say they were not tried there', () => {
    const said = /not tried on AWS|has been done on AWS yet/i;
    expect(linesOf(/^aws /).filter(([path]) => !said.test(read(path)))).toEqual([]);
  });

  it.skipIf(!existsSync('/usr/bin/curl'))('with curl run against the sandbox', async () => {
    const page = read('docs/partner.md');
    const block = blocksOf(page).find(({ code }) => code.startsWith('S='));
    const records = Number(/npm run sandbox -- .*--records (\d+)/.exec(page)?.[1]);
    const sandbox = await startPartnerSandbox({ records, seed: 7, timeZone: 'America/Chicago' });
    onTestFinished(() => sandbox.close());
    const script = (block?.code ?? '')
      .replace(/^S=.*$/m, `S=${sandbox.url}/_sandbox`)
      .replaceAll('curl -s ', 'curl --fail-with-body -s ');
    expect(script.match(/curl --fail/g)?.length).toBeGreaterThan(15);
    expect((await run('sh', ['-ec', script])).stderr).toBe('');
  });
});
