import { Temporal } from 'temporal-polyfill';
import { Calendar } from '../detection/calendar.ts';
import {
  type Change,
  compare,
  countDeltas,
  type Found,
  type Sighting,
} from '../detection/compare.ts';
import { daysIn, type RecentWindow } from '../detection/days.ts';
import type { PulseRead, QuarantinedRecord } from '../ports/partner-reader.ts';
import type { Baseline, State } from '../ports/state.ts';
import type { Announcement } from './announcement.ts';
import { baselineNotice } from './notices.ts';
import type { TickParts } from './parts.ts';
import { type SliceCommit, Slices } from './slices.ts';
import type { TimeLimit } from './time-limit.ts';

export interface BaselineContext {
  readonly parts: TickParts;
  readonly announcement: Announcement;
  readonly limit: TimeLimit;
  readonly window: RecentWindow;
  readonly state: State;
}

export interface BaselineProgress {
  readonly baseline: Baseline;
  readonly recorded: number;
  readonly quarantined: readonly QuarantinedRecord[];
  /** Once it is completed. */
  readonly calendar?: Calendar;
}

/**
 * The first full read: from its start day on, then back to the oldest, slice by slice, over as many
 * ticks as it takes. What it finds is recorded and, by default, not announced; what appears meanwhile
 * and is dated on the start day or later is. One that is made anew announces whatever it finds, under
 * the gate: the ledger would know what was there before.
 *
 * With `baseline: 'fan-out'` everything before the start day is left to `lambda/fan-out/`.
 */
export async function readBaseline(
  context: BaselineContext,
  pulse: PulseRead,
): Promise<BaselineProgress> {
  const { parts, announcement, limit, window, state } = context;
  const { partner, clock, ledger } = parts;
  const { startDay = window.today, begunAt = clock.now().epochMilliseconds } = state.baseline;
  const anew = state.baseline.isAnew && { isAnew: true };
  const announces = anew || parts.settings.announce !== 'none';
  announcement.expect(state, announces ? await totalToBe(context, pulse) : undefined);
  const slices = new Slices(
    {
      partner,
      clock,
      ledger,
      limit,
      window,
      salt: state.salt,
      commit: (days, sightings, found) => commit(context, days, sightings, found),
    },
    state.baseline,
  );
  const running = (): BaselineProgress => ({
    baseline: { status: 'running', begunAt, startDay, ...anew, ...slices.position },
    recorded: slices.recorded,
    quarantined: slices.quarantined,
  });
  const keep = () => ledger.saveBaseline(running().baseline);

  if (state.baseline.before === undefined) {
    await keep();
    if (!(await slices.readOnwards(startDay))) return running();
    await keep();
  } else await announceNewcomers(context, pulse, startDay);

  if (parts.settings.baseline === 'fan-out') return running();
  const oldest = await limit.ask((deadline) => partner.oldestDay(deadline));
  if (oldest === 'out-of-time' || !(await slices.readBack(oldest, true, keep))) return running();
  const calendar = await completedCalendar(parts, window);
  const isNoticeOwed = !(await tellOfCompletion(parts, calendar));
  const { baseline, ...progress } = running();
  return {
    ...progress,
    baseline: { ...baseline, status: 'completed', isNoticeOwed },
    calendar,
  };
}

/** By what the partner counts: the first slices do not go out before anybody has. Undefined: there is no time to ask. */
async function totalToBe(
  { parts, limit, state }: BaselineContext,
  { count }: PulseRead,
): Promise<number | undefined> {
  const { announce } = parts.settings;
  const { isAnew } = state.baseline;
  if (isAnew || typeof announce !== 'object') return count - state.unexplained;
  const from = Temporal.PlainDate.from(announce.since);
  const news = await limit.ask((deadline) => parts.partner.count({ from }, deadline));
  return news === 'out-of-time' ? undefined : state.expected + news;
}

async function commit(
  { parts, announcement, state }: BaselineContext,
  days: Iterable<string>,
  sightings: readonly Sighting[],
  found: Found,
): Promise<SliceCommit> {
  const isNews = (sighting: Sighting) =>
    state.baseline.isAnew === true || isAnnounced(parts, sighting);
  const announced = sightings.filter(isNews);
  const silent = sightings.filter((sighting) => !isNews(sighting));
  await announcement.touch(days);
  await parts.ledger.recordSilently(silent, parts.clock.now());
  const failures = announcement.failures;
  const done = await announcement.announce(announced, { found });
  return {
    recorded: silent.length,
    committed: [...silent, ...done],
    isAll: announcement.failures === failures,
  };
}

/** A known one that has changed since an earlier slice is news, whatever the baseline announces. */
function isAnnounced({ settings }: TickParts, { kind, assessment }: Sighting): boolean {
  if (kind !== 'created') return true;
  const { announce } = settings;
  return announce === 'all' || (announce !== 'none' && assessment.certified_on >= announce.since);
}

/** What has appeared since the start day was read. */
async function announceNewcomers(
  { parts, announcement, state }: BaselineContext,
  pulse: PulseRead,
  startDay: Temporal.PlainDate,
): Promise<void> {
  const recent = pulse.assessments.filter(({ certified_on }) =>
    parts.rules.isNewcomer(certified_on, startDay),
  );
  const known = await parts.ledger.known(recent.map(({ id }) => id));
  const changes: readonly Change[] = compare(recent, known, state.salt);
  const done = await announcement.announce(changes, { found: { in: 'page' } });
  await parts.ledger.addToDays(countDeltas(done));
}

type Telling = Pick<TickParts, 'journal'> & {
  readonly ledger: Pick<TickParts['ledger'], 'state' | 'calendar'>;
  readonly announcer: Pick<TickParts['announcer'], 'notify'>;
  readonly settings: Pick<TickParts['settings'], 'name'>;
};

/** Everything that the baseline has read. */
export async function completedCalendar(
  { ledger }: Pick<Telling, 'ledger'>,
  window: RecentWindow,
): Promise<Calendar> {
  const { years } = await ledger.state();
  return new Calendar(await ledger.calendar(years), daysIn(window));
}

/**
 * Operations hear of it before the state says so: a crash in between tells them twice.
 * @returns whether they have; if not, it is owed
 */
export async function tellOfCompletion(
  { announcer, journal, settings }: Omit<Telling, 'ledger'>,
  calendar: Calendar,
): Promise<boolean> {
  const told = await announcer.notify(baselineNotice(settings.name, calendar));
  if (!told.accepted) journal.warn('notice refused', { code: told.code });
  return told.accepted;
}
