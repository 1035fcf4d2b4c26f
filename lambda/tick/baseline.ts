import { Temporal } from 'temporal-polyfill';
import {
  type Begun,
  backwards,
  begunBaseline,
  isNewcomer,
  isSettled,
  type Position,
  startOf,
  tellingOf,
  waitAfter,
} from '../decisions/baseline.ts';
import type { Calendar } from '../decisions/calendar.ts';
import { countDeltas } from '../decisions/compare.ts';
import { unreadSeen } from '../decisions/conditions.ts';
import { auditPlanOf } from '../decisions/due.ts';
import { baselineNotice } from '../delivery/notices.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import type { Baseline } from '../ports/state.ts';
import { announce } from './announce.ts';
import type { Done } from './done.ts';
import { compareWithLedger, isAloneOn, isSeenWhole, twinsSeen } from './page.ts';
import type { LeasedParts, Step } from './parts.ts';
import { readCalendar } from './read.ts';
import { readDue } from './search.ts';
import { notified } from './tell.ts';
import { ask } from './time.ts';
import { carryOut } from './work.ts';

/**
 * The baseline: its start day, then back to the oldest day, over as many ticks as it takes. If its
 * days do not explain the total then, a search looks for the others.
 */
export async function* readBaseline(at: LeasedParts, done: Done, pulse: PulseRead): Step {
  const { ledger, clock, lease, state, window } = at;
  const nowMs = clock.now().epochMilliseconds;
  const begun = begunBaseline(state.baseline, pulse.count, window.today, nowMs);
  const known = await readCalendar(at);
  yield { is: 'calendar', unread: unreadSeen(known, begun.wait?.since) };
  let now = yield { is: 'expects', total: await totalToBe(at, done, pulse) };
  const isBegun = begun.before !== undefined;
  if (!isBegun && !(await ledger.saveState({ baseline: begun }, lease))) return now;
  let calendar = known;
  if (isBegun) [now, calendar] = yield* announceNewcomers(at, now, pulse, begun.startDay, known);
  if (begun.isReadOnce) return yield* settleBaseline(at, now, pulse, begun, calendar);
  return yield* readBack(at, now, pulse, begun, calendar);
}

/**
 * The total that a baseline leads to, if it announces: the gate must know it before the first event
 * goes out.
 *
 * @returns undefined if the baseline announces nothing, or if time has run out
 */
async function totalToBe(
  { settings, partner, state }: LeasedParts,
  { time }: Done,
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
  done: Done,
  pulse: PulseRead,
  startDay: Temporal.PlainDate,
  calendar: Calendar,
): Step<[Done, Calendar]> {
  const recent = pulse.assessments.filter(
    ({ certified_on: day }) => isNewcomer(day, startDay) && calendar.unreadDayOf(day) === undefined,
  );
  const [seen, unsure] = yield* twinsSeen(at, done, pulse);
  const [compared, { changes }] = yield* compareWithLedger(
    at,
    seen,
    recent,
    unsure,
    isAloneOn(pulse),
  );
  const whole = changes.filter(isSeenWhole(pulse));
  const [now, news] = yield* announce(at, compared, whole, { in: 'page' });
  await at.ledger.addToDays(countDeltas(news), at.lease);
  return [now, news.length > 0 ? await readCalendar(at) : calendar];
}

async function* readBack(
  at: LeasedParts,
  done: Done,
  pulse: PulseRead,
  begun: Begun,
  known: Calendar,
): Step {
  const { ledger, settings, partner, clock, lease, state, window } = at;
  const { startDay, bookmark } = begun;
  const lookedAt = state.heartbeat === undefined ? 0 : Date.parse(state.heartbeat);
  const nowMs = clock.now().epochMilliseconds;
  const start = startOf(begun, pulse.count, lookedAt, settings.withdrawAfterMs, nowMs);
  if (start === undefined) return done;
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
  const [read, { calendar, cursor, end }] = yield* carryOut(at, done, reading, list, from);
  const wait = waitAfter(begun.wait, end.waitsFor, clock.now().epochMilliseconds);
  yield { is: 'calendar', unread: unreadSeen(calendar, wait?.since) };
  const baseline: Baseline = { ...after(end.position), bookmark: cursor, wait };
  if (!end.isCompleted) return yield { is: 'baseline', baseline: { baseline } };
  const now = yield { is: 'baseline', baseline: { baseline: { ...baseline, isReadOnce: true } } };
  const count = await ask(read.time, (deadline) => partner.count({}, deadline));
  if (count === 'out-of-time' || !isSettled(calendar, count, begun)) return now;
  // A change after this pulse shows in the next pulse or its count. If earlier ticks read days of
  // this baseline, changes on those days show in this pulse, so the next tick must compare it.
  const isOfThisTick = state.baseline.begunAt === undefined;
  return yield* endBaseline(at, now, baseline, calendar, isOfThisTick ? pulse : undefined);
}

/** All ranges are read: this searches for certifications that the total has and the days lack. */
async function* settleBaseline(
  at: LeasedParts,
  done: Done,
  pulse: PulseRead,
  begun: Begun,
  known: Calendar,
): Step {
  if (isSettled(known, pulse.count, begun)) return yield* endBaseline(at, done, begun, known);
  const now = yield* readDue(at, pulse, 0, true);
  const { calendar = known, isAllLocated } = now.searched ?? {};
  const isOver = isAllLocated || calendar.total === pulse.count;
  return isOver ? yield* endBaseline(at, now, begun, calendar) : now;
}

async function* endBaseline(
  at: LeasedParts,
  done: Done,
  baseline: Baseline,
  calendar: Calendar,
  pulse?: PulseRead,
): Step {
  const { settings, window } = at;
  // Ops are told before the state says so: a crash in between tells them twice.
  const [, isTold] = yield* notified(at, done, baselineNotice(settings.name, calendar));
  return yield {
    is: 'baseline',
    baseline: {
      baseline: { ...baseline, status: 'completed', isNoticeOwed: !isTold },
      ended: { calendar, plan: auditPlanOf(calendar, window.from, settings.audit) },
      pulse,
    },
  };
}
