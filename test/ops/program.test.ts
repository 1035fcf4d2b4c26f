import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { completionScript } from '../../ops/completion.ts';
import { buildProgram } from '../../ops/program.ts';

const program = buildProgram(async () => {});

/** Commands with an action, each with its whole name. */
function leaves(parent: Command, prefix = ''): [name: string, command: Command][] {
  return parent.commands.flatMap((command) => {
    const name = `${prefix}${command.name()}`;
    return command.commands.length > 0 ? leaves(command, `${name} `) : [[name, command]];
  });
}

function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return help;
}

describe.each(leaves(program))('the help of %s', (name, command) => {
  const examples = [...helpOf(command).matchAll(/^ {2}certification-notifier (.*)$/gm)].map(
    ([, args = '']) => args.replace(/ [<>]{1,2} .*$/, ''),
  );

  it('has examples, and each is a valid command line', async () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const args of examples) {
      expect(args.startsWith(name)).toBe(true);
      if (name === 'completion') continue;
      const carried: string[] = [];
      const parser = buildProgram(async ({ usage }) => void carried.push(usage));
      await parser.parseAsync(words(args), { from: 'user' });
      expect(carried).toEqual([name]);
    }
  });
});

it.each(['bash', 'zsh', 'fish'] as const)('the completion of %s knows every command', (shell) => {
  for (const [name] of leaves(program))
    expect(completionScript(shell, program)).toContain(name.split(' ').at(-1));
});

/** Splits a line as a shell does. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
