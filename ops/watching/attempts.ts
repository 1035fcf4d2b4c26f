import { NotifierError } from '../../lambda/errors.ts';
import type { Session } from '../session.ts';

/** So many failures in a row are no longer a passing one. */
const failuresAtMost = 4;

/** Repeats work that may fail for a moment, such as a call that AWS throttles. */
export class Attempts {
  readonly #session: Session;
  #failures = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Does the work once; prints a failure that a retry can help.
   *
   * @returns whether the work was done
   * @throws if a retry cannot help, or has not helped
   */
  async attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.#failures = 0;
      return true;
    } catch (error) {
      const { stop, terminal } = this.#session;
      if (stop.aborted && error === stop.reason) return false;
      this.#failures += 1;
      const isPassing = error instanceof NotifierError && error.retryHelps;
      if (!isPassing || this.#failures > failuresAtMost) throw error;
      terminal.note([`${error.message} It is tried again.`]);
      return false;
    }
  }
}
