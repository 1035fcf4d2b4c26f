import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { NotifierConfig } from '../infra/config.ts';
import { StartError } from './errors.ts';

const program = fileURLToPath(import.meta.url);

/**
 * Synthesizes the stack into `outdir`. In a process of its own, because the CDK's bundling writes to
 * the terminal and holds up the event loop; what it wrote is shown only when it fails.
 *
 * @throws StartError
 */
export async function synthesize(
  config: NotifierConfig,
  outdir: string,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [program, JSON.stringify(config), outdir], {
      ...(signal && { signal }),
    });
  } catch (cause) {
    signal?.throwIfAborted();
    const output = Object(cause).stderr;
    throw new StartError(
      `The stack could not be synthesized:\n${typeof output === 'string' ? output.trim() : ''}`,
      'Try `npm run synth`.',
      { cause },
    );
  }
}

if (import.meta.main) {
  const [config = '', outdir = ''] = process.argv.slice(2);
  const { buildApp } = await import('../infra/build-app.ts');
  buildApp(JSON.parse(config), { outdir }).synth();
}
