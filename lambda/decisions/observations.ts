import type { NotifierError } from '../errors.ts';
import type { Calendar } from './calendar.ts';
import {
  blocking,
  type ConditionName,
  isBlocking,
  isLasting,
  isUntold,
  type Observation,
  type Observations,
  type OpenCondition,
  type OpenConditions,
  obstacles,
} from './conditions.ts';
import { oddNumbersSeen } from './host-numbers.ts';
import { isUnanswered, type Missing, type Note } from './missing.ts';
import { paceSeen, type RequestPace } from './pace.ts';
import type { QuarantinedRecord } from './partner-reads.ts';
import type { Pause } from './state.ts';
import { sharedSeen } from './tokens.ts';
import type { Twins } from './twins.ts';

const oneDay = 24 * 3_600_000;
/** Ops are told of a condition that may end by itself after this time. */
const graceMs = 15 * 60_000;
/** Ops are told of days that are found unproven again after this time. */
const unprovenMs = oneDay;

/** The condition that blocks every tick; `passing` is its text if it may end by itself. */
export interface Blocked {
  readonly name?: (typeof blocking)[number];
  readonly passing?: string;
}

/** The facts from which conditions follow. A tick knows nothing of absent ones. */
export interface Seen {
  readonly pace: RequestPace;
  /** Quarantined records, by a short name. */
  readonly quarantined: ReadonlyMap<string, QuarantinedRecord>;
  /** The ids of announceable records with odd fields, by path. */
  readonly oddFields: ReadonlyMap<string, ReadonlySet<number>>;
  /** Ids that the partner shows twice. Only ticks with the lease know them. */
  readonly twins?: Twins | undefined;
  /** The condition that blocks every tick; without a name: the partner has answered. */
  readonly blocked?: Blocked | undefined;
  /**
   * Quarantined records that are reported for the first time, and the number of all reported ones.
   */
  readonly reported?:
    | { readonly news: readonly QuarantinedRecord[]; readonly total: number }
    | undefined;
  /** Present if days were read. */
  readonly calendar?: Calendar | undefined;
  /** The days that the baseline could not read. */
  readonly unread?: Observation | undefined;
  readonly absence?:
    | {
        /** A tick without looks knows no notes. */
        readonly missing: Partial<Pick<Missing, 'total' | 'notes' | 'tooManySince'>> | undefined;
        readonly unexplained: number;
        /** For a while, an older answer or a comeback looks the same. */
        readonly steadyMs: number;
      }
    | undefined;
  /** No certification has come for long. Only ticks that have found every change know it. */
  readonly silent?: Observation | undefined;
  /**
   * Events that wait for ops. Only ticks with the lease count them, and tell of odd fields: others
   * see the same page each time.
   */
  readonly waiting?: Pick<Observations, 'held' | 'undeliverable'> | undefined;
  /** Observations from the state alone: a pause, and the last self-check. */
  readonly stated?: Observations;
}

/**
 * A pause that goes on for days may have been forgotten. An outage that ops were not told of before
 * the pause begins anew after it: no tick has seen that it lasts.
 */
export function pauseSeen(
  pause: Pause | undefined,
  open: OpenConditions,
  nowMs: number,
): Observations {
  const untold = [...open].filter(([name, one]) => isBlocking(name) && isUntold(one));
  const since = pause?.since.epochMilliseconds ?? nowMs;
  const details = pause ? [`Reason: ${pause.reason}`] : [];
  return {
    ...Object.fromEntries(untold.map(([name]) => [name, { number: 0 }])),
    paused: { number: Math.floor((nowMs - since) / oneDay), since, details },
  };
}

/** The block by an error, until people mend it or until the host answers; undefined: it is none. */
export function blockedBy(error: NotifierError): Blocked | undefined {
  const { code, fault, reach, retryHelps } = error;
  const passing = retryHelps && { passing: error.message };
  if (isBlocking(code)) return { name: code, ...passing };
  const isUnanswered = fault === 'partner' && (reach === 'request' || reach === 'time');
  return isUnanswered && passing ? { name: 'partner-silent', ...passing } : undefined;
}

/** The number counts ticks, up to 2: one lost tick is made up for by the next. */
function blockedSeen({ name, passing }: Blocked, open: OpenConditions): Observations {
  const over = overWith(name).map((one) => [one, { number: 0, graceMs }] as const);
  const number = passing !== undefined && name && open.has(name) ? 2 : 1;
  const seen = { number, ...(passing !== undefined && { graceMs, details: [passing] }) };
  return { ...Object.fromEntries(over), ...(name && { [name]: seen }) };
}

/** The conditions that this one proves to be over. A host that does not answer proves nothing. */
function overWith(name: Blocked['name']): readonly ConditionName[] {
  if (name === undefined) return blocking;
  const step = obstacles.findIndex((names) => names.some((one) => one === name));
  return [...obstacles.slice(0, step + 1).flat(), ...(step > 0 ? ['partner-silent' as const] : [])];
}

