import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const preload = new URL('../../scripts/preload/shifted-clock.mjs', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'clock-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const day = 24 * 60 * 60 * 1000;
preload.search = `${new URLSearchParams({ by: String(-400 * day), zone: 'America/New_York' })}`;

/** All ways to read the time, in milliseconds. */
const clocks = `({
  now: Date.now(),
  constructed: new Date().getTime(),
  called: Date.parse(Date()),
  derived: new (class extends Date {})().getTime(),
  formatted: Date.parse(new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' }).format()),
  parts: Number(new Intl.DateTimeFormat('en', { year: 'numeric' }).formatToParts()[0].value),
  temporal: globalThis.Temporal?.Now.instant().epochMilliseconds,
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  given: new Date(2000, 0, 1).toISOString(),
  isDate: new Date() instanceof Date && new Date().constructor === Date,
})`;

const program = join(folder, 'program.mjs');
writeFileSync(
  program,
  `
  import { execFile, spawnSync } from 'node:child_process';
  import { createServer } from 'node:http';
  import { once } from 'node:events';
  import { promisify } from 'node:util';
  import { Worker } from 'node:worker_threads';
  const clocks = () => ${clocks};
  const script = 'console.log(JSON.stringify(' + ${JSON.stringify(clocks)} + '))';
  const child = spawnSync(process.execPath, ['-e', script], { env: {}, encoding: 'utf8' });
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script]);
  const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { headers } = await fetch('http://127.0.0.1:' + server.address().port);
  server.close();
  const worker = new Worker(new URL('worker.mjs', import.meta.url), { env: {}, execArgv: [] });
  const [thread] = await once(worker, 'message');
  console.log(JSON.stringify({
    process: clocks(),
    'child with an environment of its own': JSON.parse(child.stdout),
    'child with none': JSON.parse(stdout),
    'worker thread': thread,
    answered: Date.parse(headers.get('date')),
  }));
  `,
);
writeFileSync(
  join(folder, 'worker.mjs'),
  `import { parentPort } from 'node:worker_threads'; parentPort.postMessage(${clocks});`,
);

function run() {
  // The second flag enables a default of Node 26 and later.
  const flags = [`--import=${preload}`, '--harmony-temporal'];
  const env = { ...process.env, TZ: 'America/New_York' };
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, program], {
    env,
    encoding: 'utf8',
  });
  return stderr === '' ? JSON.parse(stdout) : stderr;
}

describe('with the preload of a shifted clock', () => {
  const before = Date.now() - 400 * day;
  const told = run();
  const after = Date.now() - 400 * day;

  it.each(['process', 'child with an environment of its own', 'child with none', 'worker thread'])(
    'a %s sees the shifted time by any way',
    (who) => {
      const { now, constructed, called, derived, formatted, parts, temporal, ...rest } = told[who];
      // Node has it only with the flag.
      const times = [now, constructed, derived, ...(who === 'process' ? [temporal] : [])];
      for (const time of times) {
        expect(time).toBeGreaterThanOrEqual(before);
        expect(time).toBeLessThanOrEqual(after);
      }
      // These are exact to the second.
      for (const time of [called, formatted]) {
        expect(time).toBeGreaterThan(before - 1000);
        expect(time).toBeLessThanOrEqual(after);
      }
      expect([new Date(before).getFullYear(), new Date(after).getFullYear()]).toContain(parts);
      expect(rest).toEqual({
        zone: 'America/New_York',
        given: '2000-01-01T05:00:00.000Z',
        isDate: true,
      });
    },
  );

  it('a server answers by the shifted time', () => {
    expect(told.answered).toBeGreaterThan(before - 1000);
    expect(told.answered).toBeLessThanOrEqual(after);
  });
});
