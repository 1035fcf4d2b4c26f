import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../local/run.ts';
import { RunningProgram } from '../support/running.ts';
import { Program } from './example.ts';

// The examples as a newcomer runs them: `npm start` in their folder, beside a local instance.
const timeout = 60_000;
let folder: string;
let notifier: RunningProgram;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'examples-'));
  const environment = { NOTIFIER_LOCAL: folder };
  notifier = new RunningProgram(run, ['--every', '0.5'], { environment });
  await notifier.shows(/tick 1/);
}, timeout);
afterAll(async () => {
  notifier?.interrupt();
  await notifier?.ended;
  await rm(folder, { recursive: true, force: true });
});

/** The port is below the range that the system assigns, so it is still free when the example takes it. */
async function freePort(): Promise<number> {
  for (let port = 20_000 + (process.pid % 10_000); ; port += 1) {
    const server = createServer().listen(port, '127.0.0.1');
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (free) return port;
  }
}

const idOf = (line: string) => line.split(' ').at(-1);

describe('an example beside a local instance', () => {
  it.each(['sqs-worker', 'lambda', 'https-webhook'])(
    '%s gets the events that the instance shows',
    async (name) => {
      const example = await Program.start(name, {
        NOTIFIER_LOCAL: folder,
        PORT: String(await freePort()),
      });
      try {
        const line = await example.line(/^certification\.created {2}/);
        expect(line).toMatch(
          /^certification\.created {2}[^,]*, \d{4}-\d\d-\d\d {2}district-a\/\d+\/1$/,
        );
        await notifier.shows(new RegExp(`created .* ${idOf(line)}( |$)`, 'm'));
        expect(example.lines.join()).not.toMatch(/not (handled|done|received)|refused|failed/);
      } finally {
        await example.end();
      }
    },
    timeout,
  );

  it.each(['sqs-worker', 'lambda', 'https-webhook'])(
    '%s says so if no instance runs',
    async (name) => {
      const example = await Program.start(name, { NOTIFIER_LOCAL: join(folder, 'none') });
      await example.line(/Start certification-notifier first/);
      await example.line(/^\(ended with 1\)/);
      await example.end();
    },
  );
});

describe('an example to copy', () => {
  it.each(['sqs-worker', 'lambda', 'https-webhook'])(
    '%s has the dependencies that are tested here',
    async (name) => {
      const needs = async (path: string) => {
        const file = await readFile(
          join(import.meta.dirname, '../..', path, 'package.json'),
          'utf8',
        );
        const { dependencies, devDependencies } = JSON.parse(file);
        return { ...dependencies, ...devDependencies };
      };
      const { 'certification-notifier': ours, ...others } = await needs(`examples/${name}`);
      expect(ours).toBe('file:../..');
      expect(await needs('.')).toMatchObject(others);
    },
  );

  it.each(['sqs-worker', 'https-webhook'])(
    '%s says how it starts without local.ts, which its `start` imports',
    async (name) => {
      const text = (file: string) =>
        readFile(join(import.meta.dirname, '../../examples', name, file), 'utf8');
      const { start } = JSON.parse(await text('package.json')).scripts;
      expect(start).toContain('--import ./local.ts ');
      const without = `\`${start.replace('--import ./local.ts ', '')}\``;
      expect(await text('local.ts')).toContain(without);
      expect(await text('README.md')).toContain(without);
    },
  );
});
