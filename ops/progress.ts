import { type Pace, progressLine, type Standing } from './render/progress.ts';
import type { Terminal } from './terminal.ts';

/** What is over sooner needs no bar. */
const shownAfterMs = 2_000;
const everyMs = 250;
/** The function answers by then: its own limit. */
export const answeredWithinMs = 55_000;

interface Mark {
  readonly done: number;
  readonly at: number;
}

/** A line on the terminal while somebody waits; nothing where nobody looks on. */
export class Progress implements Disposable {
  readonly #terminal: Terminal;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #startedAt = performance.now();
  readonly #label: string;
  #callBeganAt = this.#startedAt;
  readonly #withinMs: number | undefined;
  #part: Standing['part'];
  #first: Mark | undefined;
  #last: Mark | undefined;

  /** @param withinMs how long a call takes at most, where calls are what is waited for */
  constructor(terminal: Terminal, label: string, withinMs?: number) {
    this.#terminal = terminal;
    this.#label = label;
    this.#withinMs = withinMs;
    if (terminal.showsProgress) this.#timer = setInterval(() => this.#show(), everyMs).unref();
  }

  /** Another question to the function. */
  beginCall(): void {
    this.#callBeganAt = performance.now();
  }

  /** The first mark is where it began: the pace is counted from there. */
  at(done: number, total: number, noun: string): void {
    this.#part = { done, total, noun };
    this.#last = { done, at: performance.now() };
    this.#first ??= this.#last;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#terminal.endTransient();
  }

  #show(): void {
    const now = performance.now();
    const elapsedMs = now - this.#startedAt;
    if (elapsedMs < shownAfterMs) return;
    const [label, part, pace] = [this.#label, this.#part, this.#pace(now)];
    this.#terminal.transient(
      progressLine(
        {
          label,
          elapsedMs,
          ...(this.#withinMs !== undefined && {
            answeredInMs: this.#withinMs - (now - this.#callBeganAt),
          }),
          ...(part && { part }),
          ...(pace && { pace }),
        },
        this.#terminal.lineWidth,
      ),
    );
  }

  #pace(now: number): Pace | undefined {
    const [first, last] = [this.#first, this.#last];
    if (first === undefined || last === undefined || last.done <= first.done) return undefined;
    return { perMs: (last.done - first.done) / (last.at - first.at), sinceMs: now - last.at };
  }
}
