import { Temporal } from 'temporal-polyfill';
import { problemOf } from '../describe-error.ts';
import { isBackingOff } from '../detection/back-off.ts';
import type { DayEntry } from '../detection/calendar.ts';
import { isLasting } from '../detection/conditions.ts';
import { recentWindow } from '../detection/days.ts';
import { auditPlan } from '../detection/due.ts';
import type { State } from '../ports/state.ts';
import type { TickSettings } from '../settings.ts';
import { noneOfAnyKind, type Reason, type ResultOf, reasons } from './contract.ts';
import { refuseIfLeftAlone } from './lease.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';
import { instant, proofOverview } from './proofs.ts';
import { ifPaused } from './steering.ts';

type Status = ResultOf<'status'>;

/** After so many periods without a completed tick, the integration is behind; the alarm waits as long. */
const missedTicks = 3;

/** All that there is to say about an integration in one screen. Reads only. */
export const status: Carrier<'status'> = async (parts, command, { limit }) => {
  const { ledger, opsLedger, settings, clock } = parts;
  const state = await ledger.recordedState();
  const [calendar, waiting, partner, history] = await Promise.all([
    ledger.calendar(state?.years ?? []),
    opsLedger.waiting(),
    command.partner ? partnerTotal(parts, state, limit) : undefined,
    command.history ? opsLedger.recorded() : undefined,
  ]);
  const now = clock.now();
  const window = recentWindow(now, settings.timeZone, settings.recentDays);
  const today = window.today.toString();
  const certifications = totalOf(calendar);
  const known = { recent: totalOf(calendar, window.from), all: certifications };
  const backOff = state && isBackingOff(state, parts.clock.now()) ? state.backOff : undefined;
  const { total: missing = 0, tooManySince } = state?.missing ?? {};
  const told = {
    at: now.toString(),
    settings: { ...settings, integration: settings.name },
    busy: Temporal.Instant.compare(now, state?.leaseUntil ?? now) < 0,
    ...ifPaused(state),
    backingOff: backOff && { ...backOff, until: backOff.until.toString() },
    baseline: progressOf(state, calendar, settings.baseline),
    lastTick: state?.heartbeat,
    denial: state?.denial,
    selfCheck: selfCheckTold(state),
    certifications,
    partner,
    unexplained: state?.unexplained ?? 0,
    missing: { number: missing, isTooMany: tooManySince !== undefined },
    today: state?.today?.day === today ? state.today : { day: today, ...noneOfAnyKind() },
    waiting,
    ...proofOverview(calendar, { now, timeZone: settings.timeZone }),
    detection: detectionTimes(settings, known),
    conditions: state ? conditionsOf(state, waiting) : [],
    history,
  };
  const found = {
    isBehind: isBehind(state, parts),
    isUnfinished: state?.pulseDigest === undefined,
  };
  const reasons = reasonsAgainst(told, found);
  return { result: { ...told, standing: reasons[0] ?? 'up-to-date', reasons } };
};

/** Everything that keeps an integration from being up to date: "up to date" is said only without any. */
function reasonsAgainst(
  told: Omit<Status, 'standing' | 'reasons'>,
  { isBehind, isUnfinished }: { readonly isBehind: boolean; readonly isUnfinished: boolean },
): Reason[] {
  const { waiting, partner, conditions, baseline, paused, backingOff } = told;
  const hasBegun = told.lastTick !== undefined || baseline.status === 'running';
  const isCompleted = baseline.status === 'completed';
  const isLeftAlone = paused !== undefined || backingOff !== undefined;
  const isSilent = partner !== undefined && 'problem' in partner;
  const isUnexplained = told.unexplained !== 0;
  // What has come or gone since the last tick is the next one's to find, unless ticks are behind.
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
    ['partner-silent', isSilent && !isLeftAlone],
    ['unfinished', isCompleted && isUnfinished],
    ['differs', isCompleted && differs],
    ['missing', told.missing.isTooMany],
    ['held', waiting.held > 0],
    ['undeliverable', waiting.undeliverable > 0],
    // After these counts: what is held can be in the index for something else that it owes.
    // Records with odd fields are announced like any other.
    ...conditions.map(({ name }) => [name, name !== 'odd-fields'] as const),
    ['owing', waiting.pending > 0],
  ]);
  return [...new Set(reasons)].filter((reason) => found.get(reason));
}

