import { backwards, type Position } from '../detection/baseline.ts';
import { Calendar } from '../detection/calendar.ts';
import { compare, countDeltas, type Sighting } from '../detection/compare.ts';
import { dayEntries, type FreshEntries } from '../detection/day-entries.ts';
import { recentWindow } from '../detection/days.ts';
import type { Answer, ReadResult, ReadStep } from '../detection/worklist.ts';
import { leaseOf } from '../lease.ts';
import type { Bookmark } from '../ports/partner-reader.ts';
import type { Lease, State } from '../ports/state.ts';
import type { Stretch, StretchProgress } from '../ports/stretch.ts';
import { touch } from '../tick/calendar.ts';
import { prove } from '../tick/read-days.ts';
import { TimeLimit } from '../tick/time-limit.ts';
import {
  BaselineRestartedError,
  PartnerLeftAloneError,
  StretchStuckError,
  StretchTakenError,
} from './errors.ts';
import type { FanOutParts, TaskRun } from './parts.ts';
import { whyLeftAlone } from './plan.ts';
import { secondsToWait, takeShare } from './share.ts';

export interface StretchReport {
  /** If not, the next invocation goes on. */
  readonly isDone: boolean;
  /** Certifications recorded, those of earlier invocations included. */
  readonly recorded: number;
  /** Before then, the pace has no room for a request of this task: a refusal for pace is no failure. */
  readonly waitSeconds: number;
}

/**
 * Reads a stretch into the ledger and its calendar, or as much of it as there is time for. What is
 * done already is not read again.
 *
 * It needs no lease of the integration: the stretch's days are its own, ticks leave them alone until
 * the baseline is completed, and it only ever adds certifications. One that is known already and
 * differs (edited or moved by the partner meanwhile) is left to the ticks, which find it once the
 * baseline is completed; of one that is made anew, so is what nobody knows.
 *
 * @param atOnce tasks that read at the same time, each at its share of the pace
 * @throws BaselineRestartedError, PartnerLeftAloneError, StretchTakenError, StretchStuckError, and
 * what the ports throw
 */
export async function readStretch(
  parts: FanOutParts,
  stretch: Stretch,
  run: TaskRun,
  atOnce: number,
): Promise<StretchReport> {
  const { ledger, fanOut, clock } = parts;
  const state = await ledger.state();
  refuseIfOver(state, stretch);
  const reason = whyLeftAlone(state, parts);
  if (reason !== undefined) throw new PartnerLeftAloneError(reason);
  takeShare(parts, state, atOnce);

  const lease = leaseOf(run.id, run.deadline);
  const before = await fanOut.takeStretch(stretch, lease, clock.now());
  if (before === undefined) throw new StretchTakenError(stretch);
  try {
    const after = before.isDone
      ? before
      : await goOn(parts, stretch, before, lease, run, state.salt);
    return { ...after, waitSeconds: after.isDone ? 0 : secondsToWait(parts) };
  } finally {
    await giveBack(parts, stretch, lease);
  }
}

async function goOn(
  parts: FanOutParts,
  stretch: Stretch,
  before: StretchProgress,
  lease: Lease,
  run: TaskRun,
  salt: string,
): Promise<StretchProgress> {
  const { settings, clock } = parts;
  const reading: Reading = {
    parts,
    stretch,
    salt,
    limit: new TimeLimit(run.deadline, clock),
  };
  const start = begun(stretch, before);
  let cursor = start.bookmark;
  let { recorded } = before;
  const keep = (position: Position, isDone = false) =>
    keepProgress(parts, stretch, lease, { ...position, isDone, recorded, bookmark: cursor });

  const list = backwards({
    position: start,
    range: cursor?.range,
    startDay: stretch.to,
    first: stretch.from,
    isOldest: stretch.isOldest === true,
    window: recentWindow(clock.now(), settings.timeZone, settings.recentDays),
  });
  let answer: Answer = { calendar: noCalendar, isTimeUp: false };
  for (;;) {
    const next = list.next(answer);
    if (next.done) {
      const { position, isCompleted } = next.value;
      if (!isCompleted && isStuck(parts, start, { ...position, bookmark: cursor }))
        throw new StretchStuckError(stretch);
      return keep(position, isCompleted);
    }
    const step = next.value;
    const isTimeUp = reading.limit.noteIfReached();
    if (step.kind === 'reached') await keep(step.position);
    if (step.kind !== 'read' || isTimeUp) {
      answer = { calendar: noCalendar, isTimeUp };
      continue;
    }
    const slice = await readSlice(reading, step, cursor);
    cursor = slice.cursor;
    recorded += slice.recorded;
    answer = { ...slice, calendar: noCalendar, isTimeUp: reading.limit.wasReached };
  }
}

