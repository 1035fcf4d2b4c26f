/** The program of `npm run conformance`. */
import { run } from './run.ts';

const { argv, env: environment, stdin: input, stdout: output, stderr: errors } = process;
const streams = { input, output, errors };
// No signal aborts this controller: Ctrl-C ends the process at once, and nothing has to be cleaned up.
const stopping = new AbortController();
process.exitCode = await run(argv.slice(2), { streams, environment, stopping });