/** Ticks do not come to their end. Nobody expects it of one that is paused; the very first of a baseline has none yet. */
export function isBehind(state: State | undefined, { clock, settings }: OperationParts): boolean {
  if (state?.heartbeat === undefined || state.paused) return false;
  const since = clock.now().since(Temporal.Instant.from(state.heartbeat));
  return since.total('minutes') > missedTicks * settings.every;
}

function selfCheckTold(state: State | undefined): Status['selfCheck'] {
  const last = state?.selfCheck;
  return last && { at: instant(last.at), failed: last.failed };
}

async function partnerTotal(parts: OperationParts, state: State | undefined, limit: Call['limit']) {
  try {
    refuseIfLeftAlone(state, parts);
    return { count: await parts.partner.count({}, limit.deadline) };
  } catch (error) {
    return { problem: problemOf(error, 'command') };
  }
}

/**
 * How far the first full read is, by the days that were read since it began: when it was restarted, all days have
 * counts already, and a fan-out reads them in any order.
 */
export function progressOf(
  state: Pick<State, 'baseline'> | undefined,
  calendar: ReadonlyMap<string, DayEntry>,
  reads: OperationParts['settings']['baseline'],
): Status['baseline'] {
  if (state === undefined) return { status: 'none', counted: 0 };
  const { status, begunAt, before } = state.baseline;
  const since = status === 'completed' ? 0 : (begunAt ?? Number.POSITIVE_INFINITY);
  const isBackwards = status === 'running' && reads !== 'fan-out';
  const read = [...calendar].filter(([, { readAt }]) => readAt >= since);
  return {
    status,
    before: isBackwards ? before?.toString() : undefined,
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
 * What lasts. Of what ops have decided, ticks know only after a while: the index and the state do. What owes
 * people a digest besides is in the index for that: where none other waits, the number is that of ticks.
 */
function conditionsOf(
  { conditions, paused }: State,
  waiting: Status['waiting'],
): Status['conditions'] {
  const mayHide = waiting.pending === 0 && waiting.digest > 0;
  return [...conditions].flatMap(([name, condition]) => {
    const isOver = !isLasting(condition) || (name === 'paused' && !paused);
    const isKept = name === 'held' || name === 'undeliverable';
    const kept = isKept ? waiting[name] : condition.number;
    const number = kept === 0 && mayHide ? condition.number : kept;
    if (isOver || number === 0) return [];
    const { since, told } = condition;
    const toldAt = told && instant(told.at);
    return [{ name, since: instant(since), number, toldAt }];
  });
}

/**
 * Assessments that one request of an audit proves at least: neighbouring days share a request as long
 * as they fit into a page of a hundred, so two in a row have more than that together.
 */
const rowsARequest = 50;

/**
 * How long it takes at worst until a change is found (docs/detection.md): by the total and the page, a tick, and for
 * what is gone a second look after `withdrawAfter`; by the audits, their period and what they wait to be spent together.
 * What asks for more requests than ticks may make waits as long as a pass takes.
 *
 * @param certifications known, of the recent window and in all
 */
export function detectionTimes(
  { every, audit, withdrawAfterMs }: Pick<TickSettings, 'every' | 'audit' | 'withdrawAfterMs'>,
  certifications: { readonly recent: number; readonly all: number },
): Status['detection'] {
  const perTick = Math.max(1, audit.requests);
  const requestsFor = (rows: number) => Math.ceil(rows / rowsARequest) + 1;
  const ofWindow = Math.ceil(requestsFor(certifications.recent) / perTick) * every;
  const recent = Math.ceil(Math.max(audit.recentMs / 60_000, ofWindow) + ofWindow);
  const ofAll = requestsFor(certifications.all);
  const { historyMs, perMinute } = auditPlan(ofAll, '', { ...audit, requests: perTick });
  const pass = Math.max(historyMs / 60_000, ofAll / perMinute);
  const history = Math.ceil(pass + perTick / perMinute) + every;
  const withdrawn = withdrawAfterMs / 60_000 + 2 * every;
  return { news: every, withdrawn, editedRecent: recent, editedHistory: history };
}
