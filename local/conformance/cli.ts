/** The program of `npm run conformance`. */
import { run } from './run.ts';

const { argv, env: environment, stdin: input, stdout: output, stderr: errors } = process;
process.exitCode = await run(argv.slice(2), { streams: { input, output, errors }, environment });
