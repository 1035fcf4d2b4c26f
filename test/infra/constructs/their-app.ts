import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';

const folder = mkdtempSync(join(tmpdir(), 'construct-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

/** An app of another team, which knows nothing of our code. */
export function theirApp(flags: Readonly<Record<string, unknown>> = {}): App {
  const outdir = mkdtempSync(join(folder, 'app-'));
  return new App({ outdir, context: { ...flags, 'aws:cdk:bundling-stacks': [] } });
}

export const theirStack = (app = theirApp()) => new Stack(app, 'Theirs');
