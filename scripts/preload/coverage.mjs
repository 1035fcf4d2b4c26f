// Loaded in every process of `npm run coverage`: makes Node write its counts into a folder when a process or a worker
// thread ends. Vitest's own processes are left out, since Vitest measures them.
import { once } from 'node:events';
import workerThreads from 'node:worker_threads';
import { reachEveryProcess } from './every-process.mjs';

const folder = new URL(import.meta.url).searchParams.get('folder') ?? '';
const isVitest = (/** @type {string} */ program) => program.includes('/node_modules/vitest/');

reachEveryProcess(
  import.meta.url,
  ({ NODE_V8_COVERAGE = folder }, program) => ({
    NODE_V8_COVERAGE: isVitest(program) ? undefined : NODE_V8_COVERAGE,
    // For code from a cache, V8 counts functions, but not their parts.
    NODE_DISABLE_COMPILE_CACHE: '1',
  }),
  ({ NODE_V8_COVERAGE = folder }, program) => (isVitest(program) ? {} : { NODE_V8_COVERAGE }),
);

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
