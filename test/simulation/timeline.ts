import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../lambda/clock.ts';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Steps in one turn of the event loop. A turn takes far longer than a step, so some dozens spread
 * its cost. More would gain little, and each unused one still costs a call. Any number is correct.
 */
const stepsOfTurn = 30;

/**
 * Virtual time. It moves only while all code waits, and then to the first moment at which a wait
 * ends. So hours pass in microseconds, parallel work takes as long as its longest part, and the
 * order of events is the same in each run.
 */
export class Timeline implements Clock {
  /** The instant of `#nowMs`, once it was requested: most moments pass without a request. */
  #now: Temporal.Instant | undefined;
  #nowMs: number;
  #today: Temporal.PlainDate | undefined;
  readonly #timeZone: string;
  /** The next one is last. Among several of one time, the one that was set first comes first. */
  readonly #timers: Timer[] = [];

  constructor(start: string, timeZone = 'UTC') {
    this.#timeZone = timeZone;
    this.#nowMs = Temporal.Instant.from(start).epochMilliseconds;
  }

  now(): Temporal.Instant {
    this.#now ??= Temporal.Instant.fromEpochMilliseconds(this.#nowMs);
    return this.#now;
  }

  /** Computed once a moment: the world asks for it with each of its first records. */
  today(): Temporal.PlainDate {
    this.#today ??= this.now().toZonedDateTimeISO(this.#timeZone).toPlainDate();
    return this.#today;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
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

  /** The clock of a process: after its death, nothing wakes it any more. */
  seenBy(process: { readonly isAlive: boolean; readonly aheadMs: number }): Clock {
    const after: Clock['after'] = (ms, run) =>
      this.after(ms, () => {
        if (process.isAlive) run();
      });
    const now = () => this.now().add({ milliseconds: process.aheadMs });
    const monotonicMs = () => this.#nowMs;
    return { now, monotonicMs, after, sleep: (ms, signal) => sleepBy({ after }, ms, signal) };
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
    // Between two immediates, all work that does not wait is done.
    const turn = () => {
      if (isOver) return;
      for (let n = 0; n < stepsOfTurn; n++) setImmediate(step);
      setImmediate(turn);
    };
    turn();
    return promise;
  }

  /** @returns `false` if nothing waits */
  #wakeNext(): boolean {
    const next = this.#timers.pop();
    if (next === undefined) return false;
    if (next.at > this.#nowMs) {
      this.#nowMs = next.at;
      this.#now = undefined;
      this.#today = undefined;
    }
    next.run();
    return true;
  }

  /** Lets time pass. Work under way continues meanwhile. */
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
