import { Temporal } from 'temporal-polyfill';
import type { DayEntry } from '../detection/calendar.ts';
import { recentWindow } from '../detection/days.ts';
import type { NotifierError } from '../errors.ts';
import type { TickLine } from '../journal.ts';
import type { State } from '../ports/state.ts';
import type { CommandOf, ResultOf } from './contract.ts';
import {
  BackingOffError,
  BaselineRunningError,
  BusyError,
  PausedError,
  StalledError,
} from './errors.ts';
import { recordedState, refuseIfLeftAlone, underLease, whenFree } from './lease.ts';
import type { Carrier, OperationParts } from './parts.ts';
import { type DayProof, proofsOf } from './proofs.ts';

type ProveCommand = CommandOf<'prove'>;

/** What the tick of one call may ask of the partner for it; time is over before. */
const auditRequests = 1_000;
/** Kept free of the call for what comes after its tick. */
const afterwardsSeconds = 5;

/**
 * The days of a range with their proofs; with `now`, once all of them have been read again. That is
 * done by ticks, for which these days are made due: so what differs is announced as ever, and what
 * this command does not come to, the scheduled ticks do.
 *
 * @throws PausedError, BackingOffError, BaselineRunningError with `now`
 */
export const prove: Carrier<'prove'> = async (parts, command, call) => {
  if (!command.now) return { result: await certificate(parts, command) };

  const { id, killedAt, limit, operation } = call;
  const since = command.since ?? parts.clock.now().toString();
  const next = { ...command, since, operation };
  await underLease(parts, call, async (state) => {
    refuseIfLeftAlone(state, parts);
    if (state.baseline.status !== 'completed') throw new BaselineRunningError();
    if (command.since === undefined) await makeDue(parts, command, state);
    await parts.ledger.saveState({ dueAt: 0 });
  });

  const toRead = await daysToRead(parts, command, since);
  if (toRead === 0) return { result: await certificate(parts, command) };
  const deadline = killedAt.subtract({ seconds: afterwardsSeconds });
  const line = await whenFree(parts, limit, async () => {
    const line = await parts.tick({ id, deadline }, auditRequests);
    return line.outcome === 'busy' ? undefined : line;
  });
  if (line === undefined)
    return { result: await certificate(parts, next, toRead), failure: new BusyError() };
  const left = await daysToRead(parts, command, since);
  const result = await certificate(parts, next, left);
  const { examined, created, updated, withdrawn, restored } = line;
  const found = examined > 0 ? { created, updated, withdrawn, restored } : undefined;
  const failure = left === 0 ? undefined : whyNothingWasRead(line);
  return { result: { ...result, found }, failure };
};

/**
 * What is recorded of the days, and nothing else.
 *
 * @param toRead days that are to be read again first: until then, nothing is told
 */
async function certificate(
  parts: OperationParts,
  command: ProveCommand,
  toRead = 0,
): Promise<ResultOf<'prove'>> {
  const { years } = await recordedState(parts);
  const calendar = await parts.ledger.calendar(years);
  const present = { now: parts.clock.now(), timeZone: parts.settings.timeZone };
  const days = toRead === 0 ? proofsOf(calendar, command, present) : [];
  const many = (standing: DayProof['standing']) =>
    days.filter((day) => day.standing === standing).length;
  return {
    days,
    proven: many('proven'),
    open: many('open'),
    unproven: many('unproven'),
    notYet: many('not-yet'),
    certifications: days.reduce((sum, { count, since = 0 }) => sum + count + since, 0),
    toRead,
    next: toRead > 0 ? command : undefined,
  };
}

/** Before all others: ticks see to it, also if nobody does anything more. Needs the lease. */
async function makeDue(
  parts: OperationParts,
  command: ProveCommand,
  { years }: Pick<State, 'years'>,
): Promise<void> {
  const { ledger, clock } = parts;
  const calendar = await ledger.calendar(years);
  const meant = daysMeant(calendar, command, parts);
  const due = [...calendar].filter(([day, { readAt }]) => readAt > 0 && meant.has(day));
  const askedAt = clock.now().epochMilliseconds;
  await ledger.saveDays(new Map(due.map(([day, entry]) => [day, { ...entry, askedAt }])));
}

/** That may have come after the days were made due. */
function whyNothingWasRead({ outcome, examined }: TickLine): NotifierError | undefined {
  if (outcome === 'paused') return new PausedError();
  if (outcome === 'backing-off') return new BackingOffError();
  if (outcome === 'baseline') return new BaselineRunningError();
  return examined === 0 ? new StalledError() : undefined;
}

async function daysToRead(
  parts: OperationParts,
  command: ProveCommand,
  since: string,
): Promise<number> {
  const { years } = await recordedState(parts);
  const calendar = await parts.ledger.calendar(years);
  const sinceMs = Temporal.Instant.from(since).epochMilliseconds;
  const meant = daysMeant(calendar, command, parts);
  const isToBeRead = (day: string) => {
    const { proof, readAt = 0, askedAt } = calendar.get(day) ?? {};
    return askedAt !== undefined || (proof?.at ?? readAt) < sinceMs;
  };
  return [...meant].filter(isToBeRead).length;
}

/**
 * Also the one after them: the days in front of it are read with it; or the last, with which all days
 * after it are read. As ticks do, with the days of the recent window whether they have entries or not.
 */
function daysMeant(
  calendar: ReadonlyMap<string, DayEntry>,
  { from, to }: ProveCommand,
  { settings, clock }: OperationParts,
): ReadonlySet<string> {
  const window = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
  const days = [...new Set([...calendar.keys(), ...window.days])].sort();
  const meant = days.filter((day) => day >= from && day <= to);
  return new Set([...meant, days.find((day) => day >= to) ?? days.at(-1) ?? to]);
}
