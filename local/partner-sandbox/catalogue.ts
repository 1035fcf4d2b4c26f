import { NotInWorldError } from './errors.ts';
import { inventOrganizations, inventProducts } from './invention.ts';
import type { Random } from './random.ts';

/** A school or district that assessments belong to. */
export interface Organization {
  readonly id: number;
  readonly name: string;
}

/** A product, as the API's filters call it. Its records call it an assessment name. */
export interface Product {
  readonly id: number;
  readonly name: string;
  /** The names of the separately proctored parts; empty if there are none. */
  readonly parts: readonly string[];
}

export interface Proctor {
  readonly id: number;
  readonly name: string;
}

/** A user of the partner who completes assessments. All records of the person share it. */
export interface Educator {
  readonly id: number;
  readonly first_name: string;
  readonly last_name: string;
  readonly name: string;
  readonly seid: string | null;
  readonly email: string;
  readonly archived: boolean;
  /** The organization id of the person's assessments, unless a record has another one. */
  readonly organization_id: number;
}

/** Entities with an id, in the order of their creation. */
class Table<T extends { readonly id: number }> {
  readonly #noun: string;
  readonly #ids: number[] = [];
  readonly #rows = new Map<number, T>();

  /** @param noun for a row, in errors */
  constructor(noun: string, rows: readonly T[] = []) {
    this.#noun = noun;
    for (const row of rows) this.put(row);
  }

  get size(): number {
    return this.#ids.length;
  }

  get all(): T[] {
    return [...this.#rows.values()];
  }

  /** Adds a row, or replaces the one with its id. */
  put(row: T): T {
    if (!this.#rows.has(row.id)) this.#ids.push(row.id);
    this.#rows.set(row.id, row);
    return row;
  }

  get(id: number): T | undefined {
    return this.#rows.get(id);
  }

  /** @throws NotInWorldError */
  require(id: number): T {
    const row = this.get(id);
    if (row === undefined) throw new NotInWorldError(this.#noun, id);
    return row;
  }

  at(position: number): T {
    return this.require(this.#ids[position] ?? Number.NaN);
  }

  /** Any of those rows; the first row if the table has none of them. */
  anyOf(ids: ReadonlySet<number>, random: Random): T {
    const known = [...ids].filter((id) => this.#rows.has(id));
    return known.length === 0 ? this.at(0) : this.require(random.pick(known));
  }
}

/** All entities that records refer to. */
export class Catalogue {
  readonly organizations = new Table<Organization>('organization', inventOrganizations());
  readonly products = new Table<Product>('product', inventProducts());
  readonly proctors = new Table<Proctor>('proctor');
  readonly educators = new Table<Educator>('educator');
}
