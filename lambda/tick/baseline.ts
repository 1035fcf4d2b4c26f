import { Temporal } from 'temporal-polyfill';
import { isNewcomer, type Telling } from '../decisions/baseline.ts';
import type { Calendar } from '../decisions/calendar.ts';
import { type Change, countDeltas } from '../decisions/compare.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';
import type { Announcement } from './announcement.ts';
import { compareWithLedger, isAloneOn, isSeenWhole } from './page.ts';
import type { LeasedContext, TickParts } from './parts.ts';
import type { SeenTwins } from './twins.ts';

export interface BaselineContext extends LeasedContext {
  readonly announcement: Announcement;
  readonly state: State;
  readonly twins: SeenTwins;
}

/**
 * The total that a baseline leads to, if it announces: the gate must know it before the first event
 * goes out.
 *
 * @returns undefined if the baseline announces nothing, or if time has run out
 */
export async function totalToBe(
  { parts, limit, state }: BaselineContext,
  { count }: PulseRead,
): Promise<number | undefined> {
  const { announce } = parts.settings;
  const { isAnew } = state.baseline;
  if (isAnew || announce === 'all') return count - state.unexplained;
  if (announce === 'none') return undefined;
  const from = Temporal.PlainDate.from(announce.since);
  const news = await limit.ask((deadline) => parts.partner.count({ from }, deadline));
  return news === 'out-of-time' ? undefined : state.expected + news;
}

/**
 * The facts by which a tick tells news from history. A restarted baseline announces everything that
 * it finds, since the ledger already has the certifications that were there before.
 */
export function tellingOf(
  { settings: { announce } }: Pick<TickParts, 'settings'>,
  { baseline }: Pick<State, 'baseline'>,
): Pick<Telling, 'isAnew' | 'isAnnounced' | 'settlingBefore'> {
  const isSettling = baseline.status === 'running' && baseline.isReadOnce;
  return {
    isAnew: baseline.isAnew === true,
    settlingBefore: isSettling ? baseline.startDay?.toString() : undefined,
    isAnnounced: (day) => announce === 'all' || (announce !== 'none' && day >= announce.since),
  };
}

/**
 * Announces certifications that appeared after the start day was read. If it was left unread, they
 * wait until it is read: nobody can tell them from others.
 */
export async function announceNewcomers(
  { parts, limit, announcement, state, lease, twins }: BaselineContext,
  pulse: PulseRead,
  startDay: Temporal.PlainDate,
  calendar: Calendar,
): Promise<readonly Change[]> {
  const recent = pulse.assessments.filter(
    ({ certified_on: day }) => isNewcomer(day, startDay) && calendar.unreadDayOf(day) === undefined,
  );
  const unsure = twins.of(pulse);
  const { changes } = await compareWithLedger(
    { parts, limit, state, twins },
    recent,
    unsure,
    isAloneOn(pulse),
  );
  const done = await announcement.announce(changes.filter(isSeenWhole(pulse)), { in: 'page' });
  await parts.ledger.addToDays(countDeltas(done), lease);
  return done;
}
