import { Temporal } from 'temporal-polyfill';

/**
 * How far a command that goes from day to day has come.
 *
 * @param days what it goes through; open to the past, nobody knows how far it is
 * @param after the cursor, which begins with a day
 */
export function daysDone(
  days: { readonly from?: string | undefined; readonly to?: string | undefined } | undefined,
  after: string | undefined,
  { now }: { readonly now: Temporal.Instant },
): { done: number; total: number } | undefined {
  if (days?.from === undefined || after === undefined) return undefined;
  const from = Temporal.PlainDate.from(days.from);
  const to = days.to ?? now.toZonedDateTimeISO('UTC').toPlainDate().toString();
  const daysTo = (day: string) => from.until(day, { largestUnit: 'days' }).days + 1;
  return { done: daysTo(after.slice(0, '2026-11-21'.length)), total: daysTo(to) };
}