async function keepProgress(
  { fanOut }: FanOutParts,
  stretch: Stretch,
  lease: Lease,
  progress: StretchProgress,
): Promise<StretchProgress> {
  const isKept = await fanOut.keepProgress(stretch, lease, progress);
  if (!isKept) throw new StretchTakenError(stretch);
  return progress;
}

/** The first task begins with the stretch's last day. */
function begun({ to, sliceDays }: Stretch, before: StretchProgress): StretchProgress {
  return before.before ? before : { ...before, before: to.add({ days: 1 }), sliceDays };
}

/** A task adds to the calendar what it has found; what it had before is for ticks to know. */
const noCalendar = new Calendar([]);

interface Reading {
  readonly parts: FanOutParts;
  readonly stretch: Stretch;
  readonly salt: string;
  readonly limit: TimeLimit;
}

interface SliceRead {
  readonly read: ReadResult;
  readonly cursor: Bookmark | undefined;
  readonly found: number;
  readonly recorded: number;
}

async function readSlice(
  { parts, stretch, salt, limit }: Reading,
  step: ReadStep,
  cursor: Bookmark | undefined,
): Promise<SliceRead> {
  const { clock, ledger, fanOut, journal } = parts;
  const begunAt = clock.now().epochMilliseconds;
  const read = await prove({ parts, limit }, step, noCalendar, cursor);
  const nothing = { found: 0, recorded: 0 };
  if (read === 'unanswered') return { ...nothing, read, cursor: undefined };
  const next = step.mayGoOn || read.isOutOfPace ? read.bookmark : undefined;
  if (read.isCutOff && next === undefined) return { ...nothing, read: 'in-vain', cursor };

  const fresh = dayEntries(step.days, read, begunAt, salt);
  // Once it is over, what is recorded silently is news that nobody would hear of.
  const { baseline, years } = await ledger.state();
  refuseIfOver({ baseline }, stretch);
  await touch(ledger, years, fresh.keys());
  const known = await ledger.known(read.assessments.map(({ id }) => id));
  const unknown = compare(read.assessments, known, salt).filter(({ kind }) => kind === 'created');
  // After a baseline that was completed, what nobody knows is news: the ticks announce it.
  const [left, silent] = baseline.isAnew ? [unknown, []] : [[], unknown];
  const committed = await fanOut.recordNew(silent, clock.now());
  const isInParts = cursor !== undefined || next !== undefined;
  // Of a slice that takes several runs no day's count is known: the audits prove its days.
  if (isInParts) await ledger.addToDays(countDeltas(committed));
  const recorded = committed.length;
  if (limit.noteIfReached()) return { read: 'left', cursor, found: 0, recorded };
  if (!isInParts) await ledger.saveDays(expectedWithout(fresh, left));
  for (const record of read.quarantined) journal.warn('record quarantined', { ...record });
  const done = { cursor: next, found: read.assessments.length, recorded };
  return { ...done, read: next ? 'left' : 'done' };
}

/** The first look after the baseline notes what is missing. What is left to the ticks is not in the ledger, so the calendar does not have it, either. */
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

function refuseIfOver({ baseline }: Pick<State, 'baseline'>, { begunAt }: Stretch): void {
  if (baseline.status !== 'running' || baseline.begunAt !== begunAt)
    throw new BaselineRestartedError();
}

type Reached = Pick<StretchProgress, 'before' | 'sliceDays' | 'bookmark'>;

/** It has come no further, although the pace has had room. */
function isStuck(parts: FanOutParts, one: Reached, other: Reached): boolean {
  return (
    secondsToWait(parts) === 0 &&
    one.before?.toString() === other.before?.toString() &&
    one.sliceDays === other.sliceDays &&
    one.bookmark?.offset === other.bookmark?.offset
  );
}

/** An error here would hide the one that matters; without it, the stretch is free when its time is over. */
async function giveBack({ fanOut, journal }: FanOutParts, stretch: Stretch, lease: Lease) {
  try {
    await fanOut.giveBackStretch(stretch, lease);
  } catch (error) {
    journal.warn('stretch not given back', { error });
  }
}
