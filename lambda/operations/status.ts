import { Temporal } from 'temporal-polyfill';
import { conditionWording } from '../condition-table.ts';
import type { DayEntry } from '../detection/calendar.ts';
import { isLasting } from '../detection/conditions.ts';
import { recentWindow } from '../detection/days.ts';
import type { Kept } from '../ports/ledger.ts';
import type { State } from '../ports/state.ts';
import { isBackingOff } from '../tick/back-off.ts';
import { problemOf } from './answer.ts';
import { noneOfAnyKind } from './contract/common.ts';
import type { ResultOf } from './contract.ts';
import { detectionTimes } from './detection-times.ts';
import { refuseIfLeftAlone } from './lease.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';
import { instant, proofOverview } from './proofs.ts';
import { reasonsAgainst } from './standing.ts';
import { ifPaused } from './steering.ts';

type Status = ResultOf<'status'>;

/** All that there is to say about an integration in one screen. Reads only. */
export const status: Carrier<'status'> = async (parts, command, call) => {
  const { ledger, opsLedger, settings, clock } = parts;
  const state = await ledger.recordedState();
  const [calendar, waiting, partner, history] = await Promise.all([
    ledger.calendar(state?.years ?? []),
    opsLedger.waiting(),
    command.partner ? partnerTotal(parts, state, call) : undefined,
    command.history ? opsLedger.recorded() : undefined,
  ]);
  const now = clock.now();
  const window = recentWindow(now, settings.timeZone, settings.recentDays);
  const [today, recentFrom] = [window.today.toString(), window.from];
  const certifications = totalOf(calendar);
  const conditions = state ? await conditionsOf(state, parts, waiting) : [];
  const reasons = reasonsAgainst({ waiting, partner, certifications, conditions }, state, parts);
  const { total: missing = 0, tooManySince } = state?.missing ?? {};
  return {
    result: {
      at: now.toString(),
      settings: { ...settings, integration: settings.name },
      standing: reasons[0] ?? 'up-to-date',
      reasons,
      busy: Temporal.Instant.compare(now, state?.leaseUntil ?? now) < 0,
      ...ifPaused(state),
      backingOff: backOff(state, parts),
      baseline: progressOf(state, calendar, settings.baseline),
      lastTick: state?.heartbeat,
      certifications,
      partner,
      unexplained: state?.unexplained ?? 0,
      missing: { number: missing, isTooMany: tooManySince !== undefined },
      today: { ...noneOfAnyKind(), ...(state?.today?.day === today && state.today), day: today },
      waiting,
      ...proofOverview(calendar, recentFrom),
      detection: detectionTimes(settings, {
        recent: totalOf(calendar, recentFrom),
        all: certifications,
      }),
      conditions,
      history: history && [...history],
    },
  };
};

function backOff(state: State | undefined, parts: OperationParts): Status['backingOff'] {
  if (!state?.backOff || !isBackingOff(state, parts)) return undefined;
  return { ...state.backOff, until: state.backOff.until.toString() };
}

async function partnerTotal(parts: OperationParts, state: State | undefined, { limit }: Call) {
  try {
    refuseIfLeftAlone(state, parts);
    const count = await parts.partner.count({}, limit.deadline);
    return { count, at: parts.clock.now().toString() };
  } catch (error) {
    return { problem: problemOf(error) };
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
  const { status, startDay, begunAt, before } = state.baseline;
  const since = status === 'completed' ? 0 : (begunAt ?? Number.POSITIVE_INFINITY);
  const isBackwards = status === 'running' && reads !== 'fan-out';
  const read = [...calendar].filter(([, { readAt }]) => readAt >= since);
  return {
    status,
    startDay: startDay?.toString(),
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

/** What lasts. Of what ops have decided, ticks know only after a while: the index and the state do. */
async function conditionsOf(
  { conditions, paused }: State,
  { settings, ledger }: OperationParts,
  waiting: Status['waiting'],
): Promise<Status['conditions']> {
  const lasting: Status['conditions'] = [];
  for (const [name, condition] of conditions) {
    const isOver = !isLasting(condition) || (name === 'paused' && !paused);
    const isKept = name === 'held' || name === 'undeliverable';
    const number = isKept
      ? await keptNow(ledger, name, condition.number, waiting)
      : condition.number;
    if (isOver || number === 0) continue;
    const { since, told } = condition;
    const toldAt = told && instant(told.at);
    const wording = conditionWording(settings, name);
    lasting.push({ name, since: instant(since), number, toldAt, ...wording });
  }
  return lasting;
}

/**
 * How many wait for ops. What owes people a digest besides is in the index for that: where none other
 * waits, a look at the items tells whether there is any, of as many as ticks have told of. While something is
 * to be published, that is in the way by itself: to look through all of a flood that was released takes minutes.
 */
async function keptNow(
  ledger: OperationParts['ledger'],
  name: Kept,
  told: number,
  waiting: Status['waiting'],
): Promise<number> {
  const mayHide = waiting[name] === 0 && waiting.pending === 0 && waiting.digest > 0;
  if (!mayHide) return waiting[name];
  for await (const { owed, unreadable } of ledger.kept(name))
    if (owed.length > 0 || unreadable.length > 0) return told;
  return 0;
}
