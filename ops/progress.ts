import type { Clock } from '../lambda/clock.ts';
import { type MeasuredSpeed, type ProgressState, progressLine } from './render/progress.ts';
import type { Terminal } from './terminal.ts';

/** A shorter wait gets no progress line. */
const shownAfterMs = 2_000;
const everyMs = 250;
/** The function's own time limit. */
export const answeredWithinMs = 55_000;

interface Mark {
  readonly done: number;
  readonly atMs: number;
}

/** A progress line on the terminal; nothing is shown where there is no terminal. */
export class Progress implements Disposable {
  readonly #shown: { readonly terminal: Terminal; readonly clock: Clock };
  readonly #label: string;
  readonly #withinMs: number | undefined;
  readonly #startedMs: number;
  #callBeganMs: number;
  #cancel = () => {};
  #part: ProgressState['part'];
  #first: Mark | undefined;
  #last: Mark | undefined;

  /** @param withinMs how long a call takes at most, if the wait is for calls */
  constructor(shown: { terminal: Terminal; clock: Clock }, label: string, withinMs?: number) {
    this.#shown = shown;
    this.#label = label;
    this.#withinMs = withinMs;
    this.#startedMs = this.#nowMs;
    this.#callBeganMs = this.#startedMs;
    if (shown.terminal.showsProgress) this.#goOn();
  }

  /** Restarts the limit for another call of the function. */
  beginCall(): void {
    this.#callBeganMs = this.#nowMs;
  }

  /** The pace counts from the first mark. */
  at(done: number, total: number, noun: string): void {
    this.#part = { done, total, noun };
    this.#last = { done, atMs: this.#nowMs };
    this.#first ??= this.#last;
  }

  [Symbol.dispose](): void {
    this.#cancel();
    this.#shown.terminal.endTransient();
  }

  get #nowMs(): number {
    return this.#shown.clock.now().epochMilliseconds;
  }

  #goOn(): void {
    this.#cancel = this.#shown.clock.after(everyMs, () => {
      this.#show();
      this.#goOn();
    });
  }

  #show(): void {
    const nowMs = this.#nowMs;
    const elapsedMs = nowMs - this.#startedMs;
    if (elapsedMs < shownAfterMs) return;
    const [label, part, pace] = [this.#label, this.#part, this.#pace(nowMs)];
    this.#shown.terminal.transient(
      progressLine(
        {
          label,
          elapsedMs,
          ...(this.#withinMs !== undefined && {
            answeredInMs: this.#withinMs - (nowMs - this.#callBeganMs),
          }),
          ...(part && { part }),
          ...(pace && { pace }),
        },
        this.#shown.terminal.lineWidth,
      ),
    );
  }

  #pace(nowMs: number): MeasuredSpeed | undefined {
    const [first, last] = [this.#first, this.#last];
    if (first === undefined || last === undefined || last.done <= first.done) return undefined;
    const tookMs = last.atMs - first.atMs;
    // No pace: both marks fall into one millisecond, or the clock was set back.
    if (tookMs <= 0) return undefined;
    return { perMs: (last.done - first.done) / tookMs, sinceMs: nowMs - last.atMs };
  }
}
