import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Duty, raisedOnce } from './duty.ts';
import { told } from './mcp/assistant.ts';
import { ended, startProgram } from './running.ts';

// Only a process has this behaviour. All other tests run the program in their own process.
const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
raisedOnce(duty, () => duty.stage.completedTick());

const entry = fileURLToPath(new URL('../../ops/cli.ts', import.meta.url));
const start = (args: string, environment: Record<string, string> = {}) =>
  startProgram(`${args} --stack ${duty.stack}`, { ...duty.environment, ...environment });

describe('as a process, the program', () => {
  it('finds its settings in its environment, and has the same output', async () => {
    await duty.run('pause --reason maintenance');
    const inProcess = await duty.run('pause --reason again');
    expect(inProcess).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/ E[SD]T /) });
    expect(await ended(start('pause --reason again'))).toEqual(inProcess);
  });

  it('ends without a failure when nobody reads its output any longer', async () => {
    const child = start('completion bash');
    child.stdout.destroy();
    const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends at once with %s during a call', async (signal) => {
    const child = start('test-event');
    duty.lambda.always(async () => {
      child.kill(signal);
      await once(child, 'exit');
      return undefined;
    });
    const { exitCode, stderr } = await ended(child);
    expect(stderr).toMatch(/^error: Interrupted\.\n {2}The call in progress goes on in AWS/);
    expect(exitCode).toBe(130);
  });

  it('ends with the same words when Ctrl-C comes while it is loading', async () => {
    const hook = `import { registerHooks } from 'node:module';
      registerHooks({
        resolve(specifier, context, next) {
          if (specifier.endsWith('/run.ts')) process.kill(process.pid, 'SIGINT');
          return next(specifier, context);
        },
      });`;
    const { exitCode, stderr } = await ended(
      start('tick', { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` }),
    );
    expect(stderr).toContain('error: Interrupted.\n  Nothing was changed.');
    expect(exitCode).toBe(130);
    expect(duty.cloudFormation.calls).toEqual([]);
  });

  it("serves mcp to the SDK's client", async () => {
    const client = new Client({ name: 'assistant', version: '1.0.0' });
    const args = [entry, 'mcp', '--stack', duty.stack];
    const { environment: env } = duty;
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' }),
    );
    const answer = await client.callTool({ name: 'holds', arguments: {} });
    expect(told(answer).text).toBe('Nothing is held.');
    await client.close();
  });
});

it('a process on a full disk ends as a failure that it cannot even report', () => {
  const full = openSync('/dev/full', 'w');
  const env = { PATH: process.env.PATH };
  const { status } = spawnSync(process.execPath, [entry, '--help'], {
    ...{ stdio: ['ignore', full, full], env },
  });
  closeSync(full);
  expect(status).toBe(5);
});
