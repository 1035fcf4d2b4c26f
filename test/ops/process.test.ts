import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Duty, masked } from './duty.ts';
import { ended, startProgram } from './running.ts';

// Only a process has this behaviour. All other tests run the program in their own process.
const duty = new Duty();
beforeAll(async () => {
  await duty.build();
  await duty.raise();
  await duty.stage.completedTick();
});
afterEach(() => {
  duty.lambda.reset();
  duty.cloudFormation.reset();
});
afterAll(async () => {
  await duty.strike();
  await duty.dismantle();
});

const start = (args: string, environment: Record<string, string> = {}) =>
  startProgram(`${args} --stack ${duty.stack}`, { ...duty.environment, ...environment });

describe('as a process, the program', () => {
  it('finds its settings in its environment, and has the same output', async () => {
    const inProcess = await duty.run('status');
    expect(inProcess).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/ E[SD]T /) });
    const { exitCode, stdout, stderr } = await ended(start('status'));
    expect({ exitCode, stdout: masked(stdout), stderr }).toEqual({
      ...inProcess,
      stdout: masked(inProcess.stdout),
    });
  });

  it('reads its standard input', async () => {
    const child = start('credentials set');
    child.stdin.end('{"client_id":"somebody","client_secret":"of-yesterday"}');
    expect(await ended(child)).toMatchObject({
      exitCode: 4,
      stdout: '',
      stderr: expect.stringContaining('(credentials-refused)'),
    });
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
    const { exitCode, stdout, stderr } = await ended(child);
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
    expect(stderr).toMatch(/^error: Interrupted\.\n {2}The call in progress goes on in AWS/);
  });

  it('ends with the same words when Ctrl-C comes while it is loading', async () => {
    const hook = `import { registerHooks } from 'node:module';
      registerHooks({
        resolve(specifier, context, next) {
          if (specifier.endsWith('/run.ts')) process.kill(process.pid, 'SIGINT');
          return next(specifier, context);
        },
      });`;
    const child = start('tick', {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
    });
    const { exitCode, stdout, stderr } = await ended(child);
    expect(stderr).toContain('error: Interrupted.\n  Nothing was changed.');
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' });
    expect(duty.cloudFormation.calls).toEqual([]);
  });
});

describe('all code about a process', () => {
  const ops = join(import.meta.dirname, '../../ops');
  const sources = readdirSync(ops, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const ofProcess = sources.filter((name) =>
    /\bprocess\.(env|argv|exit|on|once|emit|std|cwd|kill)|= process;|\bconsole\.\w+\(|'(node:)?process'/.test(
      readFileSync(join(ops, name), 'utf8'),
    ),
  );

  it('is in two files', () => {
    expect(ofProcess.sort()).toEqual(['cli.ts', 'stopping.ts']);
  });
});
