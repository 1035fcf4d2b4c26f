import * as z from 'zod/mini';
import { type OddPaths, oddPathsKnown } from './odd-fields.ts';

/** In the way of every tick until people mend it: the codes of the errors that reach so far. */
export const accessNames = [
  'credentials-not-set',
  'credentials-malformed',
  'secret-unreadable',
  'credentials-refused',
  'unsupported-grant',
  'token-refused-twice',
  'not-provisioned',
] as const;

/** What operations are told of once when it begins and once when it is over. */
export const conditionNames = [
  'paused',
  ...accessNames,
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
  /** So long it has to last before it is told, and to be gone before it is over: milliseconds. */
  readonly steadyMs?: number;
}

/** What one tick has found out, by condition; of the others it knows nothing. */
export type Observations = Readonly<Partial<Record<ConditionName, Observation>>>;

/** It begins; it has become more; it is over. */
const stage = z.enum(['begins', 'grows', 'ends']);

export type Stage = z.output<typeof stage>;

/** A condition that lasts, or of which somebody is still to be told something. */
export const openCondition = z.readonly(
  z.object({
    /** When it was first seen: milliseconds since the epoch. */
    since: z.number(),
    number: z.int(),
    /** Since when it is not seen any more, and is not over yet. */
    goneAt: z.exactOptional(z.number()),
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
 * What nobody was told of ends without a word, and what is back before its end was told goes on. Where it has to be
 * steady, what comes and goes is one condition as long as it does not stay away.
 */
export function observe(
  before: OpenCondition | undefined,
  observation: Observation,
  nowMs: number,
): OpenCondition | undefined {
  if (observation.number === 0) return before && notSeen(before, observation, nowMs);
  const { number, steadyMs = 0, since: seenSince = nowMs } = observation;
  const { since = seenSince, told } = before ?? {};
  const details = observation.details ?? before?.details;
  const paths = observation.paths ?? before?.paths;
  const condition = { since, number, ...(paths && { paths }) };
  const detailed = details && { details };
  if (told !== undefined) {
    const hasGrown = number > told.number && nowMs - told.at >= oneDay;
    const fewest = { ...told, number: Math.min(told.number, number) };
    return { ...condition, told: fewest, ...(hasGrown && { owes: 'grows', ...detailed }) };
  }
  if (nowMs - since < steadyMs) return { ...condition, ...detailed };
  return { ...condition, owes: 'begins', details: details ?? [] };
}

function notSeen(
  { owes: _, details: __, ...before }: OpenCondition,
  { steadyMs = 0 }: Observation,
  nowMs: number,
): OpenCondition | undefined {
  const { goneAt = nowMs, told } = before;
  if (nowMs - goneAt < steadyMs) return { ...before, goneAt };
  return told && { ...before, told: { ...told, number: 0 }, owes: 'ends' };
}

/** What earlier ticks owe, as they have seen it. */
export function owed(open: OpenConditions): Observations {
  const owing = [...open].filter(([, { owes }]) => owes !== undefined);
  return Object.fromEntries(
    owing.map(([name, { owes, number }]) => [name, { number: owes === 'ends' ? 0 : number }]),
  );
}

/** What operations were told of, or are owed, and lasts: how many of whatever it counts. */
export function lasting(open: OpenConditions): Partial<Record<ConditionName, number>> {
  const all = [...open].filter(([, condition]) => isLasting(condition));
  return Object.fromEntries(all.map(([name, { number }]) => [name, number]));
}

export function isLasting({ told, owes }: OpenCondition): boolean {
  return owes === undefined ? told !== undefined : owes !== 'ends';
}

/** What is left of a condition once the notice that it owes was accepted. */
export function settle(condition: OpenCondition, nowMs: number): OpenCondition | undefined {
  const { since, number, owes, paths } = condition;
  if (owes === 'ends') return undefined;
  return { since, number, told: { at: nowMs, number }, ...(paths && { paths }) };
}
