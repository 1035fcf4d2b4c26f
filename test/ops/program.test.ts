import { spawnSync } from 'node:child_process';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { completionScript } from '../../ops/completion.ts';
import { buildProgram } from '../../ops/program.ts';

const program = buildProgram(async () => {});

/** Commands that do something, each with its whole name. */
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

  it('has examples, and each is a command line that is understood', async () => {
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

describe('completion', () => {
  /** What bash offers behind these words. */
  function offered(line: string): string[] {
    const typed = ['certification-notifier', ...line.split(' ')];
    const script = `${completionScript('bash', program)}
      COMP_WORDS=(${typed.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${typed.length - 1}
      _certification_notifier; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  }

  it('offers commands, and the options of each', () => {
    expect(offered('re')).toEqual(['resume', 'release', 'replay']);
    expect(offered('--local re')).toEqual(['resume', 'release', 'replay']);
    expect(offered('replay --dr')).toEqual(['--dry-run']);
    expect(offered('replay --st')).toEqual(['--stack']);
    expect(offered('credentials s')).toEqual(['set']);
  });

  it('knows every command in each shell', () => {
    for (const shell of ['bash', 'zsh', 'fish'] as const)
      for (const [name] of leaves(program))
        expect(completionScript(shell, program)).toContain(name.split(' ').at(-1));
  });
});

/** As a shell splits them. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
