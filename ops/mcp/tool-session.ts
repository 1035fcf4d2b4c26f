import { Progress } from '../progress.ts';
import type { View } from '../render/layout.ts';
import { Session } from '../session.ts';
import { Terminal } from '../terminal.ts';
import { RestLeftError } from './errors.ts';

/** Clients of the protocol give up after 60 s, and a call of the function takes 55 s at most. */
const beginWithinMs = 4_000;

class ToolProgress extends Progress {
  readonly #isLate: () => boolean;
  #calls = 0;

  constructor(
    session: ToolSession,
    label: string,
    withinMs: number | undefined,
    isLate: () => boolean,
  ) {
    super(session, label, withinMs);
    this.#isLate = isLate;
  }

  /** @throws RestLeftError before a further call that comes too late */
  override beginCall(): void {
    if (this.#calls > 0 && this.#isLate()) throw new RestLeftError();
    this.#calls += 1;
    super.beginCall();
  }
}

/** The session of an assistant's command: collects the output instead of writing it. */
export class ToolSession extends Session {
  /** Lines beside the answer, and before it. */
  readonly notes: string[] = [];
  /** The answer, for machines and for people. */
  answered: { readonly result: unknown; readonly lines: readonly string[] } | undefined;

  readonly #beganMs = this.clock.now().epochMilliseconds;

  /** A command of several calls ends before one that could last longer than an assistant waits. */
  override progress(label: string, withinMs?: number): Progress {
    const isLate = () => this.clock.now().epochMilliseconds - this.#beganMs > beginWithinMs;
    return new ToolProgress(this, label, withinMs, isLate);
  }

  override answer(result: unknown, lines: (view: View) => readonly string[]): void {
    this.answered = { result, lines: lines(this.terminal.view()) };
  }

  override note(lines: (view: View) => readonly string[]): void {
    this.notes.push(...lines(this.terminal.view('errors')));
  }
}

/** A terminal without a user, which still reports the progress. */
export class ToolTerminal extends Terminal {
  readonly #tell: ((line: string) => void) | undefined;

  /** @param tell receives the progress; absent: nobody has asked for it */
  constructor(host: ConstructorParameters<typeof Terminal>[0], tell?: (line: string) => void) {
    super(host);
    this.#tell = tell;
  }

  override get showsProgress(): boolean {
    return this.#tell !== undefined;
  }

  override transient(line: string): void {
    this.#tell?.(line);
  }
}
