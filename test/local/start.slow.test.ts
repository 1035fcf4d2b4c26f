import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { on, once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { close, listenOnLoopback } from '../../local/aws/loopback-server.ts';
import { run } from '../../local/run.ts';
import { HastyClock } from '../ops/hasty-clock.ts';
import { compileCache } from '../support/compile-cache.ts';
import { nobodyThere } from '../support/nobody-there.ts';
import { RunningProgram } from '../support/running.ts';

let directory: string;
const running: RunningProgram[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'start-'));
});
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.interrupt();
    await one.ended;
  }
  await rm(directory, { recursive: true });
});

/** It writes its files into its own directory. */
const environment = () => ({ NOTIFIER_LOCAL: join(directory, 'local'), INIT_CWD: directory });

/** Tests run beside others, and beside all other programs of this machine: they own no port. */
const anyPorts = ['--port', '0'];

function start(...flags: string[]): RunningProgram {
  const clock = new HastyClock();
  const argv = [...anyPorts, ...flags];
  const started = new RunningProgram(run, argv, { environment: environment(), clock });
  running.push(started);
  return started;
}

/** Ends it by Ctrl-C, cleanly. @returns its output */
async function stopped(started: RunningProgram): Promise<string> {
  started.interrupt();
  const { exitCode, stdout, stderr } = await started.ended;
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

const canary = 'canary-4f1d-secret';

async function refusingHost(): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end('{"error":"invalid_client"}');
  });
  onTestFinished(() => close(server));
  return await listenOnLoopback(server);
}

test('each integration is watched at its own partner, and provoked and delivered by its own name', async () => {
  const integration = { baseUrl: 'https://partner.example.org', timeZone: 'UTC' };
  const queue = (name: string, types: readonly string[]) => ({
    topic: 'events',
    protocol: 'sqs',
    endpoint: `arn:aws:sqs:us-east-1:111122223333:${name}`,
    filter: { types },
  });
  const config = {
    integrations: [
      { ...integration, name: 'a' },
      { ...integration, name: 'b', secretName: 'partner/b', fields: 'identifiers' },
    ],
    subscriptions: [queue('payroll', ['created']), queue('archive', ['withdrawn'])],
  };
  await writeFile(join(directory, 'two.config.mjs'), `export default ${JSON.stringify(config)};`);
  const started = start('--config', 'two.config.mjs', '--every', '1');
  for (const name of ['a', 'b']) await started.shows(new RegExp(`created .* ${name}/\\d+/1`));
  const [url = ''] = /http:\S+/.exec(started.output.text) ?? [];
  const sent = await fetch(new URL('provoke/b/kill', url), {
    method: 'POST',
    headers: { origin: new URL(url).origin, 'content-type': 'application/x-www-form-urlencoded' },
    body: `run=${randomUUID()}`,
  });
  const page = await sent.text();
  expect(page).toMatch(/id="tally-a".*id="tally-b"/s);
  expect(page).toMatch(/b<\/span> Kill the tick right now/);
  await started.shows(/tick \d+ +b · provoked · failed/);
  const payloads = await (await fetch(new URL('local/events', url))).text();
  expect(payloads).toContain('demo-events, sqs payroll');
  expect(payloads).not.toContain('archive');
  const stdout = await stopped(started);
  for (const name of ['a', 'b'])
    expect(stdout).toMatch(
      new RegExp(`${name} · \\d+ requests? · \\d+ recorded as known .* baseline`),
    );
  expect(new Set(stdout.match(/http:\S+(?= {2}sandbox)/g)).size).toBe(2);
  expect(stdout).toMatch(/\d+ ticks \(1 failed as provoked\)/);
  expect(stdout).not.toMatch(/ a · (?:provoked|failed)/);
});

test.each([
  ['does not answer', () => nobodyThere, /tick 1 .*disturbed/, 'No usable answer'],
  [
    'refuses the credentials',
    refusingHost,
    /tick 1 .*[1-9] requests? · failed · CredentialsRefusedError(?:.*\n)+.*1 tick \(1 failed\) · [1-9] requests?/,
    'Compare client_id and client_secret with those that the partner issued',
  ],
])(
  'a real host that %s fails the tick, with the next step and without the secret',
  async (_, host, tick, advice) => {
    // Its name is from the folder where npm was called.
    const file = 'credentials.json';
    await writeFile(join(directory, file), `\uFEFF{"client_id":"a","client_secret":"${canary}"}`);
    const flags = ['--base-url', await host(), '--credentials', file, '--ticks', '1'];
    const { exitCode, stdout } = await start(...flags).ended;
    expect(exitCode).toBe(1);
    expect(stdout).toContain('real personal data');
    expect(stdout).toContain(`, with the credentials in ${join(directory, file)}`);
    expect(stdout).toMatch(tick);
    expect(stdout).toContain(advice);
    expect(stdout).not.toMatch(new RegExp(`Provoke|Secrets Manager|${canary}`));
  },
);

