import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { startPartnerSandbox } from '../local/partner-sandbox/index.ts';
import { buildProgram } from '../ops/program.ts';
import { blocksOf } from './support/markdown.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...['docs', 'docs/events', 'docs/measured', 'docs/decisions'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
  ...readdirSync(join(root, 'examples'))
    .map((name) => `examples/${name}/README.md`)
    .filter((path) => existsSync(join(root, path))),
];
const names = new Set(buildProgram(async () => {}).commands.map((command) => command.name()));

/** Placeholders for values that the reader knows. */
const placeholders: Readonly<Record<string, string>> = {
  NAME: 'certification-notifier',
  DAY: '2026-11-21',
  ID: '48213',
  ARN: 'arn:aws:sqs:us-east-1:111122223333:certifications',
};

/** The arguments of a command line, without quotes. */
function argumentsOf(line: string): string[] {
  const words = line.match(/"[^"]*"|\S+/g) ?? [];
  return words.map((word) => placeholders[word] ?? word.replaceAll('"', ''));
}

const program = /^(?:npx certification-notifier|npm run (?:--silent )?ops --) /;

/**
 * In the text: lines with the program's name, or beginning with a command's. In blocks of code:
 * lines with the program's name.
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
  return (
    [...inText, ...inBlocks]
      .map((line) => line.replace(program, ''))
      // A line with a placeholder is no command line yet.
      .filter((line) => !/[…<]/.test(line))
  );
}

it('the runbook has commands', () => {
  const runbook = read('docs/operations.md');
  expect(commandLinesOf(runbook).length).toBeGreaterThan(20);
});

const ofPages = pages.flatMap((path) =>
  [...new Set(commandLinesOf(read(path)))].map((line) => [path, line] as const),
);

it.each(ofPages)('%s says `%s`, which is a valid command', async (_, line) => {
  const carried: string[] = [];
  const parsed = buildProgram(async ({ usage }) => void carried.push(usage));
  const args = argumentsOf(line);
  // The text is about the command itself, without its arguments.
  if (args.length === 1) expect(names).toContain(args[0]);
  else {
    await parsed.parseAsync(args, { from: 'user' });
    expect(carried).toHaveLength(1);
  }
});

const notices = join(import.meta.dirname, 'lambda/delivery/notices');
const noticed = readdirSync(notices).flatMap((name) =>
  readFileSync(join(notices, name), 'utf8').match(/npx certification-notifier .*/g),
);

it.each([...new Set(noticed)].filter((line) => line !== null))(
  'a notice says `%s`, which runs as it is',
  async (line) => {
    const carried: unknown[] = [];
    const program = buildProgram(async (command) => void carried.push(command));
    await program.parseAsync(argumentsOf(line).slice(2), { from: 'user' });
    expect(carried).toHaveLength(1);
    expect(line).toMatch(/ --stack \S+ --integration \S+$/);
  },
);

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
    /^(npx certification-notifier|npm (run|start|test|install|pack)|npx (cdk|json2ts)|datamodel-codegen|pip install|python3|mvn|javac?|aws|curl|S=|cd|cat|cp|claude mcp add)\b/;

  it('have only commands that a test here runs, reads or knows to be marked', () => {
    expect(shellLines.filter(([, line]) => !known.test(line))).toEqual([]);
  });

  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('package.json')));
  const withFlags = linesOf(/^npm (run [\w:-]+|start) -- /).filter(
    ([, line]) => !program.test(line),
  );
  const byScript = Map.groupBy(
    withFlags,
    ([, line]) => /^npm (?:run )?([\w:-]+)/.exec(line)?.[1] ?? '',
  );

  it.each([...byScript])('give npm run %s only flags that it has', async (name, lines) => {
    const [node, ...args] = scripts[name]?.split(' ') ?? [];
    expect(node).toBe('node');
    const { stdout: help } = await run(process.execPath, [...args, '--help'], { cwd: root });
    const flags = lines.flatMap(([, line]) => flagsOf(line.replace(/^.*? -- /, ' ')));
    expect(flags.filter((flag) => !new RegExp(`${flag}\\b`).test(help))).toEqual([]);
  });

  it('give the CDK only commands and flags that it has', () => {
    const optionsSchema = z.record(
      z.string(),
      z.object({ alias: z.union([z.string(), z.array(z.string())]).default([]) }),
    );
    const { globalOptions, commands } = z
      .object({
        globalOptions: optionsSchema,
        commands: z.record(z.string(), z.object({ options: optionsSchema.default({}) })),
      })
      .parse(JSON.parse(read('node_modules/aws-cdk/lib/cli/cli-type-registry.json')));
    const inText = pages.flatMap((path) =>
      [...read(path).matchAll(/`(?:npx )?(cdk [^`]+)`/g)].map(([, line = '']) => line),
    );
    const lines = [...linesOf(/^npx cdk /).map(([, line]) => line.replace('npx ', '')), ...inText];
    expect(lines.length).toBeGreaterThan(10);
    const unknown = lines.filter((line) => {
      const command = commands[line.split(/\s+/)[1] ?? ''];
      const options = { ...globalOptions, ...command?.options };
      const names = Object.entries(options).flatMap(([name, { alias }]) => [
        `--${name}`,
        ...[alias].flat().map((one) => `-${one}`),
      ]);
      return !command || flagsOf(line).some((flag) => !names.includes(flag));
    });
    expect(unknown).toEqual([]);
  });

  it('with the command line of AWS are on pages that say they were not tried there', () => {
    const silent = linesOf(/^aws /)
      .map(([path]) => path)
      .filter((path) => !/not tried on AWS|has been done on AWS yet/i.test(read(path)));
    expect(silent).toEqual([]);
  });

  it.skipIf(!existsSync('/usr/bin/curl'))(
    'with curl run against the sandbox that the page starts (needs /usr/bin/curl)',
    async () => {
      const block = blocksOf(read('docs/partner.md')).find(({ code }) => code.startsWith('S='));
      const records = Number(
        /npm run sandbox -- .*--records (\d+)/.exec(read('docs/partner.md'))?.[1],
      );
      const sandbox = await startPartnerSandbox({ records, seed: 7, timeZone: 'America/Chicago' });
      try {
        const script = (block?.code ?? '')
          .replace(/^S=.*$/m, `S=${sandbox.url}/_sandbox`)
          .replaceAll('curl -s ', 'curl --fail-with-body -s ');
        expect(script.match(/curl --fail/g)?.length).toBeGreaterThan(15);
        const { stderr } = await run('sh', ['-ec', script]);
        expect(stderr).toBe('');
      } finally {
        await sandbox.close();
      }
    },
  );
});
