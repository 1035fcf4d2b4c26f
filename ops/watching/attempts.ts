import { NotifierError } from '../../lambda/errors.ts';
import type { Session } from '../session.ts';

/** So many failures in a row are no longer a passing one. */
const failuresAtMost = 4;

/** Does work once; prints a failure that a retry can help. */
export type Attempt = (work: () => Promise<void>) => Promise<boolean>;

/**
 * Repeats work that may fail for a moment, such as a call that AWS throttles.
 *
 * @returns does the work once, and says whether it was done; throws if a retry cannot help, or has not helped
 */
export function attemptsOf({ stop, terminal }: Session): Attempt {
  let failures = 0;
  return async (work) => {
    try {
      await work();
      failures = 0;
      return true;
    } catch (error) {
      if (stop.aborted && error === stop.reason) return false;
      failures += 1;
      const isPassing = error instanceof NotifierError && error.retryHelps;
      if (!isPassing || failures > failuresAtMost) throw error;
      terminal.note([`${error.message} It is tried again.`]);
      return false;
    }
  };
}
