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
  const isThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

  function said(shell: string, args: string[], script: string): string[] {
    const { stdout, stderr } = spawnSync(shell, [...args, script], { encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  }

  /** What is offered behind these words. */
  function inBash(line: string): string[] {
    return said('bash', ['--norc', '-c'], `${completionScript('bash', program)}${asked(line)}`);
  }

  /** As bashcompinit asks; it is zsh itself that leaves out what does not begin so. */
  function inZsh(line: string): string[] {
    const ask = `ask() { emulate -L sh; setopt kshglob noshglob braceexpand; ${asked(line)}; }; ask`;
    return said('zsh', ['-fc'], `${completionScript('zsh', program)}${ask}`);
  }

  function asked(line: string): string {
    const typed = ['certification-notifier', ...line.split(' ')];
    return `COMP_WORDS=(${typed.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${typed.length - 1}
      _certification_notifier; printf '%s\\n' "\${COMPREPLY[@]}"`;
  }

  function inFish(line: string): string[] {
    const ask = `complete -C 'certification-notifier ${line}'`;
    const offers = said(
      'fish',
      ['--no-config', '-c'],
      `${completionScript('fish', program)}${ask}`,
    );
    return offers.map((offer) => offer.split('\t')[0] ?? '');
  }

  it('offers commands, and the options of each, in bash', () => {
    expect(inBash('re')).toEqual(['resume', 'release', 'replay']);
    expect(inBash('--local re')).toEqual(['resume', 'release', 'replay']);
    expect(inBash('replay --dr')).toEqual(['--dry-run']);
    expect(inBash('replay --st')).toEqual(['--stack']);
    expect(inBash('credentials s')).toEqual(['set']);
    expect(inBash('completion z')).toEqual(['zsh']);
    expect(
      said('bash', ['--norc', '-c'], `${completionScript('bash', program)}complete -p`),
    ).toEqual(['complete -o default -F _certification_notifier certification-notifier']);
  });

  it.skipIf(!isThere('zsh'))('offers them in zsh, also where nothing was completed before', () => {
    expect(inZsh('re')).toEqual(expect.arrayContaining(['resume', 'release', 'replay']));
    expect(inZsh('replay --dr')).toContain('--dry-run');
    expect(inZsh('replay --dr')).not.toContain('status');
    expect(inZsh('credentials s')).toContain('set');
  });

  it.skipIf(!isThere('fish'))('offers them in fish', () => {
    expect(inFish('re').sort()).toEqual(['release', 'replay', 'resume']);
    expect(inFish('replay --dr')).toEqual(['--dry-run']);
    expect(inFish('credentials ')).toEqual(['set']);
    expect(inFish('completion z')).toEqual(['zsh']);
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
