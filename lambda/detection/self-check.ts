import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { Observations } from './conditions.ts';

/** What the last self-check has found. Small: each quiet tick pays for the state's size. */
export const selfCheck = z.object({
  /** When: milliseconds since the epoch. */
  at: z.number(),
  /** What fails, by a short name; no personal data. */
  failed: z.readonly(z.record(z.string(), z.string())),
  /** How many have failed since nothing did: one in the place of a mended one is news, too. */
  failures: z.int(),
});

export type SelfCheck = Readonly<z.output<typeof selfCheck>>;

/** One check, and what of it fails. */
export interface Tried {
  /** The short name of what fails is this, or this and a position in brackets. */
  readonly name: string;
  /** Undefined: it could not be tried, and what failed before fails still, as far as is known. */
  readonly failed: Readonly<Record<string, string>> | undefined;
}

const listed = 5;
const maxText = 40;
/** A self-check a day, and time for the scheduler to try again. */
const lateMs = 26 * 3_600_000;

/** What is kept of a self-check. */
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
 * The condition that ticks tell operations: what fails, and that no self-check has come to its end lately.
 *
 * @param begunAt when the baseline began: where none has ever come to its end, none has since
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
