import * as z from 'zod/mini';
import type { NotifierError } from '../errors.ts';
import type { QuarantinedRecord } from '../ports/partner-reader.ts';
import type { Pause, State } from '../ports/state.ts';
import type { Calendar } from './calendar.ts';
import type { Missing } from './missing.ts';
import { paceSeen, type RequestPace } from './pace.ts';

/** What a tick has to get past, in this order: the secret, the token, the API. */
const obstacles = [
  ['credentials-not-set', 'credentials-malformed', 'secret-unreadable'],
  ['credentials-refused', 'unsupported-grant'],
  ['token-refused-twice', 'not-provisioned'],
] as const;

/** In the way of every tick until people mend it: the codes of the errors that reach so far. */
export const accessNames = obstacles.flat();

/** In the way of every tick. */
const blocking = [...accessNames, 'partner-silent'] as const;

const isBlocking = (name: string): name is (typeof blocking)[number] =>
  blocking.some((one) => one === name);

/** What operations are told of once when it begins and once when it is over. */
export const conditionNames = [
  'paused',
  ...blocking,
  'rate-limited',
  'missing',
  'unexplained',
  'held',
  'quarantined',
  'odd-fields',
  'shown-by-id',
  'silent',
  'undeliverable',
  'unproven',
  'check-failed',
] as const;

export type ConditionName = (typeof conditionNames)[number];

/** Of odd fields, by path: when a tick last met such records, and the most that one tick has met. */
const oddPathsKnown = z.readonly(
  z.record(z.string(), z.readonly(z.object({ at: z.number(), records: z.int() }))),
);

/** What a tick has found out about a condition. */
export interface Observation {
  /** How many of whatever it counts; 0: it is over, or has never been. */
  readonly number: number;
  /** Since when, if that is not now: milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Lines for its notice; no personal data. */
  readonly details?: readonly string[] | undefined;
  /** Of `odd-fields`: all that are known. */
  readonly paths?: z.output<typeof oddPathsKnown>;
  /** So long it has to last before it is told, and to be gone before it is over: milliseconds. */
  readonly steadyMs?: number;
  /** It may end by itself: after so long it is told that it lasts, or in one line that it was. Milliseconds. */
  readonly graceMs?: number;
}

/** What one tick has found out, by condition; of the others it knows nothing. */
export type Observations = Readonly<Partial<Record<ConditionName, Observation>>>;

/** What is in the way of every tick, and what is said of it if it may end by itself. */
export interface Blocked {
  readonly name?: (typeof blocking)[number];
  readonly passing?: string;
}

/** What a tick notes as it goes; of what is left out it knows nothing. */
export interface Facts {
  readonly pace: RequestPace;
  /** Malformed records, by a short name. */
  readonly quarantined: Map<string, QuarantinedRecord>;
  /** The ids of announceable records with odd fields, by path. */
  readonly oddFields: Map<string, Set<number>>;
  /** What is in the way of every tick; no name: the partner has answered. */
  blocked?: Blocked;
  /** Malformed records that are reported for the first time, and how many have been reported with them. */
  reported?: { readonly news: readonly QuarantinedRecord[]; readonly total: number };
  /** Days were read. */
  calendar?: Calendar;
  absence?: {
    /** A tick that has nothing to look at knows no notes. */
    readonly missing: Partial<Pick<Missing, 'total' | 'notes' | 'tooManySince'>> | undefined;
    readonly unexplained: number;
    /** An older answer or a comeback looks the same for a while. */
    readonly steadyMs: number;
  };
  /** No certification has come for long. Only ticks that have found all that there is know of it. */
  silent?: Observation;
  /** What waits for ops. Only ticks with the lease count it, and tell of odd fields: others see the same page each time. */
  waiting?: Pick<Observations, 'held' | 'undeliverable'>;
  /** What the state says by itself: of a pause, and of the last self-check. */
  stated?: Observations;
  /** The first that AWS has denied this tick. */
  denial?: State['denial'];
}

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
    /** The notice that is owed, as SNS has not accepted it yet: it begins; it has become more; it is over; it was, and is over. */
    owes: z.exactOptional(z.enum(['begins', 'grows', 'ends', 'was'])),
    /** For that notice only. */
    details: z.exactOptional(z.readonly(z.array(z.string()))),
    /** Of `odd-fields`. */
    paths: z.exactOptional(oddPathsKnown),
  }),
);

