import { recentWindow } from '../detection/days.ts';
import { leaseOf } from '../lease.ts';
import type { Lease, State } from '../ports/state.ts';
import { CalendarDays } from '../tick/calendar-days.ts';
import { Slices, type SlicesPosition } from '../tick/slices.ts';
import { TimeLimit } from '../tick/time-limit.ts';
import {
  BaselineRestartedError,
  PartnerLeftAloneError,
  StretchStuckError,
  StretchTakenError,
} from './errors.ts';
import type { FanOutParts, Stretch, StretchProgress, TaskRun } from './parts.ts';
import { whyLeftAlone } from './plan.ts';

export interface StretchReport {
  /** If not, the next invocation goes on. */
  readonly isDone: boolean;
  /** Certifications recorded, those of earlier invocations included. */
  readonly recorded: number;
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
 * @throws BaselineRestartedError, PartnerLeftAloneError, StretchTakenError, StretchStuckError, and
 * what the ports throw
 */
export async function readStretch(
  parts: FanOutParts,
  stretch: Stretch,
  run: TaskRun,
): Promise<StretchReport> {
  const { ledger, fanOut, clock } = parts;
  const state = await ledger.state();
  refuseIfOver(state, stretch);
  const reason = whyLeftAlone(state, parts);
  if (reason !== undefined) throw new PartnerLeftAloneError(reason);

  const lease = leaseOf(run.id, run.deadline);
  const before = await fanOut.takeStretch(stretch, lease, clock.now());
  if (before === undefined) throw new StretchTakenError(stretch);
  try {
    return before.isDone ? before : await goOn(parts, stretch, before, lease, run, state.salt);
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
): Promise<StretchReport> {
  const { settings, clock, partner, ledger, fanOut, journal } = parts;
  const calendarDays = new CalendarDays(ledger);
  const start: SlicesPosition =
    before.before === undefined
      ? { ...before, before: stretch.to.add({ days: 1 }), sliceDays: stretch.sliceDays }
      : before;
  const slices = new Slices(
    {
      partner,
      clock,
      ledger,
      limit: new TimeLimit(run.deadline, clock),
      window: recentWindow(clock.now(), settings.timeZone, settings.recentDays),
      salt,
      commit: async (days, sightings) => {
        // Once it is over, what is recorded silently is news that nobody would hear of.
        const { baseline } = await ledger.state();
        refuseIfOver({ baseline }, stretch);
        await calendarDays.touch(days);
        const unknown = sightings.filter(({ kind }) => kind === 'created');
        // After a baseline that was completed, what nobody knows is news: the ticks announce it.
        if (baseline.isAnew) return { recorded: 0, committed: [], left: unknown, isAll: true };
        const committed = await fanOut.recordNew(unknown, clock.now());
        return { recorded: committed.length, committed, isAll: true };
      },
    },
    start,
  );
  const progress = (isDone: boolean): StretchProgress => ({
    isDone,
    recorded: before.recorded + slices.recorded,
    ...slices.position,
  });
  const keep = async (isDone = false) => {
    if (!(await fanOut.keepProgress(stretch, lease, progress(isDone))))
      throw new StretchTakenError(stretch);
  };

  const isDone = await slices.readBack(stretch.from, stretch.isOldest ?? false, keep);
  for (const record of slices.quarantined) journal.warn('record quarantined', { ...record });
  if (!isDone && isSame(slices.position, start)) throw new StretchStuckError(stretch);
  await keep(isDone);
  return progress(isDone);
}

function refuseIfOver({ baseline }: Pick<State, 'baseline'>, { begunAt }: Stretch): void {
  if (baseline.status !== 'running' || baseline.begunAt !== begunAt)
    throw new BaselineRestartedError();
}

function isSame(one: SlicesPosition, other: SlicesPosition): boolean {
  return (
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