test('Ctrl-C while the stack is synthesized ends it cleanly', async () => {
  // The stack has never been synthesized before.
  const config = {
    stackName: `started-${Date.now()}`,
    integrations: [{ name: 'a', baseUrl: 'https://partner.example.org', timeZone: 'UTC' }],
  };
  const file = join(directory, 'new.config.mjs');
  await writeFile(file, `export default ${JSON.stringify(config)};`);
  const started = start('--config', file);
  const local = join(directory, 'local');
  await started.shows(/synthesizing the stack/);
  const stdout = await stopped(started);
  expect(stdout).toMatch(/start +synthesizing the stack.*\n$/);
  expect(await readdir(local)).toEqual([]);
});

// Only a process has this behaviour. All other tests run the program in this process.
describe('as a process, the program', () => {
  const program = join(import.meta.dirname, '../../local/start.ts');
  const children: ChildProcess[] = [];
  const startProcess = (stdout: number | 'pipe', ...flags: string[]) => {
    const child = spawn(process.execPath, [program, ...anyPorts, ...flags], {
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...environment() },
      stdio: ['ignore', stdout, 'pipe'],
    });
    children.push(child);
    return child;
  };
  const endOf = async (child: ReturnType<typeof startProcess>) => {
    const [[code], out, err] = await Promise.all([
      once(child, 'close'),
      child.stdout?.readable ? text(child.stdout) : '',
      child.stderr ? text(child.stderr) : '',
    ]);
    return { code, out, err };
  };

  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** The output once it contains this pattern. */
  const shownBy = async (child: ReturnType<typeof startProcess>, pattern: RegExp) => {
    let shown = '';
    for await (const [chunk] of on(Object(child.stdout), 'data')) {
      shown += chunk;
      if (pattern.test(shown)) break;
    }
    return shown;
  };

  /** Milliseconds for which the main thread of a process was ready and had no core; 0 if unknown. */
  const waitedMs = async (pid: number | undefined) => {
    const known = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0 0 0');
    return Number(known.split(' ')[1]) / 1e6;
  };

  // Measured: 0.5 s, including 0.2 s of waiting for a core. On cores with five times the work: 3 s
  // and 2.8 s. Work of other programs is not counted.
  test('has printed an address within two seconds, whose page shows the progress, and continues by itself', async () => {
    const began = performance.now();
    const waitedBefore = await waitedMs(process.pid);
    const child = startProcess('pipe');
    const shown = await shownBy(child, /http:\S+/);
    const [url = ''] = /http:\S+/.exec(shown) ?? [];
    const early = await fetch(url);
    const page = await early.text();
    const tookMs = performance.now() - began;
    const waited = (await waitedMs(child.pid)) + (await waitedMs(process.pid)) - waitedBefore;
    expect(tookMs - waited).toBeLessThan(2_000);
    expect(shown).not.toContain('Everything is ready');
    expect({ status: early.status, page }).toMatchObject({ status: 503 });
    expect(page).toContain('<li>reading the configuration</li>');
    expect(early.headers.get('refresh')).toBe('3');
    await shownBy(child, /tick 1 /);
    const ready = await fetch(url);
    expect(ready.url).toMatch(/\/i\/district-a\/now$/);
    const command = await fetch(new URL('commands/status', ready.url));
    expect(await command.text()).toContain('npm run ops -- status --local');
  });

  test('has shown events after --ticks and ends by itself, quietly and without a trace', async () => {
    const { code, out, err } = await endOf(startProcess('pipe', '--ticks', '4', '--every', '1'));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    // The address and the progress come from the first second on.
    expect(out).toMatch(
      /^.* on this machine\n {2}console .*\n\n[\d:]{8} +start +starting the partner\n/,
    );
    expect(out).toMatch(/Provoke +a page of the console/);
    expect(out).toMatch(/tick 1 .* recorded as known .* baseline/);
    expect(out).toMatch(/created .* · district-a\/\d+\/1/);
    expect(out).toMatch(/digest .* new certification/);
    expect(out).toMatch(/notice .*district-a: baseline completed/);
    expect(out).toMatch(
      /4 ticks · \d+ requests · [1-9]\d* events? received · 0 duplicates · [1-9]\d* digests? · [1-9]\d* notice/,
    );
    expect(await readdir(join(directory, 'local'))).toEqual([]);
  });

  test('has its address in its instance file while it runs, and Ctrl-C ends it cleanly', async () => {
    const child = startProcess('pipe', '--every', '1');
    const ended = endOf(child);
    await shownBy(child, /tick 1 /);
    const instance = JSON.parse(await readFile(join(directory, 'local/instance.json'), 'utf8'));
    expect(instance.pid).toBe(child.pid);
    expect((await fetch(instance.aws.endpoints.dynamodb)).status).toBe(200);
    child.kill('SIGINT');
    const { code, out, err } = await ended;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/\d+ ticks? · /);
    expect(await readdir(join(directory, 'local'))).toEqual([]);
    await expect(fetch(instance.aws.endpoints.dynamodb)).rejects.toThrow();
  });
});
