import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { DayEntry } from '../decisions/calendar.ts';
import { commandRecord } from '../decisions/command-record.ts';
import { dayTally } from '../decisions/compare.ts';
import { accessNames, conditionNames, isBlocking, isLasting } from '../decisions/conditions.ts';
import { recentWindow } from '../decisions/days.ts';
import { auditPlan } from '../decisions/due.ts';
import type { GateMemory } from '../decisions/gate.ts';
import { leaseSeen } from '../decisions/lease.ts';
import { allowedAt, isBackingOff, unhurried } from '../decisions/pace.ts';
import { denialNoted, type State } from '../decisions/state.ts';
import { problemOf } from '../describe-error.ts';
import { faultOf, NotifierError, reachOf } from '../errors.ts';
import type { TickSettings } from '../settings.ts';
import { deadlineOf } from '../tick/time.ts';
import { define } from './definition.ts';
import { knownState, refuseIfLeftAlone } from './lease.ts';
import type { Call, OperationParts } from './parts.ts';
import { ifPaused } from './pause.ts';
import { proofOverview, timeOf } from './proofs.ts';
import { count, day, instant, noneOfAnyKind, paused, problemSchema } from './shapes.ts';
import { flag, worded } from './words.ts';

/**
 * Why an integration is not up to date, the gravest first. Besides the conditions that ops are told
 * of:
 *
 * - `schedule-removed`, `schedule-disabled`: the function does not know; the command line adds
 * them.
 * - `behind`: no tick has completed for three periods, and the integration is not paused.
 * - `partner-silent`: it was just asked for its total, and gave none, by its own fault.
 * - `not-asked`: a fault of ours kept it from being asked. A condition of that name takes its place.
 * - `unfinished`: the last tick that looked has not found every difference of the total, or could
 * not commit a change.
 * - `differs`: no day explains a difference of the total. Arrivals and removals since that tick are
 * no reason, unless ticks are behind: then `partner.count` is not `certifications`.
 * - `owing`: events wait for the next tick.
 */
export const reasons = [
  'never-ticked',
  'schedule-removed',
  'schedule-disabled',
  'paused',
  'backing-off',
  'baseline',
  'behind',
  'denied',
  'partner-silent',
  'not-asked',
  'unfinished',
  'differs',
  ...conditionNames,
  'owing',
] as const;

export type Reason = (typeof reasons)[number];

/** Reasons for which ticks find no change, or not every one. */
export const stopping: ReadonlySet<Reason> = new Set([
  ...(['never-ticked', 'schedule-removed', 'schedule-disabled', 'paused', 'backing-off'] as const),
  ...(['baseline', 'behind', 'denied', 'partner-silent', ...accessNames] as const),
]);

/** The work of a tick, or of all ticks of an hour. `at`: its minute, or when the hour began. */
const activity = z.object({
  at: instant,
  /** Requests to the partner. */
  requests: count,
  /** Committed changes, held ones included. */
  found: count,
  held: count,
  /** Ticks that failed. */
  failed: count,
});

