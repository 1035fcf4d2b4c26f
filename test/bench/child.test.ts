import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import * as z from 'zod';

const served = z.object({ url: z.string() });

it('a killed bench leaves no serving program behind', async () => {
  const module = new URL('../../bench/child.ts', import.meta.url).href;
  const program = `
    import { partnerReady, startChild } from '${module}';
    const wanted = { records: 10, until: '2026-11-20' };
    const { ready } = await startChild('partner-process.ts', wanted, partnerReady);
    console.log(JSON.stringify(ready));
    setTimeout(() => {}, 60_000);`;
  const bench = spawn(
    process.execPath,
    ['--no-warnings', '--input-type=module', '--eval', program],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line]: unknown[] = await once(bench.stdout.setEncoding('utf8'), 'data');
  const { url } = served.parse(JSON.parse(String(line)));
  const requests = () => fetch(`${url}/_sandbox/requests`);
  expect((await requests()).status).toBe(200);
  bench.kill('SIGKILL');
  await expect
    .poll(
      () =>
        requests().then(
          () => 'served',
          () => 'gone',
        ),
      { timeout: 5_000 },
    )
    .toBe('gone');
});
