import { Temporal } from 'temporal-polyfill';
import {
  type Baseline,
  type Begun,
  backwards,
  begunBaseline,
  isNewcomer,
  isSettled,
  startOf,
  tellingOf,
  waitAfter,
} from '../decisions/baseline.ts';
import type { Calendar } from '../decisions/calendar.ts';
import { countDeltas } from '../decisions/compare.ts';
import { auditPlanOf } from '../decisions/due.ts';
import { unreadSeen } from '../decisions/observations.ts';
import type { PulseRead } from '../decisions/partner-reads.ts';
import type { Position } from '../decisions/worklist.ts';
import { baselineNotice } from '../delivery/notices.ts';
import { announce } from './announce.ts';
import { compareWithLedger, isAloneOn, isSeenWhole, twinsSeen } from './page.ts';
import type { LeasedParts, Step } from './parts.ts';
import { readCalendar } from './read.ts';
import { readDue } from './search.ts';
import { notified } from './tell.ts';
import { ask, type Time } from './time.ts';
import { carryOut } from './work.ts';

/**
 * The baseline: its start day, then back to the oldest day, over as many ticks as it takes. If its
 * days do not explain the total then, a search looks for the others.
 */
export async function* readBaseline(at: LeasedParts, pulse: PulseRead): Step {
  const { ledger, clock, lease, state, window } = at;
  const nowMs = clock.now().epochMilliseconds;
  const begun = begunBaseline(state.baseline, pulse.count, window.today, nowMs);
  const known = await readCalendar(at);
  const { time } = yield { is: 'calendar', unread: unreadSeen(known, begun.wait?.since) };
  yield { is: 'expects', total: await totalToBe(at, time, pulse) };
  const isBegun = begun.before !== undefined;
  if (!isBegun && !(await ledger.saveState({ baseline: begun }, lease))) return;
  const calendar = isBegun ? yield* announceNewcomers(at, pulse, begun.startDay, known) : known;
  if (begun.isReadOnce) yield* settleBaseline(at, pulse, begun, calendar);
  else yield* readBack(at, pulse, begun, calendar);
}

/**
 * The total that a baseline leads to, if it announces: the gate must know it before the first event
 * goes out.
 *
 * @returns undefined if the baseline announces nothing, or if time has run out
 */
async function totalToBe(
  { settings, partner, state }: LeasedParts,
  time: Time,
  { count }: PulseRead,
): Promise<number | undefined> {
  const { announce } = settings;
  if (state.baseline.isAnew || announce === 'all') return count - state.unexplained;
  if (announce === 'none') return undefined;
  const from = Temporal.PlainDate.from(announce.since);
  const news = await ask(time, (deadline) => partner.count({ from }, deadline));
  return news === 'out-of-time' ? undefined : state.expected + news;
}

/**
 * Announces certifications that appeared after the start day was read. If it was left unread, they
 * wait until it is read: nobody can tell them from others.
 *
 * @returns the calendar with them
 */
async function* announceNewcomers(
  at: LeasedParts,
  pulse: PulseRead,
  startDay: Temporal.PlainDate,
  calendar: Calendar,
): Step<Calendar> {
  const recent = pulse.assessments.filter(
    ({ certified_on: day }) => isNewcomer(day, startDay) && calendar.unreadDayOf(day) === undefined,
  );
  const unsure = yield* twinsSeen(at, pulse);
  const { changes } = yield* compareWithLedger(at, recent, unsure, isAloneOn(pulse));
  const news = yield* announce(at, changes.filter(isSeenWhole(pulse)), { in: 'page' });
  await at.ledger.addToDays(countDeltas(news), at.lease);
  return news.length > 0 ? await readCalendar(at) : calendar;
}

async function* readBack(at: LeasedParts, pulse: PulseRead, begun: Begun, known: Calendar): Step {
  const { ledger, settings, partner, clock, lease, state, window } = at;
  const { startDay, bookmark } = begun;
  const lookedAt = state.heartbeat === undefined ? 0 : Date.parse(state.heartbeat);
  const nowMs = clock.now().epochMilliseconds;
  const start = startOf(begun, pulse.count, lookedAt, settings.withdrawAfterMs, nowMs);
  if (start === undefined) return;
  const list = backwards({ ...start, position: begun, cursor: bookmark, startDay, window });
  const after = (position: Position) => ({
    ...{ ...begun, ...position },
    ...{ wait: undefined, bookmark: undefined },
  });
  const reading = {
    looks: false,
    telling: tellingOf(settings, state),
    keep: (position: Position) => ledger.saveState({ baseline: after(position) }, lease),
  };
  const from = { calendar: known, cursor: bookmark };
  const { calendar, cursor, end } = yield* carryOut(at, reading, list, from);
  const wait = waitAfter(begun.wait, end.waitsFor, clock.now().epochMilliseconds);
  const { time } = yield { is: 'calendar', unread: unreadSeen(calendar, wait?.since) };
  const read: Baseline = { ...after(end.position), bookmark: cursor, wait };
  const baseline = end.isCompleted ? { ...read, isReadOnce: true } : read;
  yield { is: 'baseline', baseline: { baseline } };
  if (!end.isCompleted) return;
  const count = await ask(time, (deadline) => partner.count({}, deadline));
  if (count === 'out-of-time' || !isSettled(calendar, count, begun)) return;
  // A change after this pulse shows in the next pulse or its count. If earlier ticks read days of
  // this baseline, changes on those days show in this pulse, so the next tick must compare it.
  const isOfThisTick = state.baseline.begunAt === undefined;
  yield* endBaseline(at, read, calendar, isOfThisTick ? pulse : undefined);
}

/** All ranges are read: this searches for certifications that the total has and the days lack. */
async function* settleBaseline(
  at: LeasedParts,
  pulse: PulseRead,
  begun: Begun,
  known: Calendar,
): Step {
  if (isSettled(known, pulse.count, begun)) return yield* endBaseline(at, begun, known);
  yield* readDue(at, pulse, 0, true);
  const { calendar = known, isAllLocated } = (yield).searched ?? {};
  if (isAllLocated || calendar.total === pulse.count) yield* endBaseline(at, begun, calendar);
}

async function* endBaseline(
  at: LeasedParts,
  baseline: Baseline,
  calendar: Calendar,
  pulse?: PulseRead,
): Step {
  const { settings, window } = at;
  // Ops are told before the state says so: a crash in between tells them twice.
  const isTold = yield* notified(at, baselineNotice(settings.name, calendar));
  yield {
    is: 'baseline',
    baseline: {
      baseline: { ...baseline, status: 'completed', isNoticeOwed: !isTold },
      ended: { calendar, plan: auditPlanOf(calendar, window.from, settings.audit) },
      pulse,
    },
  };
}
