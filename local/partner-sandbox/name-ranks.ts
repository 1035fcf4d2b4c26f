/** The order of names in a database with an English collation: case and accents count last. */
const { compare } = new Intl.Collator('en');

/** The names of a table's rows. */
export interface Names {
  readonly size: number;
  at(position: number): string;
}

/**
 * Numbers that compare as the names of a table's rows do. Most of the cost of a sort is comparing strings in their
 * collation. Here it arises once for each distinct name, not for each request.
 */
export class NameRanks {
  readonly #names: Names;
  /** Ranks by name, and a copy by row, which saves the look-up of a string. */
  readonly #byName = new Map<string, number>();
  #byRow = new Float64Array();
  #sorted: string[] | undefined;

  constructor(names: Names) {
    this.#names = names;
  }

  rank(position: number): number {
    if (position >= this.#byRow.length) this.#byRow = unknown(this.#names.size * 1.5 + 16);
    let rank = this.#byRow[position] ?? Number.NaN;
    if (Number.isNaN(rank)) {
      rank = this.#rankOf(this.#names.at(position));
      this.#byRow[position] = rank;
    }
    return rank;
  }

  /** To be called when a row gets another name. */
  forget(position: number): void {
    if (position < this.#byRow.length) this.#byRow[position] = Number.NaN;
  }

  #rankOf(name: string): number {
    if (this.#sorted === undefined) {
      const all = Array.from({ length: this.#names.size }, (_, row) => this.#names.at(row));
      this.#sorted = [...new Set(all)].sort(compare);
      this.#number(this.#sorted);
    }
    return this.#byName.get(name) ?? this.#insert(this.#sorted, name);
  }

  #insert(sorted: string[], name: string): number {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(sorted[middle] ?? '', name) < 0) low = middle + 1;
      else high = middle;
    }
    const [before, after] = [sorted[low - 1], sorted[low]];
    sorted.splice(low, 0, name);
    const below = before === undefined ? undefined : this.#byName.get(before);
    const above = after === undefined ? undefined : this.#byName.get(after);
    const equal = after !== undefined && compare(after, name) === 0;
    const rank = between(below, above, equal);
    // Halving the same gap some fifty times leaves no number in between.
    if (rank === below || (rank === above && !equal)) {
      this.#number(sorted);
      this.#byRow.fill(Number.NaN);
      return this.#byName.get(name) ?? rank;
    }
    this.#byName.set(name, rank);
    return rank;
  }

  #number(sorted: readonly string[]): void {
    let rank = 0;
    let previous: string | undefined;
    for (const name of sorted) {
      if (previous !== undefined && compare(previous, name) !== 0) rank++;
      this.#byName.set(name, rank);
      previous = name;
    }
  }
}

function unknown(length: number): Float64Array<ArrayBuffer> {
  return new Float64Array(Math.ceil(length)).fill(Number.NaN);
}

function between(below: number | undefined, above: number | undefined, equal: boolean): number {
  if (above === undefined) return (below ?? 0) + 1;
  if (equal) return above;
  return below === undefined ? above - 1 : (below + above) / 2;
}