export type OpenCondition = z.output<typeof openCondition>;

export type OpenConditions = ReadonlyMap<ConditionName, OpenCondition>;

const oneDay = 24 * 3_600_000;
/** What may end by itself is told after so long. */
const graceMs = 15 * 60_000;
/** Days that were found unproven again after so long are told of. */
const unprovenMs = oneDay;
/** What the state item can hold of a notice that is owed. */
const listed = 20;
const maxLine = 200;

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
 * steady, what comes and goes is one condition as long as it does not stay away. What may end by itself is decided on
 * once, after its time of grace: as it is then, it begins, or owes 'was'; one lost tick is made up for by the next.
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

/** Whether nobody is told of it, nor is to be yet. */
export function isUntold(condition: OpenCondition | undefined): boolean {
  return condition !== undefined && condition.told === undefined && condition.owes === undefined;
}

/** Whether operations were told of it, or are owed it, and it is not over. */
export function isLasting({ told, owes }: OpenCondition): boolean {
  return owes === undefined ? told !== undefined : owes === 'begins' || owes === 'grows';
}

/** What is left of a condition once the notice that it owes was accepted. */
export function settle(condition: OpenCondition, nowMs: number): OpenCondition | undefined {
  const { since, number, owes, paths } = condition;
  if (owes === 'ends' || owes === 'was') return undefined;
  return { since, number, told: { at: nowMs, number }, ...(paths && { paths }) };
}

/**
 * A pause that goes on for days may have been forgotten. An outage that was not told before begins anew after it: no tick
 * has seen that it lasts.
 */
export function pauseSeen(
  pause: Pause | undefined,
  open: OpenConditions,
  nowMs: number,
): Observations {
  const untold = [...open].filter(([name, one]) => isBlocking(name) && isUntold(one));
  const since = pause?.since.epochMilliseconds ?? nowMs;
  const details = pause ? [`Reason: ${pause.reason}`] : [];
  return {
    ...Object.fromEntries(untold.map(([name]) => [name, { number: 0 }])),
    paused: { number: Math.floor((nowMs - since) / oneDay), since, details },
  };
}

/** Of what a tick has failed, if it is in the way of every tick: until people mend it, or until the host answers. */
export function blockedBy(error: NotifierError): Pick<Facts, 'blocked'> {
  const { code, fault, reach, retryHelps } = error;
  const passing = retryHelps && { passing: error.message };
  if (isBlocking(code)) return { blocked: { name: code, ...passing } };
  const isUnanswered = fault === 'partner' && (reach === 'request' || reach === 'time');
  return isUnanswered && passing ? { blocked: { name: 'partner-silent', ...passing } } : {};
}

/** Counted are ticks, as far as that matters: a lost one is made up for by the next. */
function blockedSeen({ name, passing }: Blocked, open: OpenConditions): Observations {
  const over = overWith(name).map((one) => [one, { number: 0, graceMs }] as const);
  const number = passing !== undefined && name && open.has(name) ? 2 : 1;
  const seen = { number, ...(passing !== undefined && { graceMs, details: [passing] }) };
  return { ...Object.fromEntries(over), ...(name && { [name]: seen }) };
}

/** One gives way to another only if it shows that the other is over: a host that does not answer shows nothing. */
function overWith(name: Blocked['name']): readonly ConditionName[] {
  if (name === undefined) return blocking;
  const step = obstacles.findIndex((names) => names.some((one) => one === name));
  return [...obstacles.slice(0, step + 1).flat(), ...(step > 0 ? ['partner-silent' as const] : [])];
}

