import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { Observations } from './conditions.ts';

/** The findings of the last self-check. Small: each quiet tick pays for the state's size. */
export const selfCheck = z.object({
  /** When it ended: milliseconds since the epoch. */
  at: z.number(),
  /** Failing checks, by a short name; no personal data. */
  failed: z.readonly(z.record(z.string(), z.string())),
  /**
   * How many have failed since the last self-check without a failure: a new failure in the place of
   * a mended one is news, too.
   */
  failures: z.int(),
});

export type SelfCheck = Readonly<z.output<typeof selfCheck>>;

export interface Tried {
  /** The short name of a failure is this, or this and a position in brackets. */
  readonly name: string;
  /** Undefined: it could not be tried, so its earlier failures are taken to last. */
  readonly failed: Readonly<Record<string, string>> | undefined;
}

const listed = 5;
const maxText = 40;
/** A self-check a day, and time for the scheduler to try again. */
const lateMs = 26 * 3_600_000;

export function selfCheckAfter(
  { failed: known = {}, failures = 0 }: Partial<SelfCheck> = {},
  tried: readonly Tried[],
  nowMs: number,
): SelfCheck {
  const failing = tried.flatMap(({ name, failed }) =>
    Object.entries(failed ?? known).filter(
      ([one]) => failed !== undefined || one === name || one.startsWith(`${name}[`),
    ),
  );
  const shown = failing.slice(0, listed).map(([one, text]) => [one, text.slice(0, maxText)]);
  const isNew = ([one = '']: readonly string[]) => !Object.hasOwn(known, one);
  const all = Math.max(failing.length, failures + shown.filter(isNew).length);
  return {
    at: nowMs,
    failed: Object.fromEntries(shown),
    failures: failing.length === 0 ? 0 : all,
  };
}

/**
 * Ticks tell ops of failing checks, and of self-checks that have not ended lately.
 *
 * @param begunAt when the baseline began: without any self-check, lateness counts from then
 */
export function selfCheckSeen(
  last: SelfCheck | undefined,
  begunAt: number | undefined,
  nowMs: number,
): Observations {
  const { at = begunAt, failed = {}, failures = 0 } = { ...last };
  if (at === undefined) return {};
  const isLate = nowMs - at >= lateMs;
  const since = Temporal.Instant.fromEpochMilliseconds(at).toString({ smallestUnit: 'minute' });
  const details = Object.entries(failed).map(([name, text]) => `${name}: ${text}`);
  if (isLate) details.unshift(`no self-check has come to its end since ${since}`);
  return { 'check-failed': { number: failures + Number(isLate), details } };
}
