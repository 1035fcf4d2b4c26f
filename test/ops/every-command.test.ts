import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Duty, denied } from './duty.ts';
import { eachCommand } from './each-command.ts';

// Pages of the console and tools of mcp report failures themselves: test/console/, mcp/mcp.test.ts.
// `listen` uses no function: listen.test.ts.
const elsewhere = ['console', 'mcp', 'listen'];
const everyCommand = eachCommand
  .filter(({ name }) => !elsewhere.includes(name))
  .map(({ name, args }): [string, string] => [name, args]);

// Failing commands change nothing, so one deployment serves all.
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

describe('a missing stack', () => {
  it.each(everyCommand)('is reported by %s', async (_name, args) => {
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
  // `watch` tolerates it for a while: watch.test.ts.
  it.each(everyCommand.filter(([name]) => name !== 'watch'))(
    'is reported by %s',
    async (_, args) => {
      duty.lambda.always(async () => ({
        status: 500,
        type: 'application/json',
        body: '{"__type":"ServiceException"}',
      }));
      const { exitCode, stdout, stderr } = await run(args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
      expect(stderr).toContain('error: lambda:InvokeFunction failed (ServiceException).');
      expect(stderr).toContain('A retry can help.');
    },
  );
});

describe('Ctrl-C within a call', () => {
  it.each(everyCommand)('ends %s, which names its effects', async (name, args) => {
    const program = duty.start(args);
    program.input.end(credentials);
    duty.lambda.always(async () => {
      program.interrupt();
      await program.ended;
      return undefined;
    });
    const { exitCode, stdout, stderr } = await program.ended;
    // For `watch`, this is the regular end.
    expect({ exitCode, stdout }).toEqual({ exitCode: name === 'watch' ? 0 : 130, stdout: '' });
    if (name !== 'watch')
      expect(stderr).toMatch(
        /^error: Interrupted\.\n {2}(Nothing was changed|The call in progress)/,
      );
  });
});

describe('a partner that is down', () => {
  type Told = [exitCode: number, words: RegExp];
  /** All others fail. */
  const down: Readonly<Record<string, Told>> = {
    status: [
      0,
      /the partner does not answer(.|\n)*30 known; the partner gives no total: .*status 503/,
    ],
    check: [1, /failed {3}token .*\n.*→/],
    explain: [0, /partner now {3}gives no answer: .*status 503/],
    events: [0, /^No event of these days/],
    pause: [0, /^paused/],
    resume: [0, /^resumed/],
    holds: [0, /^Nothing is held/],
    release: [0, /^Nothing is held/],
    discard: [0, /^Nothing is held/],
    'test-event': [0, /^accepted/],
    baseline: [0, /completed: 30 certifications\nThe partner gives no total: .*status 503/],
    'credentials set': [5, /error: .*status 503.*\n {2}Nothing was stored/],
  };

  const fails: Told = [5, /error: .*status 503/];
  // `watch` tolerates it for a while: watch.test.ts.
  const others = everyCommand.filter(([name]) => name !== 'watch');

  it.each(others)('is reported by %s, if the command needs the partner', async (name, args) => {
    const [code, words] = down[name] ?? fails;
    if (name === 'resume') await run('pause --reason maintenance');
    duty.stage.partner.always(async () => ({ status: 503, type: 'text/plain', body: '' }));
    const { exitCode, stdout, stderr } = await run(args);
    duty.stage.partner.reset();
    if (name === 'pause') await run('resume');
    expect(stdout + stderr).toMatch(words);
    expect(exitCode).toBe(code);
  });
});
