import { progressLine, type Standing } from './render/progress.ts';
import type { Terminal } from './terminal.ts';

/** What is over sooner needs no bar. */
const shownAfterMs = 2_000;
const everyMs = 250;

/** A line on the terminal while somebody waits; nothing where nobody looks on. */
export class Progress implements Disposable {
  readonly #terminal: Terminal;
  readonly #label: string;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #startedAt = performance.now();
  #part: Standing['part'];

  constructor(terminal: Terminal, label: string) {
    this.#terminal = terminal;
    this.#label = label;
    if (terminal.showsProgress) this.#timer = setInterval(() => this.#show(), everyMs).unref();
  }

  at(done: number, total: number, noun: string): void {
    this.#part = { done, total, noun };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#terminal.endTransient();
  }

  #show(): void {
    const elapsedMs = performance.now() - this.#startedAt;
    if (elapsedMs < shownAfterMs) return;
    const label = this.#label;
    this.#terminal.transient(
      progressLine({ label, elapsedMs, ...(this.#part && { part: this.#part }) }),
    );
  }
}