/** What a tick has to tell of, by what it has noted. */
export function conditionsOf(facts: Facts, open: OpenConditions, nowMs: number): Observations {
  const { blocked, reported, calendar, absence, silent, waiting, oddFields } = facts;
  const { missing = { notes: [] }, unexplained = 0, steadyMs = 0 } = { ...absence };
  const { tooManySince, total = 0 } = missing;
  const tooMany = tooManySince === undefined ? 0 : Math.max(1, total);
  // Without notes, what they have shown last still holds.
  const shownBefore = open.get('shown-by-id');
  const lastShown = shownBefore?.goneAt === undefined ? shownBefore?.number : 0;
  const shown = missing.notes?.filter(({ isShownById }) => isShownById);
  return {
    paused: { number: 0 },
    ...facts.stated,
    ...paceSeen(facts.pace, nowMs),
    ...(blocked && blockedSeen(blocked, open)),
    ...(absence && {
      missing: { number: tooMany, since: tooManySince, steadyMs },
      'shown-by-id': {
        number: shown?.length ?? lastShown ?? 0,
        details: shown?.map(({ id, day }) => `assessment ${id} of ${day}`),
        steadyMs,
      },
      unexplained: { number: Math.abs(unexplained), steadyMs },
    }),
    ...(silent && { silent }),
    ...(calendar && daysSeen(calendar, facts.quarantined.size, open)),
    ...(reported && {
      quarantined: { number: reported.total, details: reported.news.map(lineOf) },
    }),
    ...(waiting && oddFields.size > 0 && oddSeen(oddFields, open.get('odd-fields'), nowMs)),
    ...waiting,
  };
}

/** Whether no record is malformed any more: each would leave its day unproven. */
export function isMended(calendar: Calendar, malformed: number): boolean {
  return malformed === 0 && unprovenDays(calendar).length === 0;
}

function daysSeen(calendar: Calendar, malformed: number, open: OpenConditions): Observations {
  const lasting = unprovenDays(calendar).filter(
    ({ readAt, unprovenSince = readAt }) => readAt - unprovenSince >= unprovenMs,
  );
  const { paths = {} } = open.get('odd-fields') ?? {};
  const lastMet = Math.max(0, ...Object.values(paths).map(({ at }) => at));
  const isOddOver = calendar.days.every((day) => calendar.entry(day).readAt > lastMet);
  const quarantined = open.get('quarantined');
  // Also when nothing new has come: what was added within a day of its notice is still to be told.
  const isMalformed = !isMended(calendar, malformed) && quarantined && isLasting(quarantined);
  return {
    unproven: {
      number: lasting.length,
      details: lasting.map(({ day, count }) => `${day}: ${count} assessments expected`),
    },
    quarantined: { number: isMalformed ? quarantined.number : 0 },
    ...(isOddOver && { 'odd-fields': { number: 0 } }),
  };
}

function unprovenDays(calendar: Calendar) {
  return calendar.days
    .map((day) => ({ day, ...calendar.entry(day) }))
    .filter(({ proof, readAt }) => proof === undefined && readAt > 0);
}

function lineOf({ id, problems }: QuarantinedRecord): string {
  return `${id === undefined ? 'a record without an id' : `assessment ${id}`}: ${problems.join('; ')}`;
}

/** Told once by path, as long as any are met. */
function oddSeen(
  met: Facts['oddFields'],
  { paths: known = {} }: Partial<OpenCondition> = {},
  nowMs: number,
): Observations {
  const now = [...met].map(([path, { size }]) => {
    const records = Math.max(size, known[path]?.records ?? 0);
    return [path, { at: nowMs, records }] as const;
  });
  const all = Object.entries({ ...known, ...Object.fromEntries(now) });
  all.sort(([one], [other]) => one.localeCompare(other));
  const details = all.map(
    ([path, { records }]) => `${path}: ${records} ${records === 1 ? 'record' : 'records'}`,
  );
  return { 'odd-fields': { number: all.length, details, paths: Object.fromEntries(all) } };
}