/** The observations that follow from a tick's facts. */
export function conditionsOf(facts: Seen, open: OpenConditions, nowMs: number): Observations {
  const { blocked, reported, calendar, absence, silent, waiting, oddFields, twins } = facts;
  const { missing = { notes: [] }, unexplained = 0, steadyMs = 0 } = { ...absence };
  const { tooManySince, total = 0 } = missing;
  const tooMany = tooManySince === undefined ? 0 : Math.max(1, total);
  const notedSeen = (name: ConditionName, isMeant: (note: Note) => unknown) => {
    const before = open.get(name);
    const notes = missing.notes?.filter(isMeant);
    return {
      // Without notes, the number from before still holds.
      number: notes?.length ?? (before?.goneAt === undefined ? before?.number : 0) ?? 0,
      details: notes?.map(({ id, day }) => `assessment ${id} of ${day}`),
    };
  };
  return {
    paused: { number: 0 },
    ...facts.stated,
    ...paceSeen(facts.pace, nowMs),
    ...sharedSeen(facts.pace, nowMs),
    ...oddNumbersSeen(facts.pace, nowMs),
    ...(blocked && blockedSeen(blocked, open)),
    ...(absence && {
      missing: { number: tooMany, since: tooManySince, steadyMs },
      'shown-by-id': { ...notedSeen('shown-by-id', (note) => note.isShownById), steadyMs },
      'unanswered-by-id': notedSeen('unanswered-by-id', (note) => isUnanswered(note, nowMs)),
      unexplained: { number: Math.abs(unexplained), steadyMs },
    }),
    ...(silent && { silent }),
    ...(facts.unread && { 'baseline-unread': facts.unread }),
    ...(twins && twinsSeen(twins)),
    ...(calendar && daysSeen(calendar, facts.quarantined.size, open)),
    ...(reported && {
      quarantined: { number: reported.total, details: reported.news.map(lineOf) },
    }),
    ...(waiting && oddFields.size > 0 && oddSeen(oddFields, open.get('odd-fields'), nowMs)),
    ...waiting,
  };
}

/**
 * The days that the baseline could not read. While it waits for its start day, ops are told late:
 * the day is read again.
 */
export function unreadSeen(calendar: Calendar, waitingSince?: number): Observation {
  const { days } = calendar.unread;
  const rowsOf = (day: string) => calendar.entry(day).unread ?? 0;
  return {
    number: days.length,
    details: days.map(
      (day) => `${day}: ${calendar.entry(day).count} counted, ${rowsOf(day)} not shown`,
    ),
    ...(waitingSince !== undefined && { since: waitingSince, steadyMs: graceMs }),
  };
}

function twinsSeen(twins: Twins): Observations {
  const sure = twins.filter(({ isSure }) => isSure);
  const details = sure.map(({ id, days }) => `assessment ${id} of ${days.join(' and ')}`);
  return { 'one-id-twice': { number: sure.length, details } };
}

/** Whether no record is quarantined any more: each would leave its day unproven. */
export function isMended(calendar: Calendar, malformed: number): boolean {
  return malformed === 0 && unprovenDays(calendar).length === 0;
}

function daysSeen(calendar: Calendar, malformed: number, open: OpenConditions): Observations {
  const lasting = unprovenDays(calendar).filter(
    ({ readAt, unprovenSince = readAt }) => readAt - unprovenSince >= unprovenMs,
  );
  const { paths = {} } = open.get('odd-fields') ?? {};
  const lastMet = Math.max(0, ...Object.values(paths).map(({ at }) => at));
  const isOddOver = calendar.days.every((day) => calendar.entry(day).readAt > lastMet);
  const quarantined = open.get('quarantined');
  // Observed without new records, too: those added within a day of the last notice are still to be
  // told.
  const isMalformed = !isMended(calendar, malformed) && quarantined && isLasting(quarantined);
  return {
    unproven: {
      number: lasting.length,
      details: lasting.map(({ day, count }) => `${day}: ${count} assessments expected`),
    },
    quarantined: { number: isMalformed ? quarantined.number : 0 },
    ...(isOddOver && { 'odd-fields': { number: 0 } }),
  };
}

function unprovenDays(calendar: Calendar) {
  return calendar.days
    .map((day) => ({ day, ...calendar.entry(day) }))
    .filter(({ proof, readAt }) => proof === undefined && readAt > 0);
}

function lineOf({ id, problems }: QuarantinedRecord): string {
  return `${id === undefined ? 'a record without an id' : `assessment ${id}`}: ${problems.join('; ')}`;
}

/** Ops are told once by path, as long as any are met. */
function oddSeen(
  met: Seen['oddFields'],
  { paths: known = {} }: Partial<OpenCondition> = {},
  nowMs: number,
): Observations {
  const now = [...met].map(([path, { size }]) => {
    const records = Math.max(size, known[path]?.records ?? 0);
    return [path, { at: nowMs, records }] as const;
  });
  const all = Object.entries({ ...known, ...Object.fromEntries(now) });
  all.sort(([one], [other]) => one.localeCompare(other));
  const details = all.map(
    ([path, { records }]) => `${path}: ${records} ${records === 1 ? 'record' : 'records'}`,
  );
  return { 'odd-fields': { number: all.length, details, paths: Object.fromEntries(all) } };
}
