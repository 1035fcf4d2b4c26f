import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { devNull } from 'node:os';
import * as z from 'zod';

const outcome = z.object({
  /** The import alone. */
  importMs: z.number(),
  importedBytes: z.number(),
  /** Resident memory after the last tick. */
  bytes: z.number(),
  ticks: z.array(z.object({ outcome: z.string(), requests: z.int() })),
});
export type MeasuredEnvironment = z.output<typeof outcome>;

/** In JavaScript, since stripping TypeScript's types would be measured, too. */
const program = `
  const [url, ticks] = process.argv.slice(1);
  const began = performance.now();
  const { handler } = await import(url);
  const importMs = performance.now() - began;
  const importedBytes = process.memoryUsage.rss();
  const told = [];
  for (let tick = 0; tick < Number(ticks); tick++) {
    const awsRequestId = crypto.randomUUID();
    const { outcome, requests } = await handler({}, { awsRequestId, getRemainingTimeInMillis: () => 55_000 });
    told.push({ outcome, requests });
  }
  process.send({ importMs, importedBytes, bytes: process.memoryUsage.rss(), ticks: told });
  process.disconnect();`;

/**
 * A bundle in a fresh process, as in a new execution environment: the cost of its import, and of so many ticks.
 * Lambda's own runtime client is not included.
 *
 * @param variables the whole environment of the process, besides Lambda's own variables
 */
export async function inFreshProcess(
  url: string,
  ticks: number,
  variables: Readonly<Record<string, string>> = {},
  nodeOptions: readonly string[] = [],
): Promise<MeasuredEnvironment> {
  const child = spawn(
    process.execPath,
    [...nodeOptions, '--input-type=module', '--eval', program, url, String(ticks)],
    {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: {
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_CONFIG_FILE: devNull,
        AWS_SHARED_CREDENTIALS_FILE: devNull,
        AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
        AWS_LAMBDA_FUNCTION_NAME: 'poll',
        ...variables,
      },
    },
  );
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the process ended with ${String(code)} before it had told anything`);
  });
  const [message]: unknown[] = await Promise.race([once(child, 'message'), ended]);
  child.kill();
  return outcome.parse(message);
}
