import * as z from 'zod/mini';
import { type OddPaths, oddPathsKnown } from './odd-fields.ts';

/** What operations are told of once when it begins and once when it is over. */
export const conditionNames = [
  'paused',
  'credentials-not-set',
  'credentials-malformed',
  'secret-unreadable',
  'credentials-refused',
  'unsupported-grant',
  'token-refused-twice',
  'not-provisioned',
  'rate-limited',
  'missing',
  'unexplained',
  'held',
  'quarantined',
  'odd-fields',
  'shown-by-id',
  'undeliverable',
  'unproven',
] as const;

export type ConditionName = (typeof conditionNames)[number];

/** What a tick has found out about a condition. */
export interface Observation {
  /** How many of whatever it counts; 0: it is over, or has never been. */
  readonly number: number;
  /** Since when, if that is not now: milliseconds since the epoch. */
  readonly since?: number;
  /** Lines for its notice; no personal data. */
  readonly details?: readonly string[];
  /** Of `odd-fields`: all that are known. */
  readonly paths?: OddPaths;
}

/** It begins; it has become more; it is over. */
const stage = z.enum(['begins', 'grows', 'ends']);

export type Stage = z.output<typeof stage>;

/** A condition that lasts, or of which somebody is still to be told something. */
export const openCondition = z.readonly(
  z.object({
    /** When it was first seen: milliseconds since the epoch. */
    since: z.number(),
    number: z.int(),
    /** The last notice that was accepted: when, and how many it spoke of, or how few there were since. */
    told: z.exactOptional(z.readonly(z.object({ at: z.number(), number: z.int() }))),
    /** The notice that is owed: SNS has not accepted it yet. */
    owes: z.exactOptional(stage),
    /** For that notice only. */
    details: z.exactOptional(z.readonly(z.array(z.string()))),
    /** Of `odd-fields`. */
    paths: z.exactOptional(oddPathsKnown),
  }),
);

export type OpenCondition = z.output<typeof openCondition>;

export type OpenConditions = ReadonlyMap<ConditionName, OpenCondition>;

const oneDay = 24 * 3_600_000;

/**
 * What is known of a condition after an observation, and with it the notice that is owed now.
 *
 *            seen                     told
 *   nothing ──────▶ owes 'begins' ──────────▶ told ──┬─ over ─▶ owes 'ends' ──told──▶ nothing
 *      ▲                │ over                 ▲     └─ more, a day later ─▶ owes 'grows'
 *      └────────────────┘                      └──────────── told ──────────────┘
 *
 * "A day later" needs an observation then: whoever knows that it lasts says so, even with the same number.
 * What nobody was told of ends without a word, and what is back before its end was told goes on.
 */
export function observe(
  before: OpenCondition | undefined,
  { number, details, since: begun, paths: seen }: Observation,
  nowMs: number,
): OpenCondition | undefined {
  const { since = begun ?? nowMs } = before ?? {};
  const told = before?.told && { ...before.told, number: Math.min(before.told.number, number) };
  const paths = seen ?? before?.paths;
  const more = { ...(details && { details }), ...(paths && { paths }) };
  if (number === 0)
    return before && told && { since, number: before.number, told, owes: 'ends', ...more };
  if (told === undefined)
    return { since, number, owes: 'begins', details: before?.details ?? [], ...more };
  const hasGrown = number > told.number && nowMs - told.at >= oneDay;
  return {
    ...{ since, number, told },
    ...(hasGrown && { owes: 'grows' as const, ...more }),
    ...(paths && { paths }),
  };
}

/** What is left of a condition once the notice that it owes was accepted. */
export function settle(condition: OpenCondition, nowMs: number): OpenCondition | undefined {
  const { since, number, owes, paths } = condition;
  if (owes === 'ends') return undefined;
  return { since, number, told: { at: nowMs, number }, ...(paths && { paths }) };
}
