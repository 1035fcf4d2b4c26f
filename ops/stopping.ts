import { InterruptedError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';

/** Milliseconds within which one and the same ask arrives; whoever asks twice takes longer. */
const sameAsk = 400;

/**
 * Aborts with InterruptedError at Ctrl-C and its likes. Asked twice: whoever asks does not want to wait
 * for a clean end. One ask can come more than once: a terminal and `timeout` send it to a whole group of
 * processes, of which npx and the launcher hand on theirs.
 *
 * @param now milliseconds since whenever
 */
export function stoppedBySignals(now = () => performance.now()): AbortController {
  const stopping = new AbortController();
  let asked = Number.NEGATIVE_INFINITY;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (!stopping.signal.aborted) {
        asked = now();
        stopping.abort(new InterruptedError());
      } else if (now() - asked > sameAsk) process.exit(exitCodes.interrupted);
    });
  return stopping;
}
