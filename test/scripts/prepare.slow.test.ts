import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../..');
const { prepare } = manifest.scripts;

it.each([
  ['writes the types where our Node is installed', ['node'], true],
  ['does nothing where it is missing, as after npm ci --omit=dev', [], false],
])('npm run prepare %s', (_, installed, writes) => {
  const folder = mkdtempSync(join(tmpdir(), 'checkout-'));
  try {
    const bin = join(folder, 'node_modules/.bin');
    mkdirSync(bin, { recursive: true });
    for (const name of installed) cpSync(join(root, 'node_modules/.bin', name), join(bin, name));
    cpSync(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true });
    const write = "import { writeFileSync } from 'node:fs'; writeFileSync('written', '');";
    writeFileSync(join(folder, 'scripts/generate-types.ts'), write);
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ type: 'module', scripts: { prepare } }),
    );
    const shell = process.platform === 'win32';
    const npm = spawnSync('npm', ['run', 'prepare'], { cwd: folder, encoding: 'utf8', shell });
    expect(npm).toMatchObject({ status: 0 });
    expect(existsSync(join(folder, 'written'))).toBe(writes);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
