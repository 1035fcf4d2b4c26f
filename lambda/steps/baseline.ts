import type { Temporal } from 'temporal-polyfill';
import { nextSliceDays, slice } from '../detection/baseline.ts';
import { Calendar, type DayEntry } from '../detection/calendar.ts';
import { type Change, compare, countDeltas, type Sighting } from '../detection/compare.ts';
import { type DayRange, daysIn, type RecentWindow } from '../detection/days.ts';
import { digestOf } from '../detection/pulse.ts';
import type { TickParts } from '../parts.ts';
import type { Baseline, Bookmark, PulseRead, QuarantinedRecord, State } from '../ports.ts';
import type { Announcement } from './announcement.ts';
import { baselineNotice } from './notices.ts';
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
 * and is dated on the start day or later is.
 */
export async function readBaseline(
  context: BaselineContext,
  pulse: PulseRead,
): Promise<BaselineProgress> {
  const { parts, limit, window, state } = context;
  const startDay = state.baseline.startDay ?? window.today;
  let before = state.baseline.before;
  let days = state.baseline.sliceDays ?? 1;
  let { bookmark } = state.baseline;
  let recorded = 0;
  let isFirst = true;
  const quarantined: QuarantinedRecord[] = [];
  const read = async (range: DayRange) => {
    const outcome = await readSlice(context, range, bookmark, isFirst);
    recorded += outcome.recorded;
    quarantined.push(...outcome.quarantined);
    if (outcome.isDone || outcome.bookmark) bookmark = outcome.bookmark;
    isFirst = false;
    return outcome;
  };
  const running = (): BaselineProgress => ({
    baseline: {
      status: 'running',
      startDay,
      ...(before && { before, sliceDays: days }),
      ...(bookmark && { bookmark }),
    },
    recorded,
    quarantined,
  });

  if (before === undefined) {
    await parts.ledger.saveBaseline(running().baseline);
    if (!(await read({ from: startDay })).isDone) return running();
    before = startDay;
    await parts.ledger.saveBaseline(running().baseline);
  } else await announceNewcomers(context, pulse, startDay);

  const oldest = await limit.ask((deadline) => parts.partner.oldestDay(deadline));
  if (oldest === 'late') return running();
  while (!limit.reached) {
    const range: DayRange = bookmark?.range ?? slice(before, days, oldest ?? before);
    const { isDone, found } = await read(range);
    if (!isDone) return running();
    if (range.from === undefined) return complete(context, running());
    before = range.from;
    days = nextSliceDays(days, found);
    await parts.ledger.saveBaseline(running().baseline);
  }
  return running();
}

interface SliceOutcome {
  readonly isDone: boolean;
  /** Where it goes on, when it had the whole tick and that was not enough. */
  readonly bookmark?: Bookmark;
  readonly found: number;
  readonly recorded: number;
  readonly quarantined: readonly QuarantinedRecord[];
}

const nothing = { found: 0, recorded: 0, quarantined: [] };

/**
 * @param bookmark where an earlier tick's read of this slice stopped
 * @param isFirst it has the whole tick; one that begins later and is cut off is read again, in one go
 */
async function readSlice(
  context: BaselineContext,
  range: DayRange,
  bookmark: Bookmark | undefined,
  isFirst: boolean,
): Promise<SliceOutcome> {
  const { parts, announcement, limit, state, window } = context;
  const { ledger, clock, partner } = parts;
  const read = await partner.prove(range, limit.readingDeadline, bookmark);
  const { assessments, quarantined } = read;
  const next = isFirst ? read.bookmark : undefined;
  if (read.isCutOff && next === undefined) return { ...nothing, isDone: false };
  // Of a slice that takes several ticks no day's count is known: the audits prove its days.
  const isInParts = bookmark !== undefined || next !== undefined;

  const readAt = clock.now().epochMilliseconds;
  const proof = read.proof && { kind: read.proof, at: readAt };
  const byDay = Map.groupBy(assessments, ({ certified_on }) => certified_on);
  const entries = new Map<string, DayEntry>();
  for (const day of new Set([...byDay.keys(), ...daysIn(window).filter(isWithin(range))])) {
    const rows = byDay.get(day) ?? [];
    const digest = digestOf(rows, state.salt);
    entries.set(day, { count: rows.length, readAt, ...(proof && { proof, digest }) });
  }

  const known = await ledger.known(assessments.map(({ id }) => id));
  const sightings = compare(assessments, known, state.salt);
  const announced = sightings.filter((sighting) => isAnnounced(parts, sighting));
  const silent = sightings.filter((sighting) => !isAnnounced(parts, sighting));
  await announcement.touch(entries.keys());
  await ledger.recordSilently(silent, clock.now());
  const failures = announcement.failures;
  const done = await announcement.announce(announced);
  if (isInParts) await ledger.addToDays(countDeltas([...silent, ...done]));
  if (announcement.failures > failures || limit.reached)
    return { ...nothing, isDone: false, recorded: silent.length };
  if (!isInParts) await ledger.saveDays(entries);
  return {
    isDone: next === undefined,
    ...(next && { bookmark: next }),
    found: assessments.length,
    recorded: silent.length,
    quarantined,
  };
}

const isWithin =
  ({ from, to }: DayRange) =>
  (day: string) =>
    (from === undefined || day >= from.toString()) && (to === undefined || day <= to.toString());

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
  const recent = pulse.assessments.filter(
    ({ certified_on }) => certified_on >= startDay.toString(),
  );
  const known = await parts.ledger.known(recent.map(({ id }) => id));
  const changes: readonly Change[] = compare(recent, known, state.salt);
  const done = await announcement.announce(changes);
  await parts.ledger.addToDays(countDeltas(done));
}

/** Operations hear of it before the state says so: a crash in between tells them twice. */
async function complete(
  { parts, window }: BaselineContext,
  running: BaselineProgress,
): Promise<BaselineProgress> {
  const { ledger, announcer, journal, settings } = parts;
  const { years } = await ledger.state();
  const calendar = new Calendar(await ledger.calendar(years), daysIn(window));
  const told = await announcer.notify(baselineNotice(settings.name, calendar));
  if (!told.accepted) {
    journal.warn('notice refused', { code: told.code });
    return running;
  }
  return { ...running, baseline: { ...running.baseline, status: 'completed' }, calendar };
}
