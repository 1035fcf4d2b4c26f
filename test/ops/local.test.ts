import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { Running } from './running.ts';

const folder = mkdtempSync(join(tmpdir(), 'local-'));
const instance = spawn(
  process.execPath,
  [
    fileURLToPath(new URL('../../local/start.ts', import.meta.url)),
    '--every',
    '90',
    '--records',
    '5',
  ],
  { env: { ...process.env, NOTIFIER_LOCAL: folder } },
);

beforeAll(async () => {
  const { promise: ticked, resolve } = Promise.withResolvers<void>();
  let screen = '';
  instance.stdout.on('data', (text) => {
    screen += text;
    if (screen.includes('tick 1')) resolve();
  });
  await ticked;
});
afterAll(async () => {
  instance.kill('SIGKILL');
  await once(instance, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: string) =>
  new Running(`${args} --local`, { environment: { NOTIFIER_LOCAL: folder } }).ended;

const times = z.tuple([z.object({ lastTick: z.string(), nextTick: z.string() })]);

it('what runs under npm start knows its own pace', async () => {
  const { stdout } = await run('status --json');
  const [{ lastTick, nextTick }] = times.parse(JSON.parse(stdout).result);
  const apart = Temporal.Instant.from(nextTick).since(Temporal.Instant.from(lastTick));
  expect(apart.total('seconds')).toBe(90);
  expect((await run('status')).stdout).toMatch(/next in 1 min/);
  expect((await run('check')).stdout).toContain('Enabled: rate(90 seconds).');
});
