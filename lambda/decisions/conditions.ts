import * as z from 'zod/mini';

/** The steps that a tick must pass, in this order: the secret, the token, the API. */
export const obstacles = [
  ['credentials-not-set', 'credentials-malformed', 'secret-gone', 'secret-unreadable'],
  ['credentials-refused', 'unsupported-grant'],
  ['token-refused-twice', 'not-provisioned'],
] as const;

/** Conditions that block every tick until people mend them, named by the codes of their errors. */
export const accessNames = obstacles.flat();

/** Conditions that block every tick. */
export const blocking = [...accessNames, 'partner-silent'] as const;

/** Whether it is the name of a condition that blocks every tick. */
export const isBlocking = (name: string): name is (typeof blocking)[number] =>
  blocking.some((one) => one === name);

/** Ops are told of each once when it begins and once when it is over. */
export const conditionNames = [
  'paused',
  ...blocking,
  'rate-limited',
  'baseline-unread',
  'credentials-shared',
  'odd-numbers',
  'missing',
  'unexplained',
  'held',
  'quarantined',
  'one-id-twice',
  'odd-fields',
  'shown-by-id',
  'unanswered-by-id',
  'silent',
  'undeliverable',
  'unproven',
  'check-failed',
] as const;

export type ConditionName = (typeof conditionNames)[number];

/**
 * By path of an odd field: when a tick last met such records, and the most that one tick has met.
 */
const oddPathsKnown = z.readonly(
  z.record(z.string(), z.readonly(z.object({ at: z.number(), records: z.int() }))),
);

export interface Observation {
  /** The number that the condition counts; 0: it is over, or never was. */
  readonly number: number;
  /** When it began, if that is not now: milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Lines for its notice; no personal data. */
  readonly details?: readonly string[] | undefined;
  /** For `odd-fields`: all known paths. */
  readonly paths?: z.output<typeof oddPathsKnown>;
  /** How long it must last before ops are told, and be gone before it is over: milliseconds. */
  readonly steadyMs?: number;
  /**
   * For a condition that may end by itself: after this time ops are told that it lasts, or that it
   * was. Milliseconds.
   */
  readonly graceMs?: number;
}

/** The observations of one tick; it knows nothing of the other conditions. */
export type Observations = Readonly<Partial<Record<ConditionName, Observation>>>;

/** A condition that lasts, or that still owes a notice. */
export const openCondition = z.readonly(
  z.object({
    /** When it was first seen: milliseconds since the epoch. */
    since: z.number(),
    number: z.int(),
    /** Since when it is no longer seen, while it is not over yet. */
    goneAt: z.exactOptional(z.number()),
    /** The last accepted notice: when, and its number, or the lowest number since then. */
    told: z.exactOptional(z.readonly(z.object({ at: z.number(), number: z.int() }))),
    /**
     * The notice that SNS has not accepted yet: it begins; it has grown; it is over; it was, and is
     * over.
     */
    owes: z.exactOptional(z.enum(['begins', 'grows', 'ends', 'was'])),
    /** For that notice only. */
    details: z.exactOptional(z.readonly(z.array(z.string()))),
    /** For `odd-fields`. */
    paths: z.exactOptional(oddPathsKnown),
  }),
);

export type OpenCondition = z.output<typeof openCondition>;

export type OpenConditions = ReadonlyMap<ConditionName, OpenCondition>;

const oneDay = 24 * 3_600_000;
/** Limits for the details of an owed notice, since the state item holds them. */
const listed = 21;
const maxLine = 200;

/**
 * The condition after an observation, with the notice that it owes now.
 *
 *            seen                     told
 *   nothing ──────▶ owes 'begins' ──────────▶ told ──┬─ over ─▶ owes 'ends' ──told──▶ nothing
 *      ▲                │ over                 ▲     └─ more, a day later ─▶ owes 'grows'
 *      └────────────────┘                      └──────────── told ──────────────┘
 *
 * "A day later" needs an observation then, so a tick that knows that the condition lasts says so,
 * even with the same number. A condition that ops were never told of closes silently. One that is
 * back before its end was told goes on. A condition with `steadyMs` comes and goes as one condition
 * as long as it does not stay away. One with `graceMs` is decided on once, after that time: it begins,
 * or it owes 'was'. One lost tick is made up for by the next.
 */
export function observe(
  before: OpenCondition | undefined,
  observation: Observation,
  nowMs: number,
): OpenCondition | undefined {
  const { number, steadyMs = 0, graceMs = 0, since: seenSince = nowMs } = observation;
  if (number === 0) return before && notSeen(before, observation, nowMs);
  const { since = seenSince, told } = before ?? {};
  const details = shown(observation.details) ?? before?.details;
  const paths = observation.paths ?? before?.paths;
  const condition = { since, number, ...(paths && { paths }) };
  const detailed = details && { details };
  if (told !== undefined) {
    const hasGrown = number > told.number && nowMs - told.at >= oneDay;
    const fewest = { ...told, number: Math.min(told.number, number) };
    return { ...condition, told: fewest, ...(hasGrown && { owes: 'grows', ...detailed }) };
  }
  if (nowMs - since < Math.max(steadyMs, graceMs)) return { ...condition, ...detailed };
  return { ...condition, owes: 'begins', details: details ?? [] };
}

function shown(lines: readonly string[] | undefined): readonly string[] | undefined {
  const first = lines?.slice(0, listed).map((line) => line.slice(0, maxLine));
  const rest = (lines?.length ?? 0) - listed;
  return rest > 0 ? first?.concat(`and ${rest} more`) : first;
}

function notSeen(
  { owes: _, details: __, ...before }: OpenCondition,
  { steadyMs = 0, graceMs = 0 }: Observation,
  nowMs: number,
): OpenCondition | undefined {
  const { goneAt = nowMs, since, number, told } = before;
  if (nowMs - goneAt < steadyMs) return { ...before, goneAt };
  if (told) return { ...before, told: { ...told, number: 0 }, owes: 'ends' };
  if (nowMs - since < graceMs) return { ...before, goneAt };
  return graceMs > 0 && number > 1 ? { ...before, goneAt, owes: 'was' } : undefined;
}

/** Whether ops were not told of it, and need not be told yet. */
export function isUntold(condition: OpenCondition | undefined): boolean {
  return condition !== undefined && condition.told === undefined && condition.owes === undefined;
}

/** Whether ops were told of it, or are owed the notice, and it is not over. */
export function isLasting({ told, owes }: OpenCondition): boolean {
  return owes === undefined ? told !== undefined : owes === 'begins' || owes === 'grows';
}

/** The condition after its owed notice was accepted; undefined: it is over. */
export function settle(condition: OpenCondition, nowMs: number): OpenCondition | undefined {
  const { since, number, owes, paths } = condition;
  if (owes === 'ends' || owes === 'was') return undefined;
  return { since, number, told: { at: nowMs, number }, ...(paths && { paths }) };
}
