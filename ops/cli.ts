#!/usr/bin/env node
import { exitCodes } from './exit-codes.ts';
import { stoppedBySignals } from './stopping.ts';

// Signals are handled before the rest is loaded, which takes half a second: Ctrl-C then ends the program as it does
// later.
const stopping = stoppedBySignals();
const { run } = await import('./run.ts');

const { argv, env: environment, stdin: input, stdout: output, stderr: errors } = process;
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
const streams = { input, output, errors };
process.exitCode = await run(argv.slice(2), { streams, environment, timeZone, stopping });
// After Ctrl-C, abandoned connections must not delay the exit.
if (process.exitCode === exitCodes.interrupted) process.exit();
