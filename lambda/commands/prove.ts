import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { recentWindow } from '../decisions/days.ts';
import type { NotifierError } from '../errors.ts';
import type { TickReport } from '../tick/report.ts';
import { define } from './definition.ts';
import {
  BackingOffError,
  BaselineRunningError,
  BusyError,
  PausedError,
  StalledError,
} from './errors.ts';
import { recordedState, refuseIfLeftAlone, underLease, whenFree } from './lease.ts';
import type { OperationParts } from './parts.ts';
import { proofsOf } from './proofs.ts';
import {
  byKind,
  count,
  day,
  dayCertified,
  instant,
  next,
  rangeInOrder,
  recorded,
} from './shapes.ts';
import { flag, setting } from './words.ts';

/**
 * The most calendar years of one certificate. It is one answer, which has 6 MB at most, and some
 * 200 bytes a day.
 */
export const certificateYears = 30;

/** Invalid dates are reported separately. */
export function fitsOneCertificate({ from, to }: { readonly from: string; readonly to: string }) {
  const isTooLong = Number(to.slice(0, 4)) - Number(from.slice(0, 4)) >= certificateYears;
  return !isTooLong;
}

const command = z
  .strictObject({
    command: z.literal('prove'),
    from: setting(day, 'first day'),
    to: setting(day, 'last day'),
    now: flag('read all of these days again first, and announce the differences', {
      changes: true,
    }),
    ...recorded,
    /**
     * When the first of several calls began: days that were read since are done; part of `next`.
     */
    since: z.optional(instant),
  })
  .check(
    z.refine(({ from, to }) => from <= to, rangeInOrder),
    z.refine(fitsOneCertificate, {
      error: `\`from\` and \`to\` must be within ${certificateYears} calendar years`,
    }),
  );

type ProveCommand = z.output<typeof command>;

const result = z.object({
  /** In order. A day without an entry was read with the next one that has: `readWith`. */
  days: z.array(dayCertified),
  /** Days that are still to be read again, of those with an entry; 0 unless `now`. */
  toRead: count,
  /**
   * The changes that reading again has found. Absent: this call has not read the days; scheduled
   * ticks may have.
   */
  found: z.optional(byKind),
  next,
});

/** Requests that the tick of one call may make; its time is over before. */
const auditRequests = 1_000;
/** The reserve of the call for the work after its tick. */
const afterwardsSeconds = 5;

/**
 * The days of a range with their proofs. With `now`, all of them are read again first. Ticks do
 * this, since these days are made due. So differences are announced as usual, and scheduled ticks
 * read the days that this command does not get to.
 *
 * @throws PausedError, BackingOffError, BaselineRunningError with `now`
 */
export const prove = define({
  does: 'The completeness certificate: each day with its proof, its count and its digest.',
  command,
  result,
  changes: ({ now }) => now,
  async carry(parts, command, call) {
    const { clock, ledger, settings } = parts;
    const certificate = async () => {
      const { calendar } = await daysMeant(parts, command);
      const days = proofsOf(calendar, command, { now: clock.now(), timeZone: settings.timeZone });
      return { days, toRead: 0 };
    };
    if (!command.now) return { result: await certificate() };

    const { id, time, operation } = call;
    const since = command.since ?? clock.now().toString();
    await underLease(parts, call, async (state) => {
      refuseIfLeftAlone(state, parts);
      if (state.baseline.status !== 'completed') throw new BaselineRunningError();
      if (command.since === undefined) await makeDue(parts, command);
      await ledger.saveState({ dueAt: 0 });
    });

    if ((await daysToRead(parts, command, since)) === 0) return { result: await certificate() };
    const deadline = time.killedAt.subtract({ seconds: afterwardsSeconds });
    const line = await whenFree(parts, time, async () => {
      const line = await parts.tick({ id, deadline }, auditRequests);
      return line.outcome === 'busy' ? undefined : line;
    });
    const toRead = await daysToRead(parts, command, since);
    const { examined = 0, created = 0, updated = 0, withdrawn = 0, restored = 0 } = line ?? {};
    const found = examined > 0 ? { created, updated, withdrawn, restored } : undefined;
    if (toRead === 0) return { result: { ...(await certificate()), found } };
    // Until all days are read again, the answer has none of them.
    const result = { days: [], toRead, found, next: { ...command, since, operation } };
    if (line === undefined) return { result, failure: new BusyError() };
    return { result, failure: whyNothingWasRead(line) };
  },
});

/** The obstacle may have come after the days were made due. */
function whyNothingWasRead({ outcome, examined, failure }: TickReport): NotifierError | undefined {
  if (outcome === 'disturbed') return failure;
  if (outcome === 'paused') return new PausedError();
  if (outcome === 'backing-off') return new BackingOffError();
  if (outcome === 'baseline') return new BaselineRunningError();
  return examined === 0 ? new StalledError() : undefined;
}

/**
 * Puts these days before all others: ticks read them even if nobody does anything more. Needs the
 * lease.
 */
async function makeDue(parts: OperationParts, command: ProveCommand): Promise<void> {
  const { calendar, meant } = await daysMeant(parts, command);
  const askedAt = parts.clock.now().epochMilliseconds;
  const due = [...calendar].filter(([day, { readAt }]) => readAt > 0 && meant.has(day));
  await parts.ledger.saveDays(new Map(due.map(([day, entry]) => [day, { ...entry, askedAt }])));
}

async function daysToRead(
  parts: OperationParts,
  command: ProveCommand,
  since: string,
): Promise<number> {
  const { calendar, meant } = await daysMeant(parts, command);
  const sinceMs = Temporal.Instant.from(since).epochMilliseconds;
  return [...meant].filter((day) => {
    const { proof, readAt = 0, askedAt } = calendar.get(day) ?? {};
    return askedAt !== undefined || (proof?.at ?? readAt) < sinceMs;
  }).length;
}

/**
 * Includes the next day in the calendar, since the days in front of it are read with it; or the
 * last day, with which all later days are read. Like ticks, it has the days of the recent window
 * even without entries.
 */
async function daysMeant(parts: OperationParts, { from, to }: ProveCommand) {
  const { settings, clock, ledger } = parts;
  const { years } = await recordedState(parts);
  const calendar = await ledger.calendar(years);
  const window = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
  const days = [...new Set([...calendar.keys(), ...window.days])].sort();
  const meant = days.filter((day) => day >= from && day <= to);
  return {
    calendar,
    meant: new Set([...meant, days.find((day) => day >= to) ?? days.at(-1) ?? to]),
  };
}
