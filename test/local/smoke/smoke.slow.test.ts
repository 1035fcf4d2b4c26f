import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import { startPartnerSandbox } from '../../../local/partner-sandbox/index.ts';
import { run as start } from '../../../local/run.ts';
import { DemoPartner } from '../../../local/smoke/partner.ts';
import { run as smoke } from '../../../local/smoke/run.ts';
import { run as ops } from '../../../ops/run.ts';
import { RunningProgram } from '../../support/running.ts';

let directory: string;
const environment = () => ({ NOTIFIER_LOCAL: directory });

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'smoke-'));
});
afterEach(() => rm(directory, { recursive: true }));

const smoked = (...flags: string[]) =>
  new RunningProgram(smoke, ['--local', ...flags], { environment: environment() }).ended;

it('smoke passes on the demo, and fails if changes are not announced', async () => {
  const argv = ['--demo', '--port', '0', '--every', '0.5'];
  const demo = new RunningProgram(start, argv, { environment: environment() });
  onTestFinished(async () => {
    demo.interrupt();
    await demo.ended;
  });
  // A removal during the baseline may be unnoticed.
  await demo.shows(/ withdrawn /);
  const passed = await smoked();
  expect(passed.stdout).toMatch(
    / completed +created .*\n(.*\n)*passed: each change was told, no event/,
  );
  expect(passed.stdout).toContain(
    '\nchanges: 1 completed, 1 backdated, 1 edited, 1 removed, 1 restored\n',
  );
  expect(passed).toMatchObject({ exitCode: 0, stderr: '' });

  const pause = new RunningProgram(ops, ['pause', '--local', '--reason', 'tried'], {
    environment: environment(),
  });
  expect(await pause.ended).toMatchObject({ exitCode: 0 });
  const failed = await smoked('--within', '1');
  expect(failed).toMatchObject({ exitCode: 1 });
  expect(failed.stdout).toMatch(/\nedited \d+: no event tells of it\n/);
  expect(failed.stdout).toMatch(/\nfailed: \d+ of the above\n$/);
});

it.each([
  ['a flag that does not exist', ['--nothing'], 2, "unknown option '--nothing'"],
  ['a limit that is too large', ['--within', '1000000'], 2, 'a whole number from 1 to 999999'],
  ['no local instance', [], 3, 'npm start'],
])('smoke ends with the exit code of npm run ops after %s', async (_, flags, exitCode, said) => {
  const { stderr, ...ended } = await smoked(...flags);
  expect(ended).toMatchObject({ exitCode, stdout: '' });
  expect(stderr).toContain(said);
});

it('smoke refuses a partner that is no demo, and says how to have one', async () => {
  const partner = await startPartnerSandbox({ records: 1 });
  onTestFinished(() => partner.close());
  await expect(DemoPartner.ask(partner.url, systemClock)).rejects.toMatchObject({
    exitCode: 3,
    whatToDo: expect.stringContaining('npm start -- --demo'),
  });
});
