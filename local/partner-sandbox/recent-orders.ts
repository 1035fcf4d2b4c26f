/**
 * Sorted results of the latest queries, so that paging through one sorts it only once. Any change to the world or the
 * switches (the `state`) drops them all.
 */
export class RecentOrders {
  #state = '';
  readonly #orders = new Map<string, readonly number[]>();

  /** Calls `sort` unless the same query was answered in the same state shortly before. */
  get(state: string, query: string, sort: () => readonly number[]): readonly number[] {
    if (state !== this.#state) {
      this.#orders.clear();
      this.#state = state;
    }
    let order = this.#orders.get(query);
    if (order === undefined) {
      order = sort();
      const [oldest] = this.#orders.keys();
      if (this.#orders.size >= 8 && oldest !== undefined) this.#orders.delete(oldest);
      this.#orders.set(query, order);
    }
    return order;
  }
}
