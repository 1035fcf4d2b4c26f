import { backwards, type Position } from '../detection/baseline.ts';
import { Calendar } from '../detection/calendar.ts';
import { compare, countDeltas, type Sighting } from '../detection/compare.ts';
import { dayEntries, type FreshEntries } from '../detection/day-entries.ts';
import { recentWindow } from '../detection/days.ts';
import { twinsIn } from '../detection/twins.ts';
import type { ReadStep, StepAnswer } from '../detection/worklist.ts';
import type { PlannedRange, RangeProgress } from '../ports/planned-range.ts';
import type { Lease, State } from '../ports/state.ts';
import { proveDays } from '../tick/read-days.ts';
import type { TickRun } from '../tick/tick.ts';
import { TimeLimit } from '../tick/time-limit.ts';
import {
  AtWorkError,
  BaselineRestartedError,
  PartnerLeftAloneError,
  RangeStuckError,
} from './errors.ts';
import type { FanOutParts } from './parts.ts';
import { secondsToWait, takeShare } from './share.ts';

/**
 * Reads a range into the ledger and its calendar, as far as there is time. Days that are done are
 * not read again.
 *
 * It needs no lease of the integration: ticks leave the range's days alone until the baseline is
 * completed, and this task only adds certifications. A known one that differs (edited or moved by
 * the partner meanwhile) is left to the ticks, which find it once the baseline is completed. In a
 * restarted baseline, certifications that the ledger lacks are left to them, too.
 *
 * @param atOnce tasks that read at the same time, each at its share of the pace
 * @returns whether the range is done, or else the next invocation resumes; the certifications
 * recorded, those of earlier invocations included; and the seconds until the pace has room for a
 * request of this task
 * @throws BaselineRestartedError, PartnerLeftAloneError, AtWorkError, RangeStuckError, and the
 * errors of the ports
 */
export async function readRange(
  parts: FanOutParts,
  range: PlannedRange,
  run: TickRun,
  atOnce: number,
) {
  const { ledger, fanOut, clock, journal } = parts;
  const state = await ledger.state();
  refuseIfOver(state, range);
  const reason = takeShare(parts, state, atOnce);
  if (reason !== undefined) throw new PartnerLeftAloneError(reason);

  const limit = new TimeLimit(run.deadline, clock);
  const lease = limit.leaseOf(run.id);
  const before = await fanOut.takeRange(range, lease, clock.now());
  if (before === undefined) throw new AtWorkError(range);
  const reading = { parts, range, lease, limit, salt: state.salt };
  try {
    const { isDone, recorded } = before.isDone ? before : await goOn(reading, before);
    return { isDone, recorded, waitSeconds: isDone ? 0 : secondsToWait(parts) };
  } finally {
    // An error here would hide the one that matters. If this fails, the range is free when its
    // lease ends.
    await fanOut
      .giveBackRange(range, lease)
      .catch((error: unknown) => journal.warn('range not given back', { error }));
  }
}

async function goOn(reading: Reading, before: RangeProgress): Promise<RangeProgress> {
  const { parts, range, lease, limit } = reading;
  const { settings, clock, fanOut } = parts;
  // The first task begins with the last day.
  const begun = { before: range.to.add({ days: 1 }), sliceDays: range.sliceDays };
  const start = before.before ? before : { ...before, ...begun };
  let { bookmark: cursor, recorded } = before;
  const keep = async (position: Position, isDone = false) => {
    const progress = { ...position, isDone, recorded, bookmark: cursor };
    if (!isDone && placeOf(progress) === placeOf(start) && secondsToWait(parts) === 0)
      throw new RangeStuckError(range);
    if (!(await fanOut.keepProgress(range, lease, progress))) throw new AtWorkError(range);
    return progress;
  };

  const list = backwards({
    position: start,
    cursor,
    startDay: range.to,
    first: range.from,
    isOldest: range.isOldest === true,
    window: recentWindow(clock.now(), settings.timeZone, settings.recentDays),
  });
  let answer: StepAnswer = { calendar: noCalendar, isTimeUp: false };
  for (;;) {
    const next = list.next(answer);
    if (next.done) return keep(next.value.position, next.value.isCompleted);
    const step = next.value;
    const isTimeUp = limit.noteIfReached();
    if (step.kind === 'reached') await keep(step.position);
    const isRead = step.kind === 'read' && !isTimeUp;
    const done = isRead ? await readStep(reading, step) : { cursor, recorded: 0 };
    cursor = done.cursor;
    recorded += done.recorded;
    answer = { ...done, calendar: noCalendar, isTimeUp: limit.wasReached };
  }
}

