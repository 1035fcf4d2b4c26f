// In every process of `npm run coverage`: has Node write its counts into a folder when a process or a
// worker thread ends. Not in those of Vitest, which measures them itself.
import { once } from 'node:events';
import workerThreads from 'node:worker_threads';
import { reachEveryProcess } from './every-process.mjs';

const folder = new URL(import.meta.url).searchParams.get('folder') ?? '';
const isVitest = (/** @type {string} */ program) => program.includes('/node_modules/vitest/');

reachEveryProcess(
  import.meta.url,
  ({ NODE_V8_COVERAGE = folder }, program) => ({
    NODE_V8_COVERAGE: isVitest(program) ? undefined : NODE_V8_COVERAGE,
    // In code from a cache, V8 counts functions and not their parts.
    NODE_DISABLE_COMPILE_CACHE: '1',
  }),
  ({ NODE_V8_COVERAGE = folder }, program) => (isVitest(program) ? {} : { NODE_V8_COVERAGE }),
);

const { BroadcastChannel, isMainThread, threadId, Worker } = workerThreads;
const ends = new BroadcastChannel('coverage');
// It alone keeps no process alive.
ends.unref();

// A thread that is terminated writes nothing: it is asked to end by itself, and terminated when it
// does not hear.
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

if (isMainThread) {
  // Too late for this process. Its threads look at their own only where it is set
  // (https://github.com/nodejs/node/issues/46378).
  process.env.NODE_V8_COVERAGE = folder;
} else {
  // A function sees its own environment and nothing else.
  delete process.env.NODE_V8_COVERAGE;
  ends.onmessage = (event) => {
    if ('data' in event && event.data === threadId) process.exit(1);
  };
}
