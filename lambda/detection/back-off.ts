import { Temporal } from 'temporal-polyfill';

const firstMinutes = 2;
const longestMinutes = 60;

/** After a refusal that only people can mend. */
export interface BackOff {
  readonly until: Temporal.Instant;
  /** Refusals in a row. */
  readonly failures: number;
}

/** Whether the partner is still to be left alone. */
export function isBackingOff(
  { backOff }: { readonly backOff?: BackOff | undefined },
  now: Temporal.Instant,
): boolean {
  return backOff !== undefined && Temporal.Instant.compare(now, backOff.until) < 0;
}

/** Each refusal in a row doubles the time. */
export function backOffAfter(before: BackOff | undefined, now: Temporal.Instant): BackOff {
  const failures = (before?.failures ?? 0) + 1;
  const minutes = Math.min(firstMinutes * 2 ** (failures - 1), longestMinutes);
  return { until: now.add({ minutes }), failures };
}
