import type { Memory, State } from './seen.ts';

export interface Option {
  /** Empty: nothing happens. It comes first. */
  readonly name: string;
  /** The state that it leads to, where that can be told without going there. */
  readonly next?: () => State;
}

/** What is chosen at each point of an execution. */
export interface Choices {
  /** @returns undefined: the rest need not be lived */
  choose(options: readonly Option[], state: () => State): string | undefined;
}

/** Nothing ever happens. */
export const uneventful: Choices = { choose: ([first]) => first?.name };

/** A point at which something happens: the place of the call among all of the tick, and the option. */
export interface Step {
  readonly at: number;
  readonly name: string;
}

/** What is chosen up to its last step; what comes then is free. */
export interface Branch {
  readonly steps: readonly Step[];
  /** The state behind its last step, known to be new. */
  readonly next?: State;
}

/** As it is printed: `3:edit-1 7:die`. */
export const trailOf = (steps: readonly Step[]) =>
  steps.map(({ at, name }) => `${at}:${name}`).join(' ');

export function stepsOf(trail: string): readonly Step[] {
  return trail.split(' ').flatMap((one) => {
    const [at, name] = one.split(':');
    return at === undefined || name === undefined ? [] : [{ at: Number(at), name }];
  });
}

/** One execution again: after its last step nothing happens. @throws where a step is none of the options */
export class Replay implements Choices {
  readonly #steps: ReadonlyMap<number, string>;
  #points = 0;

  constructor(steps: readonly Step[]) {
    this.#steps = new Map(steps.map(({ at, name }) => [at, name]));
  }

  choose(options: readonly Option[]): string {
    const chosen = this.#steps.get(this.#points) ?? '';
    this.#points += 1;
    if (options.every(({ name }) => name !== chosen))
      throw new RangeError(`${chosen} is none of ${options.map(({ name }) => name).join(', ')}`);
    return chosen;
  }
}

/**
 * One execution after another, until each option of each point was chosen once. From a state that was met before no
 * execution goes on: what comes of it is known.
 */
export class Tree implements Choices {
  readonly #seen: Memory;
  /** To be lived, the last one first. */
  readonly branches: Branch[];
  #branch: Branch = { steps: [] };
  #known = new Map<number, string>();
  #points = 0;
  #free = 0;
  executions = 0;
  states = 0;

  constructor(seen: Memory, branches: readonly Branch[] = [{ steps: [] }]) {
    this.#seen = seen;
    this.branches = [...branches];
  }

  /** @returns false when all were lived */
  next(): boolean {
    const branch = this.branches.pop();
    if (branch === undefined) return false;
    this.#branch = branch;
    this.#known = new Map(branch.steps.map(({ at, name }) => [at, name]));
    this.#points = 0;
    this.#free = (branch.steps.at(-1)?.at ?? -1) + 1;
    this.executions += 1;
    return true;
  }

  /** What happens in the execution at hand. */
  get steps(): readonly Step[] {
    return this.#branch.steps;
  }

  choose(options: readonly Option[], state: () => State): string | undefined {
    const at = this.#points;
    this.#points += 1;
    if (at < this.#free) return this.#known.get(at) ?? '';
    const now = state();
    const { steps, next } = this.#branch;
    if (!(at === this.#free && now.key === next?.key) && !this.#isNew(now)) return undefined;
    for (const { name, next: further } of options.slice(1)) {
      const there = further?.();
      if (there === undefined || this.#isNew(there))
        this.branches.push({
          steps: [...steps, { at, name }],
          ...(there !== undefined && { next: there }),
        });
    }
    return '';
  }

  #isNew(state: State): boolean {
    const isNew = this.#seen.isNew(state);
    if (isNew) this.states += 1;
    return isNew;
  }
}
