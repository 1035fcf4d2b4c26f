import type { QuarantinedRecord } from '../ports/partner-reader.ts';
import type { Calendar } from './calendar.ts';
import {
  accessNames,
  lasting,
  type Observation,
  type Observations,
  type OpenCondition,
  type OpenConditions,
} from './conditions.ts';
import type { Missing } from './missing.ts';
import { isOver, type MetPaths, withMet } from './odd-fields.ts';
import { isTooSlow, type Pace, remembered } from './pace.ts';

const oneDay = 24 * 3_600_000;
/** Days that were found unproven again after so long are told of. */
const unprovenMs = oneDay;
/** What the state item can hold of a notice that is owed. */
const listed = 20;
const maxLine = 200;

interface Pause {
  readonly since: { readonly epochMilliseconds: number };
  readonly reason: string;
}

/** A pause that goes on for days may have been forgotten. */
export function pauseSeen(pause: Pause | undefined, nowMs: number): Observations {
  const since = pause?.since.epochMilliseconds ?? nowMs;
  const details = pause ? [`Reason: ${pause.reason}`] : [];
  return { paused: { number: Math.floor((nowMs - since) / oneDay), since, details } };
}

/** @param inTheWay undefined: the partner has answered, and nothing is */
export function accessSeen(
  open: OpenConditions,
  inTheWay?: (typeof accessNames)[number],
): Observations {
  const over = accessNames.filter((name) => open.has(name)).map((name) => [name, { number: 0 }]);
  return { ...Object.fromEntries(over), ...(inTheWay && { [inTheWay]: { number: 1 } }) };
}

/** Whether the partner allows less than is wanted: it may be that this tick cannot tell. */
export function paceSeen(
  { value, perMinute }: { readonly value: Pace; readonly perMinute: number },
  nowMs: number,
): Observations {
  const isSlow = isTooSlow(value, perMinute, nowMs);
  if (isSlow === undefined) return {};
  const { learned } = remembered(value, perMinute, nowMs) ?? {};
  const details = learned === undefined ? [] : [`Answered within a minute: ${learned}`];
  return { 'rate-limited': { number: isSlow ? 1 : 0, details } };
}

/**
 * Too many are missing to be withdrawn; some have gone and can be had by their ids all the same; the partner's total
 * differs although no day does. An older answer or a comeback looks the same for a while.
 *
 * @param missing a tick that has nothing to look at knows no notes: what they have shown last still holds
 */
export function absenceSeen(
  open: OpenConditions,
  missing: Partial<Pick<Missing, 'total' | 'notes' | 'tooManySince'>> = { notes: [] },
  unexplained: number,
  steadyMs: number,
): Observations {
  const { tooManySince, total = 0, notes } = missing;
  return {
    missing: {
      number: tooManySince === undefined ? 0 : Math.max(1, total),
      ...(tooManySince !== undefined && { since: tooManySince }),
      steadyMs,
    },
    'shown-by-id': { ...(notes ? shownIn(notes) : lastSeen(open.get('shown-by-id'))), steadyMs },
    unexplained: { number: Math.abs(unexplained), steadyMs },
  };
}

function shownIn(notes: Missing['notes']): Observation {
  const shown = notes.filter(({ isShownById }) => isShownById);
  const lines = shown.map(({ id, day }) => `assessment ${id} of ${day}`);
  return { number: shown.length, details: shownLines(lines) };
}

const lastSeen = (condition: OpenCondition | undefined): Observation => ({
  number: condition === undefined || condition.goneAt !== undefined ? 0 : condition.number,
});

/** Whether no record is malformed any more: each would leave its day unproven. */
export function isMended(calendar: Calendar, malformed: number): boolean {
  return malformed === 0 && unprovenDays(calendar).length === 0;
}

/** Days were read. */
export function daysSeen(
  open: OpenConditions,
  calendar: Calendar,
  malformed: number,
  isOddMet: boolean,
): Observations {
  const unproven = unprovenDays(calendar).filter(
    ({ readAt, unprovenSince = readAt }) => readAt - unprovenSince >= unprovenMs,
  );
  const lines = unproven.map(({ day, count }) => `${day}: ${count} assessments expected`);
  const { paths } = open.get('odd-fields') ?? {};
  const readAt = calendar.days.map((day) => calendar.entry(day).readAt);
  const isOddOver = !isOddMet && paths !== undefined && isOver(paths, readAt);
  // Also when nothing new has come: what was added within a day of its notice is still to be told.
  const { quarantined = 0 } = isMended(calendar, malformed) ? {} : lasting(open);
  return {
    unproven: { number: unproven.length, details: shownLines(lines) },
    quarantined: { number: quarantined },
    ...(isOddOver && { 'odd-fields': { number: 0 } }),
  };
}

function unprovenDays(calendar: Calendar) {
  return calendar.days
    .map((day) => ({ day, ...calendar.entry(day) }))
    .filter(({ proof, readAt }) => proof === undefined && readAt > 0);
}

/** @param records those that were not reported before */
export function quarantineSeen(records: readonly QuarantinedRecord[], total: number): Observations {
  const lines = records.map(
    ({ id, problems }) =>
      `${id === undefined ? 'a record without an id' : `assessment ${id}`}: ${problems.join('; ')}`,
  );
  return { quarantined: { number: total, details: shownLines(lines) } };
}

/** Fields of announceable records that are not as documented: told once by path, as long as any are met. */
export function oddSeen(open: OpenConditions, met: MetPaths, nowMs: number): Observations {
  if (met.size === 0) return {};
  const paths = withMet(open.get('odd-fields')?.paths ?? {}, met, nowMs);
  const lines = Object.entries(paths).map(
    ([path, { records }]) => `${path}: ${records} ${records === 1 ? 'record' : 'records'}`,
  );
  return { 'odd-fields': { number: lines.length, details: shownLines(lines), paths } };
}

function shownLines(lines: readonly string[]): string[] {
  const rest = lines.length - listed;
  return [
    ...lines.slice(0, listed).map((line) => line.slice(0, maxLine)),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ];
}
