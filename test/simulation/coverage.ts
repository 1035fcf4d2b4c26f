/** Counts an event, with its record or its tick. */
export type Note = (what: string, to?: number | string) => void;

/** The names of the conditions that hold. */
export const thatHold = (conditions: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(conditions).filter((what) => conditions[what]);

/** The number of each event in a life. A life without an event proves nothing about it. */
export class Coverage {
  readonly #times = new Map<string, number>();
  /** Called with each event that can be placed, for a replay. */
  tell: Note = () => undefined;

  readonly note: Note = (what, to) => {
    if (to !== undefined) this.tell(what, to);
    this.#times.set(what, (this.#times.get(what) ?? 0) + 1);
  };

  get times(): ReadonlyMap<string, number> {
    return this.#times;
  }
}

/** Over many lives: the lives with each event, and the number of events. */
export class Coverages {
  readonly #rows = new Map<string, { lives: number; times: number }>();

  add(coverage: ReadonlyMap<string, number>): void {
    for (const [what, times] of coverage) {
      const row = this.#rows.get(what) ?? { lives: 0, times: 0 };
      this.#rows.set(what, { lives: row.lives + 1, times: row.times + times });
    }
  }

  livesWith(what: string): number {
    return this.#rows.get(what)?.lives ?? 0;
  }

  toString(): string {
    return [...this.#rows]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([what, { lives, times }]) => `  ${what}: in ${lives} lives, ${times} times`)
      .join('\n');
  }
}
