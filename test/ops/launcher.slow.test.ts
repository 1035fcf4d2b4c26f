import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const launcher = join(import.meta.dirname, '../../ops/launcher.mjs');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'launcher-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** From another folder, where nothing is running. */
function launch(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd: folder,
    env: { ...process.env, NOTIFIER_LOCAL: folder, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([out, err, [code]]) => ({ out, err, code }),
  );
  return { child, ended };
}

// Its behaviour in an installed package: test/package.test.ts.
describe('in a checkout, npx certification-notifier', () => {
  // npm makes it executable once. After a reset of the checkout, it could not be started any more.
  it('is executable in the repository', () => access(launcher, constants.X_OK));

  it('runs the sources, built or not, and ends with the exit code of the command', async () => {
    const { err, code } = await launch(['status', '--local']).ended;
    expect(err).toMatch(/^error: No local instance is running/);
    expect(code).toBe(3);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    "passes on %s sent to it alone, and waits for the program's last words",
    async (signal) => {
      const preloaded = join(folder, 'preloaded.mjs');
      await writeFile(
        preloaded,
        `if (process.argv[1].endsWith('cli.ts')) {
          process.once('${signal}', () => { console.log('told'); process.exit(7); });
          console.log('ready');
          await new Promise((resolve) => setTimeout(resolve, 60_000));
        }`,
      );
      const { child, ended } = launch(['status'], { NODE_OPTIONS: `--import=${preloaded}` });
      await once(child.stdout, 'readable');
      child.kill(signal);
      expect(await ended).toMatchObject({ out: 'ready\ntold\n', code: 7 });
    },
  );
});
