import type { View } from '../render/layout.ts';
import { Session } from '../session.ts';
import { Terminal } from '../terminal.ts';

/** The session of an assistant's command: collects the output instead of writing it. */
export class ToolSession extends Session {
  /** Lines beside the answer, and before it. */
  readonly notes: string[] = [];
  /** The answer, for machines and for people. */
  answered: { readonly result: unknown; readonly lines: readonly string[] } | undefined;

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
