import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { access, constants, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program } from '../consumer/example.ts';
import { compileCache } from '../support/compile-cache.ts';
import { ended } from '../support/running.ts';
import { Duty, raisedOnce } from './duty.ts';

// Only a process has this behaviour. All other tests run the program in their own process. The
// launcher in an installed package: test/package.slow.test.ts.
const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
raisedOnce(duty, () => duty.stage.completedTick());

const launcher = join(import.meta.dirname, '../../ops/launcher.mjs');

/** Starts it as npx does, from another folder. */
function start(args: string, environment: Record<string, string> = {}) {
  const common = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: compileCache };
  const env = { ...common, ...duty.environment, ...environment };
  const argv = [launcher, ...args.split(' '), '--stack', duty.stack];
  return spawn(process.execPath, argv, { cwd: tmpdir(), env });
}

// npm makes it executable once. After a reset of the checkout, it could not be started any more.
it('the launcher is executable in the repository', () => access(launcher, constants.X_OK));

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

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'ends at once with %s during a call, and its launcher waits for its last words',
    async (signal) => {
      const child = start('test-event');
      duty.lambda.always(async () => {
        child.kill(signal);
        await once(child, 'exit');
        return undefined;
      });
      const { exitCode, stderr } = await ended(child);
      expect(stderr).toMatch(/^error: Interrupted\.\n {2}The call in progress goes on in AWS/);
      expect(exitCode).toBe(130);
    },
  );

  it('ends with the same words when Ctrl-C comes while it is loading', async () => {
    const hook = `import { registerHooks } from 'node:module';
      registerHooks({
        resolve(name, context, next) {
          if (name.endsWith('/run.ts')) process.kill(process.pid, 'SIGINT');
          return next(name, context);
        },
      });`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
    const { exitCode, stderr } = await ended(start('tick', { NODE_OPTIONS }));
    expect(stderr).toContain('error: Interrupted.\n  Nothing was changed.');
    expect(exitCode).toBe(130);
    expect(duty.cloudFormation.calls).toEqual([]);
  });

  it('makes an example trust the local instance with the file of the docs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'listen-'));
    const docs = readFileSync(join(import.meta.dirname, '../../docs/subscribing.md'), 'utf8');
    const [, shown = ''] = /```ts\n(\/\/ trust-local\.ts.*?)```/s.exec(docs) ?? [];
    const trust = join(folder, 'trust-local.ts');
    const { endpoints } = duty.stage.aws;
    await writeFile(trust, shown.replace('http://127.0.0.1:4382', endpoints.sns));
    const webhook = await Program.start('https-webhook', {
      ...{ TOPIC_ARN: duty.stage.aws.output('EventsTopicArn'), PORT: '0' },
      NODE_OPTIONS: `--import=${pathToFileURL(trust)}`,
    });
    try {
      const port = (await webhook.line(/^Listening on port \d+$/)).split(' ').at(-1);
      const child = start(`listen --forward-to http://localhost:${port}/`);
      const told = new Program(child);
      await told.line(/^Their topic: /);
      await duty.run('test-event');
      await webhook.line(/^handled {2}district-a\/test\//);
      await told.line(/ delivered {2}certification\.test · district-a\/test\/\S+ · 200 in /);
      child.kill('SIGTERM');
      await told.line(/^\(ended with 0\)$/);
    } finally {
      await webhook.end();
      await rm(folder, { recursive: true });
    }
  });
});