/** The progress as text: if it is the same after a whole invocation, the invocation was in vain. */
const placeOf = ({ before, sliceDays, bookmark }: Partial<RangeProgress>) =>
  `${before} ${sliceDays} ${bookmark?.offset}`;

/** A task only adds its findings to the calendar; the earlier entries are for ticks to know. */
const noCalendar = new Calendar([]);

interface Reading {
  readonly parts: FanOutParts;
  readonly range: PlannedRange;
  readonly lease: Lease;
  readonly limit: TimeLimit;
  readonly salt: string;
}

async function readStep({ parts, range, salt, limit }: Reading, step: ReadStep) {
  const { clock, ledger, fanOut, journal, settings } = parts;
  const begunAt = clock.now().epochMilliseconds;
  const { goneOnFrom: cursor } = step;
  const read = await proveDays({ parts, limit }, step, noCalendar);
  const nothing = { found: 0, recorded: 0 };
  if (read === 'unanswered') return { ...nothing, read, cursor: undefined };
  const next = step.mayGoOn || read.isOutOfPace ? read.bookmark : undefined;
  if (read.isCutOff && next === undefined) return { ...nothing, read: 'in-vain' as const, cursor };

  const fresh = dayEntries(step.days, read, begunAt, salt);
  // After the end of the baseline, a silent record would hide news from subscribers.
  const { baseline } = await ledger.state();
  refuseIfOver({ baseline }, range);
  await ledger.touch(fresh.keys());
  const known = await ledger.known(read.assessments.map(({ id }) => id));
  const { withdrawAfterMs } = settings;
  const { assessments, others = [] } = read;
  const unsure = twinsIn(read, salt);
  const rows = [...assessments, ...others];
  const compared = compare(rows, known, salt, begunAt, withdrawAfterMs, unsure);
  const unknown = compared.changes.filter(({ kind }) => kind === 'created');
  // In a restarted baseline, certifications that the ledger lacks are news: the ticks announce
  // them.
  const [left, silent] = baseline.isAnew ? [unknown, []] : [[], unknown];
  const committed = await fanOut.recordNew(silent, clock.now());
  const isInParts = cursor !== undefined || next !== undefined;
  // If a range takes several invocations, no day's count is known: audits prove its days.
  if (isInParts) await ledger.addToDays(countDeltas(committed));
  const recorded = committed.length;
  if (limit.noteIfReached()) return { read: 'left' as const, cursor, found: 0, recorded };
  if (!isInParts) await ledger.saveDays(expectedWithout(fresh, left));
  for (const record of read.quarantined) journal.warn('record quarantined', { ...record });
  const result = next ? ('left' as const) : ('done' as const);
  return { read: result, cursor: next, found: read.assessments.length, recorded };
}

/**
 * Certifications that are left to the ticks are not in the ledger, so the calendar does not count
 * them, either. The first look after the baseline notes the missing ones.
 */
function expectedWithout(entries: FreshEntries, left: readonly Sighting[]): FreshEntries {
  const lefts = Map.groupBy(left, ({ assessment }) => assessment.certified_on);
  return new Map(
    [...entries].map(([day, entry]) => {
      const { length = 0 } = lefts.get(day) ?? [];
      const { count, readAt } = entry;
      return [day, length > 0 ? { count: count - length, readAt } : { ...entry, missing: 0 }];
    }),
  );
}

function refuseIfOver({ baseline }: Pick<State, 'baseline'>, { begunAt }: PlannedRange): void {
  if (baseline.status !== 'running' || baseline.begunAt !== begunAt)
    throw new BaselineRestartedError();
}
