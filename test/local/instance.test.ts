import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Temporal } from 'temporal-polyfill';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { close, listenOnLoopback } from '../../local/aws/loopback-server.ts';
import { StartError } from '../../local/errors.ts';
import { claimInstance, instanceSchema, localDirectory } from '../../local/instance.ts';

const now = Temporal.Instant.from('2026-11-21T12:00:00Z');
const startedAt = now.toString();
/** Above each process id that Linux, macOS or Windows assigns. */
const nobody = 2 ** 30;
/** The parent process, which lives as long as this test. */
const somebody = process.ppid;
let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'instance-'));
  file = join(directory, 'instance.json');
});
afterEach(() => rm(directory, { recursive: true }));

const awsAt = (dynamodb: string) => ({
  region: 'us-east-1',
  endpoints: { dynamodb },
  functions: {},
});
const leave = (instance: object) => writeFile(file, JSON.stringify(instance));
const content = async () => instanceSchema.parse(JSON.parse(await readFile(file, 'utf8')));

test('an instance names its process first, then its addresses, and leaves nothing behind', async () => {
  const instance = await claimInstance(directory, now);
  expect(await content()).toEqual({ pid: process.pid, startedAt });
  await instance.publish(awsAt('http://127.0.0.1:1'));
  expect((await content()).aws?.endpoints).toEqual({ dynamodb: 'http://127.0.0.1:1' });
  await instance.remove();
  expect(await readdir(directory)).toEqual([]);
});

test('a checkout keeps its instance in its own folder, unless another one is named', () => {
  expect(localDirectory({})).toBe(join(import.meta.dirname, '../../.local'));
  expect(localDirectory({ NOTIFIER_LOCAL: '' })).toBe(localDirectory({}));
  expect(localDirectory({ NOTIFIER_LOCAL: directory })).toBe(directory);
});

test('a second instance is refused while the first one starts or answers, with the file that says so', async () => {
  await claimInstance(directory, now);
  await leave({ pid: somebody, startedAt });
  const second = claimInstance(directory, now.add({ seconds: 90 }));
  await expect(second).rejects.toThrow(StartError);
  await expect(second).rejects.toThrow(file);
  const server = createServer((_, response) => response.end('healthy'));
  await leave({ pid: somebody, startedAt, aws: awsAt(await listenOnLoopback(server)) });
  await expect(claimInstance(directory, now.add({ hours: 24 }))).rejects.toThrow(StartError);
  await close(server);
});

test.each([
  ['of a process that is gone', { pid: nobody, startedAt }],
  [
    'of an instance that died while it started, and whose process id was assigned again',
    { pid: somebody, startedAt: '2026-11-21T11:57:00Z' },
  ],
  ["of a process whose id is now this one's", { pid: process.pid, startedAt }],
  ['that is no instance file', { pid: somebody, startedAt: 'yesterday' }],
])('the file %s is taken over', async (_, left) => {
  await leave(left);
  await claimInstance(directory, now);
  expect(await content()).toEqual({ pid: process.pid, startedAt });
});

test.each([
  ['the folder is a file', (path: string) => writeFile(path, ''), ''],
  [
    'the file is a folder',
    (path: string) => mkdir(join(path, 'instance.json'), { recursive: true }),
    '',
  ],
  ['the folder cannot be made', (path: string) => writeFile(path, ''), 'inner'],
])('when %s, the error names the path', async (_, obstruct, inner) => {
  const path = join(directory, 'local');
  await obstruct(path);
  const claim = claimInstance(join(path, inner), now);
  await expect(claim).rejects.toThrow(StartError);
  await expect(claim).rejects.toThrow(join(path, inner, 'instance.json'));
});
