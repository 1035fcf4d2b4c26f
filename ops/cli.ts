#!/usr/bin/env node
import { exitCodes } from './exit-codes.ts';
import { stoppedBySignals } from './stopping.ts';

// Before everything else is loaded, which takes half a second: Ctrl-C in it has the same end as later.
const stopping = stoppedBySignals();
const { run } = await import('./run.ts');

const { argv, env: environment, stdin: input, stdout: output, stderr: errors } = process;
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
const streams = { input, output, errors };
process.exitCode = await run(argv.slice(2), { streams, environment, timeZone, stopping });
// Whoever has pressed Ctrl-C does not wait for connections that are given up.
if (process.exitCode === exitCodes.interrupted) process.exit();
