#!/usr/bin/env node
import { exitCodes } from './exit-codes.ts';
import { stoppedBySignals } from './stopping.ts';

// Before everything else is loaded, which takes half a second: Ctrl-C in it has the same end as later.
const stopping = stoppedBySignals();
const { run } = await import('./run.ts');

process.exitCode = await run(process.argv.slice(2), stopping);
// Whoever has pressed Ctrl-C does not wait for connections that are given up.
if (process.exitCode === exitCodes.interrupted) process.stdout.write('', () => process.exit());
