// Loaded in every process of `npm run coverage`: makes Node write its counts into a folder when a process or a worker
// thread ends.
import { once } from 'node:events';
import { registerHooks } from 'node:module';
import { takeCoverage } from 'node:v8';
import workerThreads from 'node:worker_threads';
import { reachEveryProcess } from './every-process.mjs';

const folder = new URL(import.meta.url).searchParams.get('folder') ?? '';

reachEveryProcess(
  import.meta.url,
  ({ NODE_V8_COVERAGE = folder }) => ({
    NODE_V8_COVERAGE,
    // For code from a cache, V8 counts functions, but not their parts.
    NODE_DISABLE_COMPILE_CACHE: '1',
  }),
  ({ NODE_V8_COVERAGE = folder }) => ({ NODE_V8_COVERAGE }),
);

// A deployed function runs its sources: of a bundle, V8's counts lead back to them only roughly.
registerHooks({
  load(url, context, nextLoad) {
    const { AWS_LAMBDA_FUNCTION_NAME: name = '', TABLE_NAME: isReal } = process.env;
    const [, entry] = /(Poll|Operate)[0-9A-F]{8}/.exec(name) ?? [];
    if (!isReal || entry === undefined || !/\/asset\.[^/]+\/index\.mjs$/.test(url))
      return nextLoad(url, context);
    const source = new URL(`../../lambda/${entry.toLowerCase()}.ts`, import.meta.url);
    return { format: 'module', source: `export * from '${source}';`, shortCircuit: true };
  },
});

const { BroadcastChannel, isMainThread, threadId, Worker } = workerThreads;
const ends = new BroadcastChannel('coverage');
// Alone, this must not keep a process alive.
ends.unref();

// A terminated thread writes nothing. So it is asked to end by itself, and terminated only if it does not answer.
const { terminate } = Worker.prototype;
Worker.prototype.terminate = async function () {
  if (this.threadId === -1) return terminate.call(this);
  const exited = once(this, 'exit');
  ends.postMessage(this.threadId);
  const deaf = setTimeout(() => terminate.call(this), 2000);
  const [code] = await exited;
  clearTimeout(deaf);
  return code;
};

// Nor does a process of Vitest, which is killed after it has been told to stop.
if (process.argv[1]?.includes('/node_modules/vitest/') && process.send)
  process.on('message', (/** @type {{ type?: string }} */ { type }) => {
    if (type === 'stop') takeCoverage();
  });

if (isMainThread) {
  // Too late for this process, but its threads write their counts only if it is set
  // (https://github.com/nodejs/node/issues/46378).
  process.env.NODE_V8_COVERAGE = folder;
} else {
  // A function must see only its own environment.
  delete process.env.NODE_V8_COVERAGE;
  ends.onmessage = (event) => {
    if ('data' in event && event.data === threadId) process.exit(1);
  };
}
