/** The program of `npm run smoke`. */
import { stoppedBySignals } from '../../ops/stopping.ts';
import { run } from './run.ts';

const { argv, env: environment, stdin: input, stdout: output, stderr: errors } = process;
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
process.exitCode = await run(argv.slice(2), {
  streams: { input, output, errors },
  environment,
  timeZone,
  stopping: stoppedBySignals(),
});
