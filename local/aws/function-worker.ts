/**
 * One Lambda execution environment, inside a worker thread. It loads the bundle once, and then handles one invocation
 * after another, as Lambda's own runtime does.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { FromEnvironment, ToEnvironment } from './function.ts';

const { modulePath, exportName, random, context } = workerData;
if (typeof random === 'number') Math.random = () => random;

function errorReport(error: unknown) {
  return error instanceof Error
    ? { errorType: error.name, errorMessage: error.message, trace: error.stack?.split('\n') ?? [] }
    : { errorType: typeof error, errorMessage: String(error), trace: [] };
}

/** Output and answer travel on different ports, so the output is flushed before the answer is sent. */
async function flush() {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
}

async function answer(message: FromEnvironment) {
  await flush();
  parentPort?.postMessage(message);
}

async function load() {
  const handler = (await import(modulePath))[exportName];
  if (typeof handler === 'function') return handler;
  throw Object.assign(new Error(`The bundle exports no function ${exportName}`), {
    name: 'Runtime.HandlerNotFound',
  });
}

try {
  const handler = await load();
  parentPort?.on('message', async ({ requestId, event, deadlineMs }: ToEnvironment) => {
    try {
      const payload = await handler(JSON.parse(event), {
        ...context,
        awsRequestId: requestId,
        getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()),
      });
      await answer({ kind: 'returned', payload: JSON.stringify(payload) ?? 'null' });
    } catch (error) {
      await answer({ kind: 'failed', ...errorReport(error) });
    }
  });
  await answer({ kind: 'ready' });
} catch (error) {
  await answer({ kind: 'failed', ...errorReport(error) });
}
