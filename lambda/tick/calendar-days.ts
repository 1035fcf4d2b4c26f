import type { Ledger } from '../ports/ledger.ts';

/**
 * Makes sure that the calendar has these days, before anything of them is committed: otherwise a
 * crash right after could leave a certification on a day that nobody would ever look at.
 *
 * @param known years that the calendar has already
 * @returns those that it has now
 */
export async function touch(
  ledger: Pick<Ledger, 'addYears' | 'addToDays'>,
  known: readonly number[],
  days: Iterable<string>,
): Promise<readonly number[]> {
  const zeros = new Map([...days].map((day) => [day, 0]));
  if (zeros.size === 0) return known;
  const years = new Set([...zeros.keys()].map((day) => Number(day.slice(0, 4))));
  const news = [...years].filter((year) => !known.includes(year));
  if (news.length > 0) await ledger.addYears(news);
  await ledger.addToDays(zeros);
  return [...known, ...news];
}
