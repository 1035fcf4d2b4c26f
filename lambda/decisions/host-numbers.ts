import type { Observations } from './conditions.ts';
import type { Pace, RequestPace } from './pace.ts';

/**
 * The numbers of the host on which something depends, each with the range in which it is believed,
 * in seconds. Outside of it, a number is ignored and told. A `meta.count` beyond its range makes the answer none
 * (partner/api.ts). Nothing depends on others.
 */
export const hostNumbers = {
  /** The documented life of a token takes its place (docs/partner.md, 2.1). */
  expires_in: { least: 60, most: 30 * 86_400, instead: 'a token is taken to last for 7,200 s' },
  /** Of the wait. An hour of it is waited at most, so that an end of the refusals is noticed. */
  'Retry-After': { least: 0, most: 86_400, instead: 'the host is asked again in the next minute' },
  /** Of the difference to our own clock. */
  Date: { least: -86_400, most: 86_400, instead: 'our own clock counts for Retry-After' },
} as const satisfies Record<string, { least: number; most: number; instead: string }>;

export type HostNumber = keyof typeof hostNumbers;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The number, if it is one and within its range. */
export function believed(name: HostNumber, value: unknown): number | undefined {
  const { least, most } = hostNumbers[name];
  const isWithin = typeof value === 'number' && value >= least && value <= most;
  return isWithin ? value : undefined;
}

/** Notes a number that is not believed, once an hour at most: each note is a write of the state. */
export function disbelieved(pace: Pace, name: HostNumber, now: number): Pace {
  const { [name]: at = Number.NEGATIVE_INFINITY } = pace.odd ?? {};
  return now - at < hourMs ? pace : { ...pace, odd: { ...pace.odd, [name]: now } };
}

/** Ops are told of such numbers until none has come for a day. */
export function oddNumbersSeen({ value: { odd = {} } }: RequestPace, now: number): Observations {
  const met = Object.entries(hostNumbers).filter(
    ([name]) => now - (odd[name] ?? Number.NEGATIVE_INFINITY) < dayMs,
  );
  const details = met.map(
    ([name, { least, most, instead }]) =>
      `${name}: not a number from ${least} to ${most} (seconds); ${instead}`,
  );
  return { 'odd-numbers': { number: met.length, details } };
}