const result = z.object({
  at: instant,
  settings: z.object({
    integration: z.string(),
    baseUrl: z.string(),
    tokenRequest: z.enum(['form', 'basic', 'json']),
    timeZone: z.string(),
    /** Minutes from tick to tick. */
    every: z.number(),
  }),
  /** The first of `reasons`; `up-to-date` only if there is none. */
  state: z.enum([...reasons, 'up-to-date']),
  /** Everything that keeps it from being up to date. */
  reasons: z.array(z.enum(reasons)),
  /** A tick or a command is at work on it at this moment. */
  busy: z.boolean(),
  paused,
  backingOff: z.optional(z.object({ until: instant, failures: count })),
  /** How far the baseline is. */
  baseline: z.object({
    status: z.enum(['none', 'running', 'completed']),
    /** Days before this one are still to be read. */
    before: z.optional(day),
    /** Certifications on the days read so far. */
    counted: count,
  }),
  /** When the last tick ended that came to its end. */
  lastTick: z.optional(instant),
  /** The last denial by AWS: action, resource, request, and the permission to grant. */
  denial: z.optional(denialNoted),
  /** The last self-check, with its failures by a short name; absent: none yet. */
  selfCheck: z.optional(z.object({ at: instant, failed: z.record(z.string(), z.string()) })),
  certifications: count,
  /**
   * The partner's total, or why it is not known: this failure does not fail the command. Absent:
   * not asked.
   */
  partner: z.optional(z.union([z.object({ count }), z.object({ problem: problemSchema })])),
  /** By how much the partner's total differs although no day does. */
  unexplained: z.int(),
  /**
   * Certifications that the partner's list lacks and that are not withdrawn. `isTooMany`: they will
   * not be withdrawn before ops accept the total.
   */
  missing: z.object({ number: count, isTooMany: z.boolean() }),
  /** Announced or held since midnight in the partner's time zone, by the ticks that came to their end. */
  today: dayTally,
  /** Certifications with an event that waits: for the next tick, for a digest, for ops. */
  waiting: z.object({ pending: count, digest: count, held: count, undeliverable: count }),
  /** Ops have released with `forHours`: nothing new is held until then. */
  openUntil: z.optional(instant),
  /** The oldest proof, and its day; absent: no day is proven. */
  oldestProof: z.optional(z.object({ day, at: instant })),
  /** Days up to today that a certificate (`prove`) calls unproven; the oldest twenty of them. */
  unproven: z.object({ days: count, first: z.array(day) }),
  /** The learned pace of requests; absent: as set, and the host has not asked for silence. */
  pace: z.optional(
    z.object({
      /** Requests a minute; absent: as set. */
      perMinute: z.optional(count),
      /** The host wants no request before then. */
      silentUntil: z.optional(instant),
    }),
  ),
  /**
   * Minutes until a change is found at worst, by the settings, the pace and the total as they are
   * now: docs/detection.md. While a reason stops the ticks, they count from its end.
   */
  detection: z.object({
    /** New or edited, on a day that the newest page shows whole. */
    newest: z.number(),
    /** New or restored. */
    news: z.number(),
    withdrawn: z.number(),
    /** On the other days of the recent window. */
    editedRecent: z.number(),
    /** Before that; or one gone and one new on a day there. */
    editedHistory: z.number(),
  }),
  /** Open conditions that ops are told of. */
  conditions: z.array(
    z.object({
      name: z.enum(conditionNames),
      since: instant,
      /**
       * For `held` and `undeliverable`, the certifications that wait now; for the others, the last
       * tick's number.
       */
      number: count,
      /** When ops were last told of it; absent: they are still to be told. */
      toldAt: z.optional(instant),
    }),
  ),
  /**
   * The last 30 ticks and 24 hours, the newest first, fewer after a flood. Ticks count that asked
   * the partner, not those that were paused or beside another one. Absent: not asked for.
   */
  activity: z.optional(z.object({ ticks: z.array(activity), hours: z.array(activity) })),
  /** Newest first; absent: not asked for. */
  history: z.optional(z.readonly(z.array(commandRecord))),
});

export type Status = z.output<typeof result>;

/**
 * After this many periods without a completed tick, the integration is behind; the alarm waits as
 * long.
 */
const missedTicks = 3;

