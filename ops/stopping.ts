import { InterruptedError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';

/** Signals within so many milliseconds are one request; a person who asks twice takes longer. */
const sameAsk = 400;

/**
 * Aborts with InterruptedError at Ctrl-C and similar signals. A second request ends the process at once, without a
 * clean end. One request may arrive as several signals: a terminal and `timeout` signal a whole group of processes, of
 * which npx and the launcher pass theirs on.
 *
 * @param now milliseconds since any fixed moment
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
