import type { View } from '../render/layout.ts';
import { Session } from '../session.ts';
import { Terminal } from '../terminal.ts';

/** A command that an assistant gives: what it tells is kept instead of written. */
export class ToolSession extends Session {
  /** Beside the answer, and before it. */
  readonly notes: string[] = [];
  /** As machines and as people are told. */
  answered: { readonly result: unknown; readonly lines: readonly string[] } | undefined;

  override answer(result: unknown, lines: (view: View) => readonly string[]): void {
    this.answered = { result, lines: lines(this.terminal.view()) };
  }

  override note(lines: (view: View) => readonly string[]): void {
    this.notes.push(...lines(this.terminal.view('errors')));
  }
}

/** Nobody sits there; how far a command is may be told all the same. */
export class ToolTerminal extends Terminal {
  readonly #tell: ((line: string) => void) | undefined;

  /** @param tell how far a command is; absent: nobody wants to know */
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
