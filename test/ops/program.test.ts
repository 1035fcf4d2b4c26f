import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it, onTestFinished } from 'vitest';
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

describe('completion', () => {
  const isThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

  interface Place {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
  }

  /** A folder with a configuration, and a home with profiles. */
  function knownPlace(): Place {
    const folder = mkdtempSync(join(tmpdir(), 'completion-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, '.aws'));
    writeFileSync(
      join(folder, '.aws/config'),
      '[default]\nregion = us-east-1\n[profile work]\n[sso-session work]\n',
    );
    const integrations = '[{ name: \'district-a\' },\n  { name: "district-b" }]';
    writeFileSync(
      join(folder, 'notifier.config.ts'),
      `export default {\n  stackName: 'notifier-staging',\n  integrations: ${integrations},\n};\n`,
    );
    return { cwd: folder, env: { HOME: folder, NOTIFIER_STACK: 'of-the-environment' } };
  }

  function said(shell: string, args: string[], script: string, { cwd, env }: Place = {}): string[] {
    const { stdout, stderr } = spawnSync(shell, [...args, script], {
      encoding: 'utf8',
      ...(cwd !== undefined && { cwd }),
      ...(env !== undefined && { env: { ...process.env, ...env } }),
    });
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  }

  /** The completions after these words. */
  function inBash(line: string, place?: Place): string[] {
    const script = `${completionScript('bash', program)}${asked(line)}`;
    return said('bash', ['--norc', '-c'], script, place);
  }

  /** Asks as bashcompinit does. zsh itself removes entries with another beginning. */
  function inZsh(line: string): string[] {
    const ask = `ask() { emulate -L sh; setopt kshglob noshglob braceexpand; ${asked(line)}; }; ask`;
    return said('zsh', ['-fc'], `${completionScript('zsh', program)}${ask}`);
  }

  function asked(line: string): string {
    const typed = ['certification-notifier', ...line.split(' ')];
    return `COMP_WORDS=(${typed.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${typed.length - 1}
      _certification_notifier; printf '%s\\n' "\${COMPREPLY[@]}"`;
  }

  function inFish(line: string, place?: Place): string[] {
    const ask = `complete -C 'certification-notifier ${line}'`;
    const offers = said(
      'fish',
      ['--no-config', '-c'],
      `${completionScript('fish', program)}${ask}`,
      place,
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

  it('offers values of an option in bash, including names from files of this machine', () => {
    expect(inBash('replay --type ')).toEqual(['created', 'updated', 'withdrawn', 'restored']);
    expect(inBash('release --type w')).toEqual(['withdrawn']);
    const known = knownPlace();
    expect(inBash('status --stack ', known)).toEqual(['of-the-environment', 'notifier-staging']);
    expect(inBash('status --integration district-b', known)).toEqual(['district-b']);
    expect(inBash('status --profile ', known)).toEqual(['default', 'work']);
    expect(inBash('status --stack ', { cwd: tmpdir(), env: { HOME: '/nowhere' } })).toEqual(['']);
  });

  it('runs no code in place of a name in a file of this machine, in bash', () => {
    const { cwd = '', env } = knownPlace();
    writeFileSync(join(cwd, '.aws/credentials'), '[work]\n[$(touch$IFS"carried-out")]\n[a.b]\n');
    const NOTIFIER_STACK = '`touch carried-out`';
    expect(inBash('status --profile ', { cwd, env: { ...env } })).toEqual([
      'default',
      'work',
      'work',
      'a.b',
    ]);
    expect(inBash('status --stack ', { cwd, env: { ...env, NOTIFIER_STACK } })).toEqual([
      'notifier-staging',
    ]);
    expect(existsSync(join(cwd, 'carried-out'))).toBe(false);
  });

  it.skipIf(!isThere('zsh'))('offers the same in zsh, also without an earlier completion', () => {
    expect(inZsh('re')).toEqual(expect.arrayContaining(['resume', 'release', 'replay']));
    expect(inZsh('replay --dr')).toContain('--dry-run');
    expect(inZsh('replay --dr')).not.toContain('status');
    expect(inZsh('credentials s')).toContain('set');
  });

  it.skipIf(!isThere('fish'))('offers the same in fish', () => {
    expect(inFish('re').sort()).toEqual(['release', 'replay', 'resume']);
    expect(inFish('replay --dr')).toEqual(['--dry-run']);
    expect(inFish('credentials ')).toEqual(['set']);
    expect(inFish('completion z')).toEqual(['zsh']);
    expect(inFish('release --type w')).toEqual(['withdrawn']);
    const known = knownPlace();
    expect(inFish('status --stack ', known).sort()).toEqual([
      'notifier-staging',
      'of-the-environment',
    ]);
    expect(inFish('status --profile ', known)).toEqual(['default', 'work']);
  });

  it('knows every command in each shell', () => {
    for (const shell of ['bash', 'zsh', 'fish'] as const)
      for (const [name] of leaves(program))
        expect(completionScript(shell, program)).toContain(name.split(' ').at(-1));
  });
});

/** Splits a line as a shell does. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
