#!/usr/bin/env node
// The start of `npx certification-notifier`, on the host's own Node. The package has JavaScript for every Node of
// `engines`. A checkout has the sources, which need the Node that the project brings; its dist/ is ignored, since that
// may be of an earlier version. This file and the installer that it imports run on Node 14.18 and later.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const sources = fileURLToPath(new URL('cli.ts', import.meta.url));
if (existsSync(sources)) {
  await import('../scripts/ensure-installed.mjs');
  const node = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  const child = spawn(node, [sources, ...process.argv.slice(2)], { stdio: 'inherit' });
  // This process passes signals on and waits for the end of the child. A terminal sends Ctrl-C to both, which does no
  // harm: signals at the same time count once (stopping.ts). On Windows a terminal always does, and `kill` would end
  // the child at once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => process.platform === 'win32' || child.kill(signal));
  child.on('error', (error) => {
    console.error(`error: ${node} could not be started (${error.message}).`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
  });
} else {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const oldest = engines.node.replace('>=', '');
  const running = process.versions.node;
  if (running.localeCompare(oldest, 'en', { numeric: true }) < 0) {
    console.error(
      `error: certification-notifier needs Node ${oldest} or later. This is Node ${running} (${process.execPath}).`,
    );
    process.exitCode = 2;
  } else await import('../dist/ops/cli.js');
}
