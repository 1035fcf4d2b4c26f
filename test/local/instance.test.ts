import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { close, listen } from '../../local/aws/loopback-server.ts';
import { StartError } from '../../local/errors.ts';
import { claimInstance, instanceSchema } from '../../local/instance.ts';

const startedAt = '2026-11-21T12:00:00Z';
/** Above every pid that Linux, macOS or Windows hands out. */
const nobody = 2 ** 30;
let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'instance-'));
  file = join(directory, '.local', 'instance.json');
});
afterEach(() => rm(directory, { recursive: true }));

const awsAt = (dynamodb: string) => ({
  region: 'us-east-1',
  endpoints: { dynamodb },
  functions: {},
});
const content = async () => instanceSchema.parse(JSON.parse(await readFile(file, 'utf8')));

test('an instance says who it is, then where it answers, and leaves nothing behind', async () => {
  const instance = await claimInstance(file, startedAt);
  expect(await content()).toEqual({ pid: process.pid, startedAt });
  await instance.publish(awsAt('http://127.0.0.1:1'));
  expect((await content()).aws?.endpoints).toEqual({ dynamodb: 'http://127.0.0.1:1' });
  await instance.remove();
  await expect(readFile(file)).rejects.toThrow();
});

test('a second instance is refused while the first one starts', async () => {
  await claimInstance(file, startedAt);
  await expect(claimInstance(file, startedAt)).rejects.toThrow(StartError);
});

test('a second instance is refused while the first one answers', async () => {
  const server = createServer((_, response) => response.end('healthy'));
  const instance = await claimInstance(file, startedAt);
  await instance.publish(awsAt(await listen(server)));
  await expect(claimInstance(file, startedAt)).rejects.toThrow(StartError);
  await close(server);
});

test('the file of a process that is gone is taken over', async () => {
  await claimInstance(file, startedAt);
  await writeFile(file, JSON.stringify({ pid: nobody, startedAt }));
  await claimInstance(file, startedAt);
  expect((await content()).pid).toBe(process.pid);
});

test('the file of a process id that another program has by now is taken over', async () => {
  const server = createServer();
  const closed = await listen(server);
  await close(server);
  const instance = await claimInstance(file, startedAt);
  await instance.publish(awsAt(closed));
  await claimInstance(file, 'later');
  expect((await content()).startedAt).toBe('later');
});

test('a file that is no instance file is taken over', async () => {
  await claimInstance(file, startedAt);
  await writeFile(file, '{ half a li');
  await claimInstance(file, 'later');
  expect((await content()).startedAt).toBe('later');
});
