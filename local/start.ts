/** The program of `npm start`. */
import { stoppedBySignals } from '../ops/stopping.ts';

// Before everything else is loaded, which takes a second: Ctrl-C in it has the same end as later.
const stopping = stoppedBySignals();
const { run } = await import('./run.ts');

const { argv, env: environment, stdin: input, stdout: output, stderr: errors } = process;
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
const streams = { input, output, errors };
process.exitCode = await run(argv.slice(2), { streams, environment, timeZone, stopping });
