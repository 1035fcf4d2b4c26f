import type { Command } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../../ops/program.ts';
import { Duty, denied } from './duty.ts';

/** Each as it would work, if nothing went wrong. */
const commandLines = {
  status: 'status',
  check: 'check',
  watch: 'watch',
  explain: 'explain 48001',
  prove: 'prove --from 2026-10-01 --to 2026-10-31 --now',
  tick: 'tick',
  pause: 'pause --reason maintenance',
  resume: 'resume',
  holds: 'holds',
  release: 'release --yes',
  discard: 'discard --yes',
  replay: 'replay --all --baseline --dry-run',
  'test-event': 'test-event',
  baseline: 'baseline',
  'accept-total': 'accept-total 3 --yes',
  'credentials set': 'credentials set',
};
type Name = keyof typeof commandLines;
const everyCommand = Object.entries(commandLines);

// Nothing is changed by what fails, so one deployment does for all.
const duty = new Duty();
let credentials = '';
beforeAll(async () => {
  await duty.build();
  await duty.raise();
  await duty.stage.completedTick();
  const { clientId, clientSecret } = duty.stage.sandbox.credentials;
  credentials = JSON.stringify({ client_id: clientId, client_secret: clientSecret });
});
afterEach(() => {
  duty.lambda.reset();
  duty.stage.partner.reset();
});
afterAll(async () => {
  await duty.strike();
  await duty.dismantle();
});

const run = (args: string) => duty.run(args, { input: credentials });

function namesOf(parent: Command, prefix = ''): string[] {
  return parent.commands.flatMap((command) => {
    const name = `${prefix}${command.name()}`;
    return command.commands.length > 0 ? namesOf(command, `${name} `) : [name];
  });
}

it('no command that needs a deployment is forgotten here', () => {
  const program = buildProgram(async () => {});
  // The console's pages tell what goes wrong: test/console/.
  const others = ['completion', 'console'];
  expect([...Object.keys(commandLines), ...others].sort()).toEqual(namesOf(program).sort());
});

describe('a stack that is not there', () => {
  it.each(everyCommand)('is told by %s', async (_name, args) => {
    const { exitCode, stdout, stderr } = await duty.runAnywhere(`${args} --stack nowhere`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toContain('error: There is no stack nowhere in us-east-1.');
  });
});

describe('a permission that is missing', () => {
  it.each(everyCommand)('is named by %s', async (_name, args) => {
    duty.lambda.always(async () => denied);
    const { exitCode, stdout, stderr } = await run(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
    expect(stderr).toContain('error: AWS refuses lambda:InvokeFunction (AccessDeniedException).');
  });
});

describe('a Lambda that fails', () => {
  // Watching bears it for a while: watch.test.ts.
  it.each(everyCommand.filter(([name]) => name !== 'watch'))('is told by %s', async (_, args) => {
    duty.lambda.always(async () => ({
      status: 500,
      type: 'application/json',
      body: '{"__type":"ServiceException"}',
    }));
    const { exitCode, stdout, stderr } = await run(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
    expect(stderr).toContain('error: lambda:InvokeFunction failed (ServiceException).');
    expect(stderr).toContain('A retry can help.');
  });
});

describe('Ctrl-C in the middle', () => {
  it.each(everyCommand)('ends %s, which says what it has left', async (name, args) => {
    const program = duty.start(args);
    program.input.end(credentials);
    duty.lambda.always(async () => {
      program.interrupt();
      await program.ended;
      return undefined;
    });
    const { exitCode, stdout, stderr } = await program.ended;
    // For watch it is the regular end.
    expect({ exitCode, stdout }).toEqual({ exitCode: name === 'watch' ? 0 : 130, stdout: '' });
    if (name !== 'watch')
      expect(stderr).toMatch(
        /^error: Interrupted\.\n {2}(Nothing was changed|The call in progress)/,
      );
  });
});

describe('a partner that is down', () => {
  const down: Record<Exclude<Name, 'watch'>, [exitCode: number, words: RegExp]> = {
    status: [
      0,
      /the partner does not answer(.|\n)*30 known; the partner gives no total: .*status 503/,
    ],
    check: [1, /failed {3}token .*\n.*→/],
    explain: [0, /partner now {3}gives no answer: .*status 503/],
    prove: [5, /error: .*status 503/],
    tick: [5, /error: .*status 503/],
    pause: [0, /^paused/],
    resume: [0, /^resumed/],
    holds: [0, /^Nothing is held/],
    release: [0, /^Nothing is held/],
    discard: [0, /^Nothing is held/],
    replay: [5, /error: .*status 503/],
    'test-event': [0, /^accepted/],
    baseline: [0, /completed: 30 certifications\nThe partner gives no total: .*status 503/],
    'accept-total': [5, /error: .*status 503/],
    'credentials set': [5, /error: .*status 503.*\n {2}Nothing was stored/],
  };

  it.each(Object.entries(down))('is told by %s where it matters', async (name, [code, words]) => {
    if (name === 'resume') await run('pause --reason maintenance');
    duty.stage.partner.always(async () => ({ status: 503, type: 'text/plain', body: '' }));
    const [, args = ''] = everyCommand.find(([one]) => one === name) ?? [];
    const { exitCode, stdout, stderr } = await run(args);
    duty.stage.partner.reset();
    if (name === 'pause') await run('resume');
    expect(stdout + stderr).toMatch(words);
    expect(exitCode).toBe(code);
  });
});
