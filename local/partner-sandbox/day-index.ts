import type { DayNumber } from './zone-days.ts';

const none: readonly number[] = [];

/** First position in a sorted list whose key is not below `key`. */
function lowerBound(list: readonly number[], key: number, keyOf: (item: number) => number): number {
  let low = 0;
  let high = list.length;
  const last = list.at(-1);
  if (last === undefined || keyOf(last) < key) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && keyOf(item) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

const itself = (item: number) => item;

/** The records that the integration can see, by day, and within a day by id. */
export class DayIndex {
  readonly #slotsByDay = new Map<DayNumber, number[]>();
  readonly #days: DayNumber[] = [];
  readonly #idOf: (slot: number) => number;
  #total = 0;

  constructor(idOf: (slot: number) => number) {
    this.#idOf = idOf;
  }

  get total(): number {
    return this.#total;
  }

  add(slot: number, day: DayNumber): void {
    let slots = this.#slotsByDay.get(day);
    if (slots === undefined) {
      slots = [];
      this.#slotsByDay.set(day, slots);
      this.#days.splice(lowerBound(this.#days, day, itself), 0, day);
    }
    slots.splice(lowerBound(slots, this.#idOf(slot), this.#idOf), 0, slot);
    this.#total++;
  }

  remove(slot: number, day: DayNumber): void {
    const slots = this.#slotsByDay.get(day);
    const position = slots?.indexOf(slot) ?? -1;
    if (slots === undefined || position < 0) throw new RangeError(`slot ${slot} is not indexed`);
    slots.splice(position, 1);
    if (slots.length === 0) {
      this.#slotsByDay.delete(day);
      this.#days.splice(lowerBound(this.#days, day, itself), 1);
    }
    this.#total--;
  }

  clear(): void {
    this.#slotsByDay.clear();
    this.#days.length = 0;
    this.#total = 0;
  }

  /** Slots of one day, by id. */
  on(day: DayNumber): readonly number[] {
    return this.#slotsByDay.get(day) ?? none;
  }

  /** The days from `first` to `last`, both included, that have any record, oldest first. */
  daysBetween(first: DayNumber, last: DayNumber): readonly DayNumber[] {
    const from = lowerBound(this.#days, first, itself);
    return this.#days.slice(from, Math.max(from, lowerBound(this.#days, last + 1, itself)));
  }
}
