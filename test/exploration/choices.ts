import type { Memory, State } from './seen.ts';

export interface Option {
  /** Empty: nothing happens. This option comes first. */
  readonly name: string;
  /** The resulting state, if it is known without the step. */
  readonly next?: () => State;
}

/** The choice at each point of an execution. */
export interface Choices {
  /** @returns undefined: the rest is already known */
  choose(options: readonly Option[], state: () => State): string | undefined;
}

/** Nothing ever happens. */
export const uneventful: Choices = { choose: ([first]) => first?.name };

/** A point with an event: its number among all calls of the tick, and the chosen option. */
export interface Step {
  readonly at: number;
  readonly name: string;
}

/** The choices up to its last step. Later ones are free. */
export interface Branch {
  readonly steps: readonly Step[];
  /** The state after its last step, known to be new. */
  readonly next?: State;
}

/** The printed form: `3:edit-1 7:die`. */
export const trailOf = (steps: readonly Step[]) =>
  steps.map(({ at, name }) => `${at}:${name}`).join(' ');

export function stepsOf(trail: string): readonly Step[] {
  return trail.split(' ').flatMap((one) => {
    const [at, name] = one.split(':');
    return at === undefined || name === undefined ? [] : [{ at: Number(at), name }];
  });
}

/** Repeats one execution. After its last step, nothing happens. @throws if a step is none of the options */
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
 * Runs one execution after another, until each option of each point was chosen once. No execution
 * continues from a state that was met before, since its future is known.
 */
export class Tree implements Choices {
  readonly #seen: Memory;
  /** Branches to run, the last one first. */
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

  /** @returns false when all were run */
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

  /** The steps of the current execution. */
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
