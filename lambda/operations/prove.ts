import { Temporal } from 'temporal-polyfill';
import type { DayEntry } from '../detection/calendar.ts';
import { daysIn, recentWindow } from '../detection/days.ts';
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
import type { Call, Carrier, OperationParts } from './parts.ts';
import { type DayProof, proofsOf } from './proofs.ts';

type ProveCommand = CommandOf<'prove'>;
type Result = ResultOf<'prove'>;

/** Days that one answer tells of: some 200 bytes each, and an answer has 6 MB at most. */
const daysAtOnce = 4_000;
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
  if (!command.now || command.after !== undefined)
    return { result: await certificate(parts, command) };

  const since = command.since ?? parts.clock.now().toString();
  const next = { ...command, since, ...(call.operation && { operation: call.operation }) };
  await underLease(parts, call, async (state) => {
    refuseIfIdle(state, parts);
    const calendar = await parts.ledger.calendar(state.years);
    const meant =
      command.since === undefined ? daysMeant(calendar, command, parts) : new Set<string>();
    const askedAt = parts.clock.now().epochMilliseconds;
    const due = [...calendar].filter(([day, { readAt }]) => readAt > 0 && meant.has(day));
    await parts.ledger.saveDays(new Map(due.map(([day, entry]) => [day, { ...entry, askedAt }])));
    await parts.ledger.saveState({ dueAt: 0 });
  });

  const toRead = await daysToRead(parts, command, since);
  if (toRead === 0) return { result: await certificate(parts, next) };
  const line = await undisturbedTick(parts, call);
  if (line === undefined) return { result: unfinished(toRead, next), failure: new BusyError() };
  const found = foundBy(line);
  const left = await daysToRead(parts, command, since);
  if (left === 0) return { result: { ...(await certificate(parts, next)), ...found } };
  const failure = whyNothingWasRead(line);
  return { result: { ...unfinished(left, next), ...found }, ...(failure && { failure }) };
};

/** What is recorded of the days, and nothing else. */
async function certificate(parts: OperationParts, command: ProveCommand): Promise<Result> {
  const { years } = await recordedState(parts);
  const calendar = await parts.ledger.calendar(years);
  const from = command.after === undefined ? command.from : following(command.after);
  const present = { now: parts.clock.now(), timeZone: parts.settings.timeZone };
  const days = proofsOf(calendar, { from, to: command.to }, present, daysAtOnce);
  const last = days.at(-1)?.day;
  const many = (standing: DayProof['standing']) =>
    days.filter((day) => day.standing === standing).length;
  return {
    days,
    proven: many('proven'),
    open: many('open'),
    unproven: many('unproven'),
    notYet: many('not-yet'),
    certifications: days.reduce((sum, { count, since = 0 }) => sum + count + since, 0),
    toRead: 0,
    ...(last !== undefined && last < command.to && { next: { ...command, after: last } }),
  };
}

function unfinished(toRead: number, next: ProveCommand): Result {
  const none = { days: [], proven: 0, open: 0, unproven: 0, notYet: 0, certifications: 0 };
  return { ...none, toRead, next };
}

function foundBy(line: TickLine): Pick<Result, 'found'> {
  const { examined, created, updated, withdrawn, restored } = line;
  return examined > 0 ? { found: { created, updated, withdrawn, restored } } : {};
}

/** `undefined`: others were at work all the time. */
function undisturbedTick(parts: OperationParts, { id, killedAt, limit }: Call) {
  const deadline = killedAt.subtract({ seconds: afterwardsSeconds });
  return whenFree(parts, limit, async () => {
    const line = await parts.tick({ id, deadline }, auditRequests);
    return line.outcome === 'busy' ? undefined : line;
  });
}

/** What would keep the tick from reading: the days are not made due then, either. */
function refuseIfIdle(state: State, parts: OperationParts): void {
  refuseIfLeftAlone(state, parts);
  if (state.baseline.status !== 'completed') throw new BaselineRunningError();
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
  const days = [...new Set([...calendar.keys(), ...daysIn(window)])].sort();
  const meant = days.filter((day) => day >= from && day <= to);
  return new Set([...meant, days.find((day) => day >= to) ?? days.at(-1) ?? to]);
}

const following = (day: string) => Temporal.PlainDate.from(day).add({ days: 1 }).toString();
