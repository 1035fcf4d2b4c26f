import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run as start } from '../../local/run.ts';
import { RunningProgram } from '../support/running.ts';
import { Running } from './running.ts';

const folder = mkdtempSync(join(tmpdir(), 'local-'));
const environment = { NOTIFIER_LOCAL: folder };
let instance: RunningProgram;

beforeAll(async () => {
  instance = new RunningProgram(start, '--every 90 --records 5'.split(' '), { environment });
  await instance.shows(/tick 1/);
});
afterAll(async () => {
  instance.interrupt();
  await instance.ended;
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: string) => new Running(`${args} --local`, { environment }).ended;

it('check shows the pace of an instance under npm start', async () => {
  expect((await run('check')).stdout).toContain('Enabled: rate(90 seconds).');
});