/** Everything about an integration in one screen. It only reads. */
export const status = define({
  does: 'Up to date, or why not: all there is to know about each integration.',
  command: z.strictObject({
    command: z.literal('status'),
    history: flag('also the commands that changed something, newest first'),
    activity: flag('also the work of the last ticks and hours, newest first'),
    partner: worded(z._default(z.boolean(), true), {
      no: 'do not ask the partner for its total; a partner that is down then counts once ticks do not complete',
    }),
  }),
  result,
  async carry(parts, command, { time }) {
    const { ledger, opsLedger, settings, clock } = parts;
    const state = await knownState(parts);
    const [calendar, waiting, gate, partner, history] = await Promise.all([
      ledger.calendar(state?.years ?? []),
      opsLedger.waiting(),
      ledger.gate(),
      command.partner ? partnerTotal(parts, state, time) : undefined,
      command.history ? opsLedger.recorded() : undefined,
    ]);
    const now = clock.now();
    const window = recentWindow(now, settings.timeZone, settings.recentDays);
    const today = window.today.toString();
    const certifications = totalOf(calendar);
    const known = { recent: totalOf(calendar, window.from), all: certifications };
    const unexplained = state?.unexplained ?? 0;
    const { total: missing = 0, tooManySince } = state?.missing ?? {};
    const told = {
      at: now.toString(),
      settings: { ...settings, integration: settings.name },
      busy: leaseSeen(state ?? {}, now) === 'held',
      ...ifPaused(state),
      backingOff: backingOffTold(state, now),
      baseline: progressOf(state, calendar),
      lastTick: state?.heartbeat,
      denial: state?.denial,
      selfCheck: selfCheckTold(state),
      certifications,
      partner: partner?.told,
      unexplained,
      missing: { number: missing, isTooMany: tooManySince !== undefined },
      today: state?.today?.day === today ? state.today : { day: today, ...noneOfAnyKind() },
      waiting,
      openUntil: openUntilOf(gate, now),
      ...proofOverview(calendar, { now, timeZone: settings.timeZone }),
      pace: paceTold(state?.pace, settings.requestsPerMinute, now.epochMilliseconds),
      detection: detectionTimes(settings, known, {
        days: calendar.size,
        pace: state?.pace,
        isTotalRight: unexplained === 0,
        nowMs: now.epochMilliseconds,
      }),
      conditions: state ? conditionsOf(state, waiting) : [],
      activity: command.activity ? activityTold(state?.activity) : undefined,
      history,
    };
    const found = {
      isBehind: isBehind(state, parts),
      isUnfinished: state?.pulseDigest === undefined,
      hasUnread: [...calendar.values()].some(({ unread }) => unread !== undefined),
      stopped: partner?.stopped,
    };
    const against = reasonsAgainst(told, found);
    const first: Status['state'] = against[0] ?? 'up-to-date';
    return { result: { ...told, state: first, reasons: against } };
  },
});

function openUntilOf({ openUntil = 0 }: GateMemory, now: Temporal.Instant): string | undefined {
  return openUntil > now.epochMilliseconds ? timeOf(openUntil) : undefined;
}

/** Everything that keeps an integration from being up to date: "up to date" is said only without any. */
function reasonsAgainst(
  told: Omit<Status, 'state' | 'reasons'>,
  {
    isBehind,
    isUnfinished,
    hasUnread,
    stopped,
  }: {
    readonly isBehind: boolean;
    readonly isUnfinished: boolean;
    readonly hasUnread: boolean;
    /** Why the partner gave no total. */
    readonly stopped: Reason | undefined;
  },
): Reason[] {
  const { waiting, partner, conditions, baseline, paused, backingOff } = told;
  const hasBegun = told.lastTick !== undefined || baseline.status === 'running';
  const isCompleted = baseline.status === 'completed';
  const isLeftAlone = paused !== undefined || backingOff !== undefined;
  const isUnexplained = told.unexplained !== 0;
  // Arrivals and removals since the last tick are for the next one to find, unless ticks are
  // behind.
  const differs =
    partner !== undefined && 'count' in partner
      ? partner.count !== told.certifications && (isUnexplained || isBehind)
      : isUnexplained;
  const found = new Map<Reason, boolean>([
    ['never-ticked', !hasBegun],
    ['paused', paused !== undefined],
    ['backing-off', backingOff !== undefined],
    ['baseline', hasBegun && !isCompleted],
    ['behind', isBehind],
    ['denied', told.denial !== undefined],
    ...(stopped === undefined || isLeftAlone ? [] : [[stopped, true] as const]),
    ['unfinished', isCompleted && isUnfinished],
    ['differs', isCompleted && differs],
    ['missing', told.missing.isTooMany],
    ['held', waiting.held > 0],
    ['undeliverable', waiting.undeliverable > 0],
    // After these counts: the index may have a held event under something else that its item owes.
    // Records with odd fields are announced like any other, and odd numbers are ignored.
    ...conditions.map(({ name }) => [name, !name.startsWith('odd-')] as const),
    ['baseline-unread', hasUnread],
    ['owing', waiting.pending > 0],
  ]);
  const all = [...new Set(reasons)].filter((reason) => found.get(reason));
  // The obstacle of the first tick is reason enough.
  return all.some(isBlocking) ? all.filter((reason) => reason !== 'never-ticked') : all;
}

