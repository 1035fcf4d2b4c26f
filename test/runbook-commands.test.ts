import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildProgram } from '../ops/program.ts';

const page = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');
const prose = page.replace(/```.*?```/gs, '');
const names = new Set(buildProgram(async () => {}).commands.map((command) => command.name()));

/** What stands for something that the reader knows. */
const placeholders: Readonly<Record<string, string>> = {
  NAME: 'certification-notifier',
  DAY: '2026-11-21',
  ARN: 'arn:aws:sqs:us-east-1:111122223333:certifications',
};

/** The arguments of a command line, quotes taken off. */
function argumentsOf(line: string): string[] {
  const words = line.match(/"[^"]*"|\S+/g) ?? [];
  return words.map((word) => placeholders[word] ?? word.replaceAll('"', ''));
}

/** Commands in the text: with the program's name, or beginning with a command's. */
const lines = [...prose.matchAll(/`([^`]+)`/g)]
  .map(([, code = '']) => code.replace(/\s+/g, ' ').replace(/^npx certification-notifier /, ''))
  .filter((code) => names.has(code.split(' ')[0] ?? ''))
  .filter((code) => !/…/.test(code));

it('the runbook has commands', () => {
  expect(lines.length).toBeGreaterThan(20);
});

it.each([...new Set(lines)])('`%s` is a command as the program has it', async (line) => {
  const carried: string[] = [];
  const program = buildProgram(async ({ usage }) => void carried.push(usage));
  const args = argumentsOf(line);
  // Named without what it needs: the text is about the command itself.
  if (args.length === 1) expect(names).toContain(args[0]);
  else {
    await program.parseAsync(args, { from: 'user' });
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
