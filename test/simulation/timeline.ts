import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../lambda/clock.ts';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Steps in one turn of the event loop. A turn takes far longer than a step, so some dozens spread its price; more
 * would gain little, and each that is left over when the work is done still costs a call. Any number is correct.
 */
const stepsOfTurn = 30;

/**
 * Virtual time. It moves only while everybody waits: then to the moment at which the first of them
 * has waited enough. So hours pass in microseconds, what is done at the same time takes as long as
 * the longest of it, and the order of things is the same in each run.
 */
export class Timeline implements Clock {
  /** Of `#nowMs`, once somebody has asked: most moments pass unasked. */
  #now: Temporal.Instant | undefined;
  #nowMs: number;
  /** The next one last; of several at one time, the one that was set first. */
  readonly #timers: Timer[] = [];

  constructor(start: string) {
    this.#nowMs = Temporal.Instant.from(start).epochMilliseconds;
  }

  now(): Temporal.Instant {
    this.#now ??= Temporal.Instant.fromEpochMilliseconds(this.#nowMs);
    return this.#now;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepBy(this, ms, signal);
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#nowMs + Math.max(0, Math.round(ms)), run };
    const later = this.#timers.findLastIndex(({ at }) => at > timer.at);
    this.#timers.splice(later + 1, 0, timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index >= 0) this.#timers.splice(index, 1);
    };
  }

  /** The clock of a process: when it is killed, nothing wakes it any more. */
  seenBy(process: { readonly isAlive: boolean }): Clock {
    const after: Clock['after'] = (ms, run) =>
      this.after(ms, () => {
        if (process.isAlive) run();
      });
    return { now: () => this.now(), after, sleep: (ms, signal) => sleepBy({ after }, ms, signal) };
  }

  /** Lets time pass until the work is done. */
  until<Result>(work: Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let isDone = false;
    let isOver = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    const step = () => {
      if (isOver) return;
      isOver = isDone;
      if (isDone) return resolve(work);
      try {
        if (!this.#wakeNext()) throw new Error('everybody waits, for nothing');
      } catch (error) {
        isOver = true;
        reject(error);
      }
    };
    // Between two immediates nothing is left to do without waiting.
    const turn = () => {
      if (isOver) return;
      for (let n = 0; n < stepsOfTurn; n++) setImmediate(step);
      setImmediate(turn);
    };
    turn();
    return promise;
  }

  /** @returns `false` if nobody waits */
  #wakeNext(): boolean {
    const next = this.#timers.pop();
    if (next === undefined) return false;
    if (next.at > this.#nowMs) {
      this.#nowMs = next.at;
      this.#now = undefined;
    }
    next.run();
    return true;
  }

  /** Lets time pass; what is still under way goes on meanwhile. */
  pass({ hours = 0, seconds = 0 }: { hours?: number; seconds?: number }): Promise<void> {
    return this.until(this.sleep((hours * 3_600 + seconds) * 1_000));
  }
}

function sleepBy(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}
