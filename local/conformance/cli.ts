/** The program of `npm run conformance`. */
import { run } from './run.ts';

const { argv, env: environment, stdin: input, stdout: output, stderr: errors } = process;
const streams = { input, output, errors };
// No signal aborts it: Ctrl-C ends the process at once, and leaves nothing behind.
const stopping = new AbortController();
process.exitCode = await run(argv.slice(2), { streams, environment, stopping });
