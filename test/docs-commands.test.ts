import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { buildProgram } from '../ops/program.ts';
import { blocksOf } from './support/markdown.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const names = new Set(buildProgram(async () => {}).commands.map((command) => command.name()));

/** What stands for something that the reader knows. */
const placeholders: Readonly<Record<string, string>> = {
  NAME: 'certification-notifier',
  DAY: '2026-11-21',
  ID: '48213',
  ARN: 'arn:aws:sqs:us-east-1:111122223333:certifications',
};

/** The arguments of a command line, quotes taken off. */
function argumentsOf(line: string): string[] {
  const words = line.match(/"[^"]*"|\S+/g) ?? [];
  return words.map((word) => placeholders[word] ?? word.replaceAll('"', ''));
}

const program = /^(?:npx certification-notifier|npm run (?:--silent )?ops --) /;

/** In the text: with the program's name, or beginning with a command's. In blocks of code: with the program's name. */
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
      // What stands for something is not a command line yet.
      .filter((line) => !/[…<]/.test(line))
  );
}

it('the runbook has commands', () => {
  const runbook = readFileSync(join(root, 'docs/operations.md'), 'utf8');
  expect(commandLinesOf(runbook).length).toBeGreaterThan(20);
});

const ofPages = pages.flatMap((path) =>
  [...new Set(commandLinesOf(readFileSync(join(root, path), 'utf8')))].map(
    (line) => [path, line] as const,
  ),
);

it.each(ofPages)('%s says `%s`, which is a command as the program has it', async (_, line) => {
  const carried: string[] = [];
  const parsed = buildProgram(async ({ usage }) => void carried.push(usage));
  const args = argumentsOf(line);
  // Named without what it needs: the text is about the command itself.
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
  'a notice says `%s`, which runs as it stands',
  async (line) => {
    const carried: unknown[] = [];
    const program = buildProgram(async (command) => void carried.push(command));
    await program.parseAsync(argumentsOf(line).slice(2), { from: 'user' });
    expect(carried).toHaveLength(1);
    expect(line).toMatch(/ --stack \S+ --integration \S+$/);
  },
);
