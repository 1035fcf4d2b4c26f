import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { run } from '../../local/run.ts';
import { RunningProgram } from '../support/running.ts';
import { event } from './events.ts';
import { Program } from './example.ts';
import { RefusingAws } from './refusing-aws.ts';

// The examples as a newcomer runs them: `npm start` in their folder, beside a local instance.
const folder = await mkdtemp(join(tmpdir(), 'examples-'));
let notifier: RunningProgram;

beforeAll(async () => {
  const environment = { NOTIFIER_LOCAL: folder };
  notifier = new RunningProgram(run, ['--every', '0.5'], { environment });
  await notifier.shows(/tick 1/);
});
afterAll(async () => {
  notifier?.interrupt();
  await notifier?.ended;
  await rm(folder, { recursive: true, force: true });
});

/** The port is below the range that the system assigns, so it is still free when the example takes it. */
async function freePort(): Promise<number> {
  for (let port = 20_000 + (process.pid % 10_000); ; port += 1) {
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(Boolean, () => false);
    server.close();
    if (isFree) return port;
  }
}

describe.each(['sqs-worker', 'lambda', 'https-webhook'])('the example %s', (name) => {
  it('gets the events that a local instance shows', async () => {
    const PORT = String(await freePort());
    await using example = await Program.start(name, { NOTIFIER_LOCAL: folder, PORT });
    const line = await example.line(/^certification\.created {2}/);
    expect(line).toMatch(/^\S+ {2}[^,]*, \d{4}-\d\d-\d\d {2}district-a\/\d+\/1$/);
    await notifier.shows(new RegExp(`created .* ${line.split(' ').at(-1)}( |$)`, 'm'));
    expect(example.lines.join()).not.toMatch(/not (handled|done|received)|refused|failed/);
    if (name !== 'https-webhook') return;
    await fetch(`http://127.0.0.1:${PORT}/`, { method: 'POST', body: 'Odalys' });
    await example.line(/^refused {2}400 SnsMessageRefusedError, malformed$/);
  });

  it('says so if no instance runs', async () => {
    await using example = await Program.start(name, { NOTIFIER_LOCAL: join(folder, 'none') });
    await example.line(/Start certification-notifier first/);
    await example.line(/^\(ended with 1\)/);
  });

  it('has the dependencies that are tested here', async () => {
    const needsOf = async (path: string) => {
      const manifest = JSON.parse(await readFile(`${path}/package.json`, 'utf8'));
      return { ...manifest.dependencies, ...manifest.devDependencies };
    };
    const { 'certification-notifier': ours, ...others } = await needsOf(`examples/${name}`);
    expect(ours).toBe('file:../..');
    expect(await needsOf('.')).toMatchObject(others);
  });
});

it('the worker continues after SQS has refused to give and to delete a message, in the order of its group', async () => {
  const aws = new RefusingAws();
  aws.messages.set('r2', JSON.stringify({ ...event(), id: 'district-a/48213/2', sequence: '2' }));
  aws.refusals = { ReceiveMessage: 1, DeleteMessage: 1 };
  await using worker = await Program.start('sqs-worker', await aws.open());
  await worker.line(/^not received: \w+$/);
  await worker.line(/^certification\.created {2}/);
  await worker.line(/^not done with: \w+$/);
  await vi.waitUntil(() => aws.messages.size === 0, 10_000);
  expect(worker.lines.join()).not.toMatch(/Odalys|\(ended/);
  const handled = ['UpdateItem', 'UpdateItem', 'DeleteMessage'];
  expect(aws.asked.filter((operation) => operation !== 'ReceiveMessage')).toEqual(
    [handled, handled, handled].flat(),
  );
  aws.close();
});
