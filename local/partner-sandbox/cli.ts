/** The program of `npm run sandbox`. */
import { stoppedBySignals } from '../../ops/stopping.ts';
import { run } from './run.ts';

const stopping = stoppedBySignals();
const { argv, stdin: input, stdout: output, stderr: errors } = process;
process.exitCode = await run(argv.slice(2), { streams: { input, output, errors }, stopping });
