/** The number of troubles of each kind in the rest of an execution. */
export interface Budget {
  /** Moves of the partner. */
  readonly moves: number;
  /** Calls that fail, or whose answer is lost; indexes that lag. */
  readonly faults: number;
  /** Deaths of ticks. */
  readonly deaths: number;
  /** Switches from one tick to another. */
  readonly overlaps: number;
  /**
   * Jumps of the clock until an audit or a second look is due. Otherwise the next tick begins after
   * a minute.
   */
  readonly waits: number;
}

export const kinds = ['moves', 'faults', 'deaths', 'overlaps', 'waits'] as const;

export const nothing: Budget = { moves: 0, faults: 0, deaths: 0, overlaps: 0, waits: 0 };

export const spent = (budget: Budget, kind: keyof Budget): Budget => ({
  ...budget,
  [kind]: budget[kind] - 1,
});

/** A point of an execution. */
export interface State {
  /** A digest of all values that determine the rest of the execution, except the rest of its budget. */
  readonly key: bigint;
  readonly budget: Budget;
}

export interface Memory {
  /** @returns false if the state was met before, with at least the same budget of each kind */
  isNew(state: State): boolean;
}

/** A memory that knows no state. */
export const unseen: Memory = { isNew: () => true };

const bitsOfWord = 64;

/**
 * The states met so far, shared by all workers: open addressing over shared memory. Two states with
 * one digest would count as one. With 64 bits and a hundred million states, the chance is one in
 * some 3,700.
 */
export class Seen implements Memory {
  readonly buffer: SharedArrayBuffer;
  /** Each slot has the key, and bits of the budgets with which it was met. */
  readonly #slots: BigInt64Array;
  readonly #most: Budget;
  readonly #words: number;
  /** By the number of a budget: the bits of the budgets that are no smaller. */
  readonly #covers: readonly (readonly bigint[])[];

  /** @param room the highest number of states, or the memory of another one */
  constructor(most: Budget, room: number | SharedArrayBuffer) {
    this.#most = most;
    const budgets = budgetsUpTo(most);
    this.#words = Math.ceil(budgets.length / bitsOfWord);
    this.#covers = budgets.map((budget) =>
      Array.from({ length: this.#words }, (_, word) =>
        budgets
          .filter((other) => kinds.every((name) => other[name] >= budget[name]))
          .map((other) => this.#number(other))
          .filter((number) => Math.floor(number / bitsOfWord) === word)
          .reduce((bits, number) => bits | bitOf(number), 0n),
      ),
    );
    this.buffer =
      typeof room === 'number'
        ? new SharedArrayBuffer(2 ** Math.ceil(Math.log2(room * 1.5)) * 8 * (1 + this.#words))
        : room;
    this.#slots = new BigInt64Array(this.buffer);
  }

  /** @throws RangeError when it is full */
  isNew({ key, budget }: State): boolean {
    const slot = this.#slotOf(key === 0n ? 1n : key) + 1;
    const number = this.#number(budget);
    const covers = this.#covers[number] ?? [];
    const isMet = covers.some(
      (bits, word) => (Atomics.load(this.#slots, slot + word) & bits) !== 0n,
    );
    if (isMet) return false;
    const before = Atomics.or(this.#slots, slot + Math.floor(number / bitsOfWord), bitOf(number));
    return (before & bitOf(number)) === 0n;
  }

  #slotOf(key: bigint): number {
    const stride = 1 + this.#words;
    const { length } = this.#slots;
    const most = Math.floor(length / stride);
    let place = Number(BigInt.asUintN(48, key)) % most;
    for (let tried = 0; tried < most; tried++) {
      const before = Atomics.compareExchange(this.#slots, place * stride, 0n, key);
      if (before === 0n || before === key) return place * stride;
      place = (place + 1) % most;
    }
    throw new RangeError('more states than there is room for: --states');
  }

  #number(budget: Budget): number {
    return kinds.reduce((number, name) => number * (this.#most[name] + 1) + budget[name], 0);
  }
}

const bitOf = (number: number) => BigInt.asIntN(64, 1n << BigInt(number % bitsOfWord));

/** The budgets by their numbers. */
function budgetsUpTo(most: Budget): readonly Budget[] {
  return kinds.reduce<readonly Budget[]>(
    (budgets, kind) =>
      budgets.flatMap((budget) =>
        Array.from({ length: most[kind] + 1 }, (_, left) => ({ ...budget, [kind]: left })),
      ),
    [nothing],
  );
}
