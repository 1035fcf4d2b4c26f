import { Temporal } from 'temporal-polyfill';
import { conditionWording } from '../condition-table.ts';
import type { DayEntry } from '../detection/calendar.ts';
import { type ConditionName, isLasting } from '../detection/conditions.ts';
import { recentWindow } from '../detection/days.ts';
import type { State } from '../ports/state.ts';
import { isBackingOff } from '../tick/back-off.ts';
import { problemOf } from './answer.ts';
import { progressOf } from './baseline.ts';
import type { ResultOf } from './contract.ts';
import { detectionTimes } from './detection-times.ts';
import { refuseIfLeftAlone } from './left-alone.ts';
import type { Kept, Waits } from './ops-ledger.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';
import { ifPaused } from './pause.ts';
import { instant, proofOverview } from './proofs.ts';
import { reasonsAgainst } from './standing.ts';
import { emptyTally } from './tally.ts';

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
  const certifications = Math.max(0, totalOf(calendar));
  const { baseline } = state ?? { baseline: { status: 'none' as const } };
  const progress = progressOf({ baseline }, calendar, settings.baseline);
  const today = window.today.toString();
  const conditions = state
    ? conditionsOf(state, settings, await keptNow(opsLedger, state, waiting))
    : [];
  const known = { state, waiting, partner, certifications, conditions };
  const reasons = reasonsAgainst(known, parts);
  return {
    result: {
      at: now.toString(),
      settings: settingsTold(parts),
      standing: reasons[0] ?? 'up-to-date',
      reasons,
      busy: isLeased(state, now),
      ...ifPaused(state),
      ...ifBackingOff(state, parts),
      baseline: {
        ...progress,
        ...(partner && 'count' in partner && { total: partner.count }),
      },
      ...ticksOf(state, parts),
      certifications,
      ...(partner && { partner }),
      unexplained: state?.unexplained ?? 0,
      missing: missingIn(state),
      today: { ...emptyTally(), ...(state?.today?.day === today && state.today), day: today },
      waiting,
      ...proofOverview(calendar, window.from.toString()),
      detection: detectionTimes(settings, {
        recent: totalOf(calendar, window.from.toString()),
        all: certifications,
      }),
      conditions,
      ...(history && { history: [...history] }),
    },
  };
};

async function partnerTotal(parts: OperationParts, state: State | undefined, { limit }: Call) {
  try {
    refuseIfLeftAlone(state, parts);
    const count = await parts.partner.count({}, limit.deadline);
    return { count, at: parts.clock.now().toString() };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

function ifBackingOff(state: State | undefined, parts: OperationParts): Pick<Status, 'backingOff'> {
  if (!state?.backOff || !isBackingOff(state, parts)) return {};
  const { until, failures } = state.backOff;
  return { backingOff: { until: until.toString(), failures } };
}

function isLeased(state: State | undefined, now: Temporal.Instant): boolean {
  return state?.leaseUntil !== undefined && Temporal.Instant.compare(now, state.leaseUntil) < 0;
}

function missingIn(state: State | undefined): Status['missing'] {
  const { total = 0, tooManySince } = state?.missing ?? {};
  return { number: total, isTooMany: tooManySince !== undefined };
}

/** @param from the first day that counts */
function totalOf(calendar: ReadonlyMap<string, DayEntry>, from = ''): number {
  return [...calendar].reduce((sum, [day, { count }]) => (day < from ? sum : sum + count), 0);
}

function ticksOf(
  state: State | undefined,
  { settings, clock }: OperationParts,
): Pick<Status, 'lastTick' | 'nextTick'> {
  const lastTick = state?.heartbeat;
  if (lastTick === undefined) return {};
  if (state?.paused) return { lastTick };
  const due = Temporal.Instant.from(lastTick).add({
    milliseconds: Math.round(settings.every * 60_000),
  });
  // The schedule does not wait for a tick: one that is overdue can begin at any moment.
  const now = clock.now();
  const next = Temporal.Instant.compare(due, now) < 0 ? now : due;
  return { lastTick, nextTick: next.toString() };
}

/**
 * How many wait for ops. What owes people a digest besides is in the index for that: where none other
 * waits, a look at the items tells whether there is any, of as many as ticks have told of. While
 * something is to be published, that is in the way by itself.
 */
async function keptNow(
  opsLedger: OperationParts['opsLedger'],
  { conditions }: State,
  waiting: Readonly<Record<Waits, number>>,
): Promise<Record<Kept, number>> {
  const now = async (name: Kept) => {
    const told = conditions.get(name);
    const mayHide = waiting[name] === 0 && waiting.pending === 0 && waiting.digest > 0;
    if (told === undefined || !mayHide) return waiting[name];
    for await (const { events, unreadable } of opsLedger.kept(name))
      if (events.length > 0 || unreadable.length > 0) return told.number;
    return 0;
  };
  return { held: await now('held'), undeliverable: await now('undeliverable') };
}

/** What lasts. Of what ops have decided, ticks know only after a while: the index and the state do. */
function conditionsOf(
  { conditions, paused }: State,
  settings: OperationParts['settings'],
  { held, undeliverable }: Readonly<Record<Kept, number>>,
): Status['conditions'] {
  const now: Partial<Record<ConditionName, number>> = {
    held,
    undeliverable,
    ...(!paused && { paused: 0 }),
  };
  return [...conditions].flatMap(([name, condition]) => {
    const { since, number, told } = condition;
    const many = now[name] ?? number;
    if (!isLasting(condition) || many === 0) return [];
    return {
      name,
      since: instant(since),
      number: many,
      ...(told && { toldAt: instant(told.at) }),
      ...conditionWording(settings, name),
    };
  });
}

function settingsTold({ settings }: OperationParts): Status['settings'] {
  const { name, baseUrl, tokenRequest, timeZone, recentDays, every, holdAbove, announce } =
    settings;
  return {
    integration: name,
    baseUrl,
    tokenRequest,
    timeZone,
    recentDays,
    every,
    holdAbove,
    announce: typeof announce === 'string' ? announce : `since ${announce.since}`,
  };
}
