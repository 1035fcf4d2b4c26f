import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { NotifierConfig } from '../infra/config.ts';
import { isSystemError, StartError } from './errors.ts';

const program = fileURLToPath(import.meta.url);
/** Windows has no process groups; the bundler may outlive a stopped synthesis by a second there. */
const hasGroups = process.platform !== 'win32';

export interface SynthesisOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether the stack has its own partner (infra/demo.ts). */
  readonly demo?: boolean | undefined;
}

/**
 * Synthesizes the stack into `outdir`. It runs in a process of its own, because the CDK's bundling writes to
 * the terminal and holds up the event loop. Its output is shown only when it fails. When it returns or throws,
 * nothing writes into `outdir` any more.
 *
 * @throws StartError, or the reason of `signal`
 */
export async function synthesize(
  config: NotifierConfig,
  outdir: string,
  { signal, demo = false }: SynthesisOptions = {},
): Promise<void> {
  signal?.throwIfAborted();
  const child = spawn(process.execPath, [program, JSON.stringify(config), outdir, String(demo)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // The child leads a process group with npm, a shell and the bundler, so that all can be ended together.
    detached: hasGroups,
  });
  const kill = () => killGroup(child.pid);
  signal?.addEventListener('abort', kill, { once: true });
  try {
    // On `close`, all processes of the group have closed standard error.
    const [[code], output] = await Promise.all([once(child, 'close'), text(child.stderr)]);
    signal?.throwIfAborted();
    if (code === 0) return;
    throw new StartError(
      `The stack could not be synthesized:\n${output.trim()}`,
      'Try `npm run synth`.',
    );
  } finally {
    signal?.removeEventListener('abort', kill);
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(hasGroups ? -pid : pid, 'SIGKILL');
  } catch (error) {
    // The group has ended by itself.
    if (!isSystemError(error, 'ESRCH')) throw error;
  }
}

if (import.meta.main) {
  const [config = '', outdir = '', demo] = process.argv.slice(2);
  const { buildApp } = await import('../infra/build-app.ts');
  buildApp(JSON.parse(config), { outdir, local: true, demo: demo === 'true' }).synth();
}
