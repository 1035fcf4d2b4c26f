import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { compileCache } from '../support/compile-cache.ts';
import { nobodyThere } from '../support/nobody-there.ts';

const program = join(import.meta.dirname, '../../local/start.ts');
let directory: string;
const running: (() => void)[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'start-'));
});
afterEach(async () => {
  for (const end of running.splice(0)) end();
  await rm(directory, { recursive: true });
});

const environment = () => ({
  ...process.env,
  NODE_COMPILE_CACHE: compileCache,
  NOTIFIER_LOCAL: join(directory, 'local'),
});

/** The program as a process of its own; what it keeps is in a directory of its own, too. */
function start(...flags: string[]) {
  const child = spawn(process.execPath, [program, ...flags], {
    env: { ...environment(), INIT_CWD: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(() => child.kill('SIGKILL'));
  const out: string[] = [];
  const err: string[] = [];
  const closed = once(child, 'close');
  const lines = createInterface({ input: child.stdout }).on('line', (line) => out.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => err.push(line));
  return {
    child,
    /** Resolves with the first line of its output that matches. */
    line: async (pattern: RegExp) => {
      for (;;) {
        const [line] = await once(lines, 'line');
        if (pattern.test(line)) return String(line);
      }
    },
    ended: async () => {
      const [code] = await closed;
      return { code, out: out.join('\n'), err };
    },
  };
}

const credentialsFile = async (content: string) => {
  const file = join(directory, 'credentials.json');
  await writeFile(file, content);
  return file;
};
const canary = 'canary-4f1d-secret';

describe('what cannot work is one line and a failure:', () => {
  test.each([
    ['an unknown flag', ['--faster'], "unknown option '--faster'"],
    ['an interval that is no number', ['--every', 'soon'], 'Allowed: seconds, from 0.2 to 3600'],
    ['no ticks at all', ['--ticks', '0'], 'Allowed: a whole number from 1'],
    ['a host without credentials', ['--base-url', 'https://a.example'], 'need each other'],
    ['a credentials file without a name', ['--credentials', ''], 'Allowed: the path of a file.'],
    ['a time zone for the sandbox', ['--time-zone', 'UTC'], "needs '--base-url'"],
  ])('%s', async (_, flags, expected) => {
    const { code, out, err } = await start(...flags).ended();
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toEqual([expect.stringContaining(expected)]);
  });

  test.each([
    ['is not there', undefined, 'cannot be read (ENOENT)'],
    [
      'is no JSON',
      `{"client_secret": "${canary}`,
      'holds no credentials (it is not a JSON object)',
    ],
    ['lacks the id', `{"client_secret": "${canary}"}`, '(client_id is not a text, or is empty)'],
  ])('a credentials file that %s, without a word of its content', async (_, content, expected) => {
    const file =
      content === undefined ? join(directory, 'none.json') : await credentialsFile(content);
    const flags = ['--base-url', 'http://127.0.0.1:9', '--credentials', file];
    const { code, err } = await start(...flags).ended();
    expect(code).toBe(1);
    expect(err).toEqual([expect.stringContaining(expected)]);
    expect(err.join()).not.toContain(canary);
  });

  test.each([
    [
      'a host that may not be asked in the clear',
      ['--base-url', 'http://platform.example.org'],
      /option '--base-url': "http:.* allowed: an https host/,
    ],
    [
      'a host with credentials, without repeating them',
      ['--base-url', `https://a:${canary}@platform.example.org`],
      /option '--base-url': a text of \d+ characters found; allowed: an https host/,
    ],
    [
      'a time zone that is none',
      ['--base-url', 'https://platform.example.org', '--time-zone', 'Nowhere'],
      /option '--time-zone': "Nowhere" found; allowed: .*IANA/,
    ],
  ])('%s', async (_, flags, expected) => {
    const { code, err } = await start(...flags, '--credentials', 'c.json').ended();
    expect(code).toBe(1);
    expect(err).toEqual([expect.stringMatching(expected)]);
    expect(err.join()).not.toContain(canary);
  });

  test('a folder that cannot be written', async () => {
    await writeFile(join(directory, 'local'), '');
    const { code, err } = await start().ended();
    expect(code).toBe(1);
    expect(err).toEqual([expect.stringContaining(join(directory, 'local/instance.json'))]);
  });

  test('a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = Object(server.address());
    const { code, err } = await start('--port', String(port)).ended();
    server.close();
    expect(code).toBe(1);
    expect(err).toEqual([expect.stringContaining(`Port ${port} is taken`)]);
  });

  test('a second instance', async () => {
    await mkdir(join(directory, 'local'));
    const other = { pid: process.pid, startedAt: new Date().toISOString() };
    await writeFile(join(directory, 'local/instance.json'), JSON.stringify(other));
    const { code, err } = await start().ended();
    expect(code).toBe(1);
    expect(err).toEqual([
      expect.stringContaining(`Another instance runs already (process ${process.pid}`),
    ]);
  });
});

test('--help explains every flag', async () => {
  const { code, out, err } = await start('--help').ended();
  expect({ code, err }).toEqual({ code: 0, err: [] });
  for (const flag of 'ticks every port records seed base-url credentials config'.split(' ')) {
    expect(out).toContain(`--${flag} <`);
  }
});

test('after --ticks it has shown events and ends by itself, quietly and without a trace', async () => {
  const { code, out, err } = await start('--ticks', '4', '--every', '1').ended();
  expect({ code, err }).toEqual({ code: 0, err: [] });
  expect(out).toMatch(/tick 1 .* recorded as known .* baseline/);
  expect(out).toMatch(/created .* · district-a\/\d+\/1/);
  expect(out).toMatch(/digest .* new certification/);
  expect(out).toMatch(/4 ticks · \d+ requests · [1-9]\d* events? received · 0 duplicates · [1-9]/);
  expect(await readdir(join(directory, 'local'))).toEqual([]);
});

test('every integration of the configuration is watched, each at a partner of its own', async () => {
  const shared = { baseUrl: 'https://platform.example.org', timeZone: 'UTC' };
  const integrations = [
    { ...shared, name: 'district-a' },
    { ...shared, name: 'district-b', secretName: 'partner/district-b', fields: 'identifiers' },
  ];
  const config = `export default ${JSON.stringify({ integrations })};`;
  await writeFile(join(directory, 'two.config.mjs'), config);
  const run = start('--config', 'two.config.mjs', '--ticks', '4', '--every', '1');
  const { code, out, err } = await run.ended();
  expect({ code, err }).toEqual({ code: 0, err: [] });
  for (const { name } of integrations) {
    expect(out.match(new RegExp(`tick \\d+ +${name} · `, 'g'))).toHaveLength(4);
    expect(out).toMatch(
      new RegExp(`${name} · \\d+ requests? · \\d+ recorded as known .* baseline`),
    );
    expect(out).toMatch(new RegExp(`created .* · ${name}/\\d+/1`));
  }
  expect(new Set(out.match(/http:\S+(?= {2}sandbox)/g)).size).toBe(2);
  expect(out).toMatch(/8 ticks · /);
});

test('a configuration with mistakes is told as by a synthesis', async () => {
  await writeFile(join(directory, 'bad.config.mjs'), 'export default { integrations: [] };');
  const { code, out, err } = await start('--config', 'bad.config.mjs').ended();
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err.slice(0, 2)).toEqual([
    expect.stringMatching(/^error: .*bad\.config\.mjs has a problem:$/),
    expect.stringMatching(/^ {2}integrations: a list of 0 found; allowed: /),
  ]);
});

test('while it runs its instance file says where, and Ctrl-C ends it cleanly', async () => {
  const { child, line, ended } = start('--every', '1');
  await line(/tick 1 /);
  const instance = JSON.parse(await readFile(join(directory, 'local/instance.json'), 'utf8'));
  expect(instance.pid).toBe(child.pid);
  expect((await fetch(instance.aws.endpoints.dynamodb)).status).toBe(200);
  child.kill('SIGINT');
  const { code, out, err } = await ended();
  expect({ code, err }).toEqual({ code: 0, err: [] });
  expect(out).toMatch(/\d+ ticks? · /);
  expect(await readdir(join(directory, 'local'))).toEqual([]);
  await expect(fetch(instance.aws.endpoints.dynamodb)).rejects.toThrow();
});

test('a host that does not answer fails the tick, with what to do and without the secret', async () => {
  const file = await credentialsFile(`{"client_id":"a","client_secret":"${canary}"}`);
  const flags = ['--base-url', nobodyThere, '--credentials', file, '--ticks', '1'];
  const { code, out } = await start(...flags).ended();
  expect(code).toBe(1);
  expect(out).toContain('real personal data');
  expect(out).toMatch(/tick 1 .*failed .*UnavailableError/);
  expect(out).toContain('→ ');
  expect(out).not.toContain(canary);
});

test('a signal while the stack is synthesized ends it cleanly', async () => {
  // Of a stack that has never been synthesized before.
  const config = {
    stackName: `started-${Date.now()}`,
    integrations: [{ name: 'a', baseUrl: 'https://platform.example.org', timeZone: 'UTC' }],
  };
  const file = join(directory, 'new.config.mjs');
  await writeFile(file, `export default ${JSON.stringify(config)};`);
  const { child, ended } = start('--config', file);
  const local = join(directory, 'local');
  await vi.waitFor(async () => expect((await readdir(local)).join()).toContain('assembly-'), {
    timeout: 20_000,
  });
  child.kill('SIGTERM');
  expect(await ended()).toEqual({ code: 0, out: '', err: [] });
  expect(await readdir(local)).toEqual([]);
});

test('refused credentials are blamed on their file, named from where npm was called', async () => {
  const server = createHttpServer((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end('{"error":"invalid_client"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = Object(server.address());
  const file = await credentialsFile(`\uFEFF{"client_id":"a","client_secret":"${canary}"}`);
  const host = ['--base-url', `http://127.0.0.1:${port}`, '--credentials', 'credentials.json'];
  const { code, out } = await start(...host, '--ticks', '1').ended();
  server.close();
  expect(code).toBe(1);
  expect(out).toContain(`→ Compare client_id and client_secret in ${file} with`);
  expect(out).not.toContain('Secrets Manager');
  expect(out).toMatch(/tick 1 .*[1-9] requests? · failed · CredentialsRefusedError/);
  expect(out).toMatch(/1 tick \(1 failed\) · [1-9] requests?/);
});

describe('output', () => {
  const run = (stdout: number | 'pipe') =>
    spawn(process.execPath, [program, '--ticks', '1'], {
      env: environment(),
      stdio: ['ignore', stdout, 'pipe'],
    });
  const endOf = async (child: ReturnType<typeof run>) => {
    running.push(() => child.kill('SIGKILL'));
    const [[code], err] = await Promise.all([
      once(child, 'close'),
      child.stderr ? text(child.stderr) : '',
    ]);
    return { code, err };
  };

  test('that nobody reads any more is the end, and no failure', async () => {
    const child = run('pipe');
    child.stdout?.destroy();
    expect(await endOf(child)).toEqual({ code: 0, err: '' });
  });

  test.skipIf(process.platform !== 'linux')('to a full disk is a failure', async () => {
    await using full = await open('/dev/full', 'w');
    const { code, err } = await endOf(run(full.fd));
    expect(code).toBe(1);
    expect(err).toBe(
      'error: The output cannot be written (ENOSPC). Make room for it, or send it elsewhere.\n',
    );
  });
});
