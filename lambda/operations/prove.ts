import { Temporal } from 'temporal-polyfill';
import type { DayEntry } from '../detection/calendar.ts';
import type { State } from '../ports.ts';
import type { CommandOf } from './command.ts';
import type { ResultOf } from './contract.ts';
import {
  BackingOffError,
  BaselineRunningError,
  BusyError,
  PausedError,
  StalledError,
} from './errors.ts';
import { recordedState, underLease } from './lease.ts';
import { makeDue } from './make-due.ts';
import type { Call, OperationParts, Outcome } from './parts.ts';
import { proofsOf } from './proofs.ts';

type ProveCommand = CommandOf<'prove'>;
type Result = ResultOf<'prove'>;

/** Days that one answer tells of: some 200 bytes each, and an answer has 6 MB at most. */
const daysAtOnce = 4_000;
/** What the tick of one call may ask of the partner for it; time is over before. */
const auditRequests = 1_000;
/** Kept free of the call for what comes after its tick. */
const afterwardsSeconds = 5;
const pauseMs = 1_000;

/**
 * The days of a range with their proofs; with `now`, once all of them have been read again. That is
 * done by ticks, for which these days are made due: so what differs is announced as ever, and what
 * this command does not come to, the scheduled ticks do.
 *
 * @throws PausedError, BackingOffError, BaselineRunningError with `now`
 */
export async function prove(
  parts: OperationParts,
  command: ProveCommand,
  call: Call,
): Promise<Outcome<Result>> {
  if (!command.now || command.after !== undefined)
    return { result: await certificate(parts, command) };

  const since = command.since ?? parts.clock.now().toString();
  const next = { ...command, since, ...(call.operation && { operation: call.operation }) };
  await underLease(parts, call, async (state) => {
    refuseIfIdle(state, parts);
    const calendar = await parts.ledger.calendar(state.years);
    const meant = command.since === undefined ? daysMeant(calendar, command) : new Set<string>();
    await makeDue(parts, calendar, (_, day) => meant.has(day));
  });

  const found = { created: 0, updated: 0, withdrawn: 0, restored: 0 };
  let toRead = await daysToRead(parts, command, since);
  if (toRead > 0) {
    const line = await undisturbedTick(parts, call);
    if (line === undefined) return { ...unfinished(toRead, next), failure: new BusyError() };
    const { created, updated, withdrawn, restored } = line;
    Object.assign(found, { created, updated, withdrawn, restored });
    toRead = await daysToRead(parts, command, since);
    if (toRead > 0)
      return {
        ...unfinished(toRead, next, found),
        ...(line.examined === 0 && { failure: new StalledError() }),
      };
  }
  return { result: { ...(await certificate(parts, next)), found } };
}

/** What is recorded of the days, and nothing else. */
async function certificate(parts: OperationParts, command: ProveCommand): Promise<Result> {
  const { years } = await recordedState(parts);
  const calendar = await parts.ledger.calendar(years);
  const from = command.after === undefined ? command.from : following(command.after);
  const days = proofsOf(calendar, from, command.to, daysAtOnce);
  const proven = days.filter(({ proof }) => proof !== undefined).length;
  const last = days.at(-1)?.day;
  return {
    days,
    proven,
    unproven: days.length - proven,
    certifications: days.reduce((sum, { count }) => sum + count, 0),
    toRead: 0,
    ...(last !== undefined && last < command.to && { next: { ...command, after: last } }),
  };
}

function unfinished(toRead: number, next: ProveCommand, found?: Result['found']) {
  const result: Result = { days: [], proven: 0, unproven: 0, certifications: 0, toRead, next };
  return { result: { ...result, ...(found && { found }) } };
}

/** `undefined`: others were at work all the time. */
async function undisturbedTick(parts: OperationParts, { id, killedAt, limit }: Call) {
  const deadline = killedAt.subtract({ seconds: afterwardsSeconds });
  for (;;) {
    const line = await parts.tick({ id, deadline }, auditRequests);
    if (line.outcome !== 'busy') return line;
    if (limit.reached) return undefined;
    await parts.clock.sleep(pauseMs);
  }
}

/** What would keep the tick from reading: the days are not made due then, either. */
function refuseIfIdle({ paused, backOff, baseline }: State, { clock }: OperationParts): void {
  if (paused) throw new PausedError();
  if (backOff !== undefined && Temporal.Instant.compare(clock.now(), backOff.until) < 0)
    throw new BackingOffError();
  if (baseline.status !== 'completed') throw new BaselineRunningError();
}

async function daysToRead(
  { ledger, ...parts }: OperationParts,
  command: ProveCommand,
  since: string,
): Promise<number> {
  const { years } = await recordedState({ ledger, ...parts });
  const calendar = await ledger.calendar(years);
  const sinceMs = Temporal.Instant.from(since).epochMilliseconds;
  const meant = daysMeant(calendar, command);
  return [...meant].filter((day) => (calendar.get(day)?.readAt ?? 0) < sinceMs).length;
}

/** Also the one after them: the days in front of it are read with it. */
function daysMeant(
  calendar: ReadonlyMap<string, DayEntry>,
  { from, to }: ProveCommand,
): ReadonlySet<string> {
  const days = [...calendar.keys()].filter((day) => day >= from).sort();
  const after = days.findIndex((day) => day >= to);
  return new Set(after < 0 ? days : days.slice(0, after + 1));
}

const following = (day: string) => Temporal.PlainDate.from(day).add({ days: 1 }).toString();
