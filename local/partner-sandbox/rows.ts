import type { Assessment } from '../../lambda/events/assessment.ts';

/** A certification at a partner: its record, and the fields that only filters see. */
export interface Row {
  /** Without a `certified_on`, it is in no range of days. */
  readonly assessment: Assessment;
  readonly legacy: boolean;
  readonly archived: boolean;
  /** Without these two, no filter by educator or product finds it. */
  readonly user_id?: number;
  readonly product_id?: number;
}

/** Rows by day (`YYYY-MM-DD`), and within a day by id. An id may be there twice. */
export class RowsByDay<R extends Row> {
  readonly #days = new Map<string, R[]>();
  /** Undefined after a day has appeared or disappeared. */
  #inOrder: readonly string[] | undefined;

  constructor(rows: Iterable<R> = []) {
    for (const row of rows) this.add(row);
  }

  add(row: R): void {
    const { id, certified_on } = row.assessment;
    const rows = this.#days.get(certified_on);
    if (rows === undefined) {
      this.#days.set(certified_on, [row]);
      this.#inOrder = undefined;
    } else rows.splice(rows.findLastIndex((other) => other.assessment.id <= id) + 1, 0, row);
  }

  remove(row: R): void {
    const { certified_on } = row.assessment;
    const rows = this.#days.get(certified_on) ?? [];
    rows.splice(rows.indexOf(row), 1);
    if (rows.length > 0) return;
    this.#days.delete(certified_on);
    this.#inOrder = undefined;
  }

  on(day: string): readonly R[] {
    return this.#days.get(day) ?? [];
  }

  /** The days that have rows, oldest first, both ends included. */
  between(first?: string, last?: string): readonly string[] {
    this.#inOrder ??= [...this.#days.keys()].sort();
    if (first === undefined && last === undefined) return this.#inOrder;
    const [from, to] = [first ?? '0000-01-01', last ?? '9999-12-31'];
    return this.#inOrder.filter((day) => day >= from && day <= to);
  }
}

/** The rows of one moment. */
export interface View<R extends Row> {
  readonly all: ReadonlyMap<number, R>;
  readonly byDay: RowsByDay<R>;
}

/** A partner's rows, with their past: a replica that lags, or a cache, answers from before. */
export class Rows<R extends Row> implements View<R> {
  readonly byDay = new RowsByDay<R>();
  readonly #all = new Map<number, R>();
  readonly #now: () => number;
  /** Oldest first, each with the row before it. */
  #changes: { readonly at: number; readonly id: number; readonly before: R | undefined }[] = [];

  /** @param now epoch milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  get all(): ReadonlyMap<number, R> {
    return this.#all;
  }

  /** Adds a row, or replaces the one with its id. */
  put(row: R): void {
    const { id } = row.assessment;
    this.#change(id);
    this.#all.set(id, row);
    this.byDay.add(row);
  }

  delete(id: number): void {
    this.#change(id);
    this.#all.delete(id);
  }

  #change(id: number): void {
    const before = this.#all.get(id);
    this.#changes.push({ at: this.#now(), id, before });
    if (before !== undefined) this.byDay.remove(before);
  }

  /** From now on, the present rows have always been there. */
  forgetPast(): void {
    this.#changes = [];
  }

  /** The rows at a moment: the present ones, without the changes since then. */
  asOf(epochMs: number): View<R> {
    const since = this.#changes.findLastIndex(({ at }) => at <= epochMs) + 1;
    if (since === this.#changes.length) return this;
    const all = new Map(this.#all);
    for (const { id, before } of this.#changes.slice(since).reverse())
      if (before === undefined) all.delete(id);
      else all.set(id, before);
    return { all, byDay: new RowsByDay(all.values()) };
  }
}
