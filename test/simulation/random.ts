/** A small seeded generator (mulberry32): the same seed, the same run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /**
   * A generator for a purpose, so that the number of draws for one purpose does not change another.
   * A life without one aspect stays the same in all others.
   */
  static of(seed: number, purpose: string): Random {
    let mixed = seed >>> 0;
    for (const character of purpose) {
      mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01000193);
      mixed ^= mixed >>> 13;
    }
    return new Random(mixed);
  }

  /** From 0 up to, and excluding, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000;
  }

  /** A whole number from 0 up to, and excluding, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<const Item>(items: readonly [Item, ...Item[]]): Item;
  pick<Item>(items: readonly Item[]): Item | undefined;
  pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.below(items.length)];
  }
}