/**
 * Whether ticks do not come to their end. That is not expected of a paused integration, and the
 * first tick of a baseline has not ended yet.
 */
export function isBehind(state: State | undefined, { clock, settings }: OperationParts): boolean {
  if (state?.heartbeat === undefined || state.paused) return false;
  const since = clock.now().since(Temporal.Instant.from(state.heartbeat));
  return since.total('minutes') > missedTicks * settings.every;
}

function selfCheckTold(state: State | undefined): Status['selfCheck'] {
  const last = state?.selfCheck;
  return last && { at: timeOf(last.at), failed: last.failed };
}

function backingOffTold(state: State | undefined, now: Temporal.Instant): Status['backingOff'] {
  if (state?.backOff === undefined || !isBackingOff(state, now)) return undefined;
  return { ...state.backOff, until: state.backOff.until.toString() };
}

function activityTold(known: State['activity']): NonNullable<Status['activity']> {
  const { minute, ticks, hours } = known ?? { minute: 0, ticks: [], hours: [] };
  const hour = Math.floor(minute / 60);
  let at = minute;
  return {
    ticks: ticks.map(({ afterMinutes, ...tick }) => {
      const told = { at: timeOf(at * 60_000), ...tick };
      at -= afterMinutes;
      return told;
    }),
    hours: hours.map((sum, index) => ({ at: timeOf((hour - index) * 3_600_000), ...sum })),
  };
}

async function partnerTotal(
  parts: OperationParts,
  state: State | undefined,
  time: Call['time'],
): Promise<{
  readonly told: NonNullable<Status['partner']>;
  readonly stopped?: Reason | undefined;
}> {
  try {
    refuseIfLeftAlone(state, parts);
    return { told: { count: await parts.partner.count({}, deadlineOf(time)) } };
  } catch (error) {
    return { told: { problem: problemOf(error, 'command') }, stopped: stoppedBy(error) };
  }
}

/** Undefined: the pace alone, which is over with the minute. */
function stoppedBy(error: unknown): Reason | undefined {
  if (reachOf(error) === 'pace') return undefined;
  if (error instanceof NotifierError && isBlocking(error.code)) return error.code;
  return faultOf(error) === 'partner' ? 'partner-silent' : 'not-asked';
}

function paceTold(known: State['pace'], set: number, nowMs: number): Status['pace'] {
  const allowed = allowedAt(known ?? unhurried, set, nowMs);
  const perMinute = allowed < set ? allowed : undefined;
  const until = known?.refusal?.until ?? 0;
  const silentUntil = until > nowMs ? timeOf(until) : undefined;
  return (perMinute ?? silentUntil) === undefined ? undefined : { perMinute, silentUntil };
}

/**
 * How far the baseline is, by the days that were read since it began. After a restart, all days
 * have counts already.
 */
export function progressOf(
  state: Pick<State, 'baseline'> | undefined,
  calendar: ReadonlyMap<string, DayEntry>,
): Status['baseline'] {
  if (state === undefined) return { status: 'none', counted: 0 };
  const { status, begunAt, before } = state.baseline;
  const since = status === 'completed' ? 0 : (begunAt ?? Number.POSITIVE_INFINITY);
  const read = [...calendar].filter(([, { readAt }]) => readAt >= since);
  return {
    status,
    before: status === 'running' ? before?.toString() : undefined,
    counted: totalOf(new Map(read)),
  };
}

