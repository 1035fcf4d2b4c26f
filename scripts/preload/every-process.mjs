// Loads a module in every process and worker thread of a run, at any depth, and adds variables to the environment of
// every process, also if that has an environment of its own. Plain JavaScript, because the host's own Node runs npm and
// the launcher.
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';
import workerThreads from 'node:worker_threads';

const functions = /** @type {const} */ ([
  'spawn',
  'spawnSync',
  'exec',
  'execSync',
  'execFile',
  'execFileSync',
  'fork',
]);

/**
 * To be called by the module itself, which is loaded once in each process.
 *
 * @param {string} module its URL, with its query
 * @param {(given: NodeJS.ProcessEnv, program: string) => NodeJS.ProcessEnv} variables the changes
 *   in the environment of a process
 * @param {(given: NodeJS.ProcessEnv, program: string) => NodeJS.ProcessEnv} ofThread the same of a worker
 *   thread; only the necessary ones, because the function in it sees its environment
 */
export function reachEveryProcess(module, variables, ofThread = () => ({})) {
  const flag = `--import=${module}`;

  const environment = (/** @type {NodeJS.ProcessEnv} */ given, /** @type {string} */ program) => {
    const flags = given.NODE_OPTIONS ?? '';
    return {
      ...given,
      ...variables(given, program),
      NODE_OPTIONS: flags.includes(flag) ? flags : `${flags} ${flag}`.trim(),
    };
  };
  // In each of these functions, the options come last, or before a callback.
  const reaching = (/** @type {any[]} */ args) => {
    const before = [...args];
    const callback = typeof before.at(-1) === 'function' ? [before.pop()] : [];
    const last = before.at(-1);
    const hasOptions = last == null || (typeof last === 'object' && !Array.isArray(last));
    const options = hasOptions ? before.pop() : undefined;
    const called = before.flat().join(' ');
    return [
      ...before,
      { ...options, env: environment(options?.env ?? process.env, called) },
      ...callback,
    ];
  };

  for (const name of functions) {
    /** @type {any} */
    const original = childProcess[name];
    const promised = original[promisify.custom];
    Object.assign(childProcess, {
      [name]: Object.assign(
        (/** @type {any[]} */ ...args) => original(...reaching(args)),
        promised && {
          [promisify.custom]: (/** @type {any[]} */ ...args) => promised(...reaching(args)),
        },
      ),
    });
  }

  const { Worker, SHARE_ENV } = workerThreads;
  workerThreads.Worker = class extends Worker {
    constructor(
      /** @type {string | URL} */ program,
      /** @type {import('node:worker_threads').WorkerOptions} */ options = {},
    ) {
      const { env = process.env, execArgv = process.execArgv } = options;
      super(program, {
        ...options,
        env: env === SHARE_ENV ? env : { ...env, ...ofThread(env, String(program)) },
        execArgv: execArgv.includes(flag) ? execArgv : [...execArgv, flag],
      });
    }
  };
  syncBuiltinESMExports();
}
