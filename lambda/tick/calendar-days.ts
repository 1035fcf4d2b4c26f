import type { Ledger } from '../ports/ledger.ts';

/** Makes days known to the calendar. */
export class CalendarDays {
  readonly #ledger: Pick<Ledger, 'addYears' | 'addToDays'>;
  /** Years that are known already. */
  readonly #years = new Set<number>();

  constructor(ledger: Pick<Ledger, 'addYears' | 'addToDays'>) {
    this.#ledger = ledger;
  }

  /**
   * Makes sure that the calendar has these days, before anything of them is committed: otherwise a
   * crash right after could leave a certification on a day that nobody would ever look at.
   */
  async touch(days: Iterable<string>): Promise<void> {
    const zeros = new Map([...days].map((day) => [day, 0]));
    if (zeros.size === 0) return;
    const years = new Set([...zeros.keys()].map((day) => Number(day.slice(0, 4))));
    const news = [...years].filter((year) => !this.#years.has(year));
    if (news.length > 0) await this.#ledger.addYears(news);
    for (const year of news) this.#years.add(year);
    await this.#ledger.addToDays(zeros);
  }
}
