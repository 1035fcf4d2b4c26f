import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { ConfigError } from '../../../infra/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'construct-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

/** An app of another team, which knows nothing of our code. */
export function theirApp(flags: Readonly<Record<string, unknown>> = {}): App {
  const outdir = mkdtempSync(join(folder, 'app-'));
  return new App({ outdir, context: { ...flags, 'aws:cdk:bundling-stacks': [] } });
}

export const theirStack = (app = theirApp()) => new Stack(app, 'Theirs');

/** One line for each refusal of a construct. */
export function problemsOf(act: () => unknown): readonly string[] {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
