import { NotInWorldError } from './errors.ts';
import { NameRanks, type Names } from './name-ranks.ts';
import type { Random } from './random.ts';

/** A school or district that assessments belong to. */
export interface Organization {
  readonly id: number;
  name: string;
}

/** A product, as the API's filters call it. Its records call it an assessment name. */
export interface Product {
  readonly id: number;
  name: string;
  /** The names of the separately proctored parts; empty if there are none. */
  readonly parts: readonly string[];
}

export interface Proctor {
  readonly id: number;
  name: string;
}

/** A user of the partner who completes assessments. All records of the person share it. */
export interface Educator {
  readonly id: number;
  first_name: string;
  last_name: string;
  name: string;
  seid: string | null;
  email: string;
  archived: boolean;
  /** The organization id of the person's assessments, unless a record has another one. */
  readonly organization_id: number;
}

/** Entities with an id, in the order of their creation, and by position for the typed columns. */
class Table<T extends { readonly id: number }> implements Iterable<T> {
  readonly #what: string;
  readonly #rows: T[] = [];
  readonly #positions = new Map<number, number>();

  /** `what`: the noun for a row, in errors. */
  constructor(what: string) {
    this.#what = what;
  }

  get size(): number {
    return this.#rows.length;
  }

  add(row: T): number {
    this.#positions.set(row.id, this.#rows.length);
    return this.#rows.push(row) - 1;
  }

  /** @throws RangeError for an unknown position. */
  at(position: number): T {
    const row = this.#rows[position];
    if (row === undefined) throw new RangeError(`no row ${position}`);
    return row;
  }

  positionOf(id: number): number | undefined {
    return this.#positions.get(id);
  }

  /** @throws NotInWorldError */
  require(id: number): number {
    const position = this.#positions.get(id);
    if (position === undefined) throw new NotInWorldError(this.#what, id);
    return position;
  }

  /** The position of any of those rows; of the first row if the table has none of them. */
  anyOf(ids: ReadonlySet<number>, random: Random): number {
    const known = [...ids].filter((id) => this.#positions.has(id));
    return known.length === 0 ? 0 : this.require(random.pick(known));
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#rows.values();
  }
}

/** All entities that records refer to, and the order of their names. */
export class Catalogue {
  readonly organizations = new Table<Organization>('organization');
  readonly products = new Table<Product>('product');
  readonly proctors = new Table<Proctor>('proctor');
  readonly educators = new Table<Educator>('educator');
  readonly ranks = {
    name: new NameRanks(namesOf(this.educators, ({ name }) => name)),
    last_name: new NameRanks(namesOf(this.educators, ({ last_name }) => last_name)),
    product: new NameRanks(namesOf(this.products, ({ name }) => name)),
    proctor: new NameRanks(namesOf(this.proctors, ({ name }) => name)),
  };
}

function namesOf<T extends { readonly id: number }>(
  table: Table<T>,
  nameOf: (row: T) => string,
): Names {
  return {
    get size() {
      return table.size;
    },
    at: (position) => nameOf(table.at(position)),
  };
}
