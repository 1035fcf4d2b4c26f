import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completionScript } from '../../ops/completion.ts';
import { buildProgram } from '../../ops/program.ts';

// Real shells complete.
const program = buildProgram();
const isThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;
/** A folder with a configuration, and a home with profiles. */
const folder = mkdtempSync(join(tmpdir(), 'completion-'));
const known = { HOME: folder, NOTIFIER_STACK: 'of-the-environment' };

beforeAll(() => {
  mkdirSync(join(folder, '.aws'));
  const profiles = '[default]\nregion = us-east-1\n[profile work]\n[sso-session work]\n';
  writeFileSync(join(folder, '.aws/config'), profiles);
  const integrations = '[{ name: \'district-a\' },\n  { name: "district-b" }]';
  const settings = `  stackName: 'notifier-staging',\n  integrations: ${integrations},\n`;
  writeFileSync(join(folder, 'notifier.config.ts'), `export default {\n${settings}};\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

function said(shell: string, args: string[], script: string, env = {}): string[] {
  const { stdout, stderr } = spawnSync(shell, [...args, script], {
    ...{ encoding: 'utf8', cwd: folder },
    env: { ...process.env, HOME: '/nowhere', ...env },
  });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

function asked(line: string): string {
  const typed = ['certification-notifier', ...line.split(' ')];
  return `COMP_WORDS=(${typed.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${typed.length - 1}
    _certification_notifier; printf '%s\\n' "\${COMPREPLY[@]}"`;
}

/** The completions after these words. */
const shells = {
  bash: (line: string, env = {}) =>
    said('bash', ['--norc', '-c'], `${completionScript('bash', program)}${asked(line)}`, env),
  /** Asks as bashcompinit does. zsh itself removes entries with another beginning. */
  zsh: (line: string, env = {}) => {
    const ask = `ask() { emulate -L sh; setopt kshglob noshglob braceexpand; ${asked(line)}; }; ask`;
    const all = said('zsh', ['-fc'], `${completionScript('zsh', program)}${ask}`, env);
    return all.filter((one) => one.startsWith(line.split(' ').at(-1) ?? ''));
  },
};

describe.each(['bash', 'zsh'] as const)('%s', (shell) => {
  it.skipIf(!isThere(shell)).each([
    ['re', ['release', 'replay', 'resume']],
    ['replay --dr', ['--dry-run']],
    ['credentials s', ['set']],
    ['completion z', ['zsh']],
    ['release --type w', ['withdrawn']],
    ['status --stack ', ['notifier-staging', 'of-the-environment']],
    ['status --profile ', ['default', 'work']],
    ['status --integration district-b', ['district-b']],
  ])('completes "%s" with %j', (line, offers) => {
    expect(shells[shell](line, known).sort()).toEqual(offers);
  });
});

it('bash runs no code in place of a name in a file of this machine', () => {
  const home = join(folder, 'other');
  mkdirSync(join(home, '.aws'), { recursive: true });
  writeFileSync(join(home, '.aws/credentials'), '[work]\n[$(touch$IFS"carried-out")]\n[a.b]\n');
  expect(shells.bash('status --profile ', { HOME: home })).toEqual(['work', 'a.b']);
  const env = { NOTIFIER_STACK: '`touch carried-out`' };
  expect(shells.bash('status --stack ', env)).toEqual(['notifier-staging']);
  expect(existsSync(join(folder, 'carried-out'))).toBe(false);
});
