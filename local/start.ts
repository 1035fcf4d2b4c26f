/** The program of `npm start`. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { stoppedBySignals } from '../ops/stopping.ts';

// Signals are handled before the rest is loaded, which takes a second: Ctrl-C then ends the program as it does later.
const stopping = stoppedBySignals();
// More than half of a start is compiling. If the cache cannot be written, everything is compiled again.
enableCompileCache(
  fileURLToPath(new URL('../node_modules/.cache/certification-notifier/compiled', import.meta.url)),
);
const { run } = await import('./run.ts');

const { argv, env: environment, stdin: input, stdout: output, stderr: errors } = process;
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
const streams = { input, output, errors };
process.exitCode = await run(argv.slice(2), { streams, environment, timeZone, stopping });