/** @param from the first day that counts */
function totalOf(calendar: ReadonlyMap<string, DayEntry>, from = ''): number {
  const total = [...calendar].reduce(
    (sum, [day, { count }]) => (day < from ? sum : sum + count),
    0,
  );
  return Math.max(0, total);
}

/**
 * The open conditions. Ticks notice decisions of ops only after a while; the index and the state
 * have them at once. An item that also owes people a digest is in the index under the digest. If
 * the index shows no other one, the number is that of ticks.
 */
function conditionsOf(
  { conditions, paused }: State,
  waiting: Status['waiting'],
): Status['conditions'] {
  const mayHide = waiting.pending === 0 && waiting.digest > 0;
  return [...conditions].flatMap(([name, condition]) => {
    const isOver = !isLasting(condition) || (name === 'paused' && !paused);
    const isWaiting = name === 'held' || name === 'undeliverable';
    const waits = isWaiting ? waiting[name] : condition.number;
    const number = waits === 0 && mayHide ? condition.number : waits;
    if (isOver || number === 0) return [];
    const { since, told } = condition;
    const toldAt = told && timeOf(told.at);
    return [{ name, since: timeOf(since), number, toldAt }];
  });
}

/**
 * Assessments that one request of an audit proves at least, on average. Neighbouring days share a
 * request as long as they fit into a page of a hundred, so two requests in a row have more than
 * that together.
 */
const rowsARequest = 50;

/** Requests of a search besides its questions for counts: the pulse, a token, and reads. */
const requestsBesideCounts = 6;

/**
 * How long it takes at worst until a change is found (docs/detection.md). By the page it is a tick,
 * by the total a search, and for missing ones a second look after `withdrawAfter`. By audits it is
 * their period, and the time in which their requests are saved up. Where audits need more requests
 * than ticks may make, it is as long as a pass takes. A low pace spreads a search over ticks. A
 * total that is not the sum of its days may not move with a change, so audits find it. Nothing is
 * found while the host wants silence.
 *
 * @param certifications known, of the recent window and in all
 */
export function detectionTimes(
  settings: Pick<TickSettings, 'every' | 'audit' | 'withdrawAfterMs' | 'requestsPerMinute'>,
  certifications: { readonly recent: number; readonly all: number },
  present: {
    /** Of the calendar. */
    readonly days: number;
    readonly pace: State['pace'];
    readonly isTotalRight: boolean;
    readonly nowMs: number;
  },
): Status['detection'] {
  const { every, audit } = settings;
  const { pace = unhurried, nowMs } = present;
  const allowed = allowedAt(pace, settings.requestsPerMinute, nowMs);
  const silent = Math.ceil(Math.max(0, (pace.refusal?.until ?? 0) - nowMs) / 60_000);
  const ofSearch = Math.ceil(Math.log2(present.days + 1)) + requestsBesideCounts;
  // Each tick spends one of its requests on the pulse.
  const search = Math.ceil(ofSearch / Math.max(1, allowed * every - 1)) * every;
  // Half of a minute's pace is left for other work.
  const perTick = Math.max(1, Math.min(audit.requests, Math.ceil(allowed / 2)));
  const requestsFor = (rows: number) => Math.ceil(rows / rowsARequest) + 1;
  const ofWindow = Math.ceil(requestsFor(certifications.recent) / perTick) * every;
  const recent = Math.ceil(Math.max(audit.recentMs / 60_000, ofWindow) + ofWindow);
  const ofAll = requestsFor(certifications.all);
  const { historyMs, perMinute } = auditPlan(ofAll, '', { ...audit, requests: perTick });
  const pass = Math.max(historyMs / 60_000, ofAll / perMinute);
  const history = Math.ceil(pass + perTick / perMinute) + every;
  const news = present.isTotalRight ? search : history;
  return {
    newest: silent + every,
    news: silent + news,
    withdrawn: silent + news + settings.withdrawAfterMs / 60_000 + search,
    editedRecent: silent + recent,
    editedHistory: silent + history,
  };
}
