type Cells = Float64Array | Int32Array | Uint8Array;

/**
 * One field of all records, in a typed array that doubles when full. A million records cost megabytes; a million
 * objects cost
 * gigabytes of garbage to trace.
 */
export class FieldColumn {
  #cells: Cells;
  readonly #grow: (length: number) => Cells;
  #length = 0;

  constructor(grow: (length: number) => Cells) {
    this.#grow = grow;
    this.#cells = grow(64);
  }

  static readonly wide = () => new FieldColumn((length) => new Float64Array(length));
  static readonly whole = () => new FieldColumn((length) => new Int32Array(length));
  static readonly small = () => new FieldColumn((length) => new Uint8Array(length));

  get length(): number {
    return this.#length;
  }

  get(slot: number): number {
    const value = this.#cells[slot];
    if (value === undefined) throw new RangeError(`no slot ${slot}`);
    return value;
  }

  set(slot: number, value: number): void {
    this.#cells[slot] = value;
  }

  push(value: number): number {
    if (this.#length === this.#cells.length) {
      const larger = this.#grow(this.#length * 2);
      larger.set(this.#cells);
      this.#cells = larger;
    }
    this.#cells[this.#length] = value;
    return this.#length++;
  }

  indexOf(value: number): number {
    const slot = this.#cells.indexOf(value);
    return slot < this.#length ? slot : -1;
  }
}
