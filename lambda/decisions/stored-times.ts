import { Temporal } from 'temporal-polyfill';
import type { DigestSettings } from './digest-schedule.ts';
import type { AuditSettings } from './due.ts';
import type { LeasedState, StateChanges } from './state.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

interface Settings extends Pick<DigestSettings, 'alerts'> {
  readonly audit: AuditSettings;
  readonly withdrawAfterMs: number;
}

/**
 * How far ahead each stored time can lie, in milliseconds, by the name of its field: 0 where
 * something was seen or done then. Times that are identities as well, and those of the lease, which
 * has a rule of its own, are not here.
 */
function longestAhead({ audit, withdrawAfterMs, alerts }: Settings) {
  const seen = [
    ...['at', 'since', 'goneAt', 'askedAt', 'owedAt', 'readAt', 'heartbeat', 'dirtySince'],
    ...['agreedSince', 'failedSince', 'refusedSince', 'tooManySince', 'unexplainedSince'],
    ...['unprovenSince', 'unreadAt', 'tokensEnded', 'odd.*'],
  ];
  return new Map([
    ...seen.map((name) => [name, 0] as const),
    ['dueAt', Math.max(audit.recentMs, withdrawAfterMs)],
    ['digest.dueAt', (alerts.digestEvery ?? 0) * 60_000 + dayMs + hourMs],
    ['auditsFrom', Math.max(audit.recentMs, audit.historyMs)],
    ['missing.lookAt', Math.max(withdrawAfterMs, hourMs)],
    ['refusal.until', hourMs],
    ['gateLook', withdrawAfterMs],
    ['backOff.until', hourMs],
  ]);
}

/**
 * The times that an earlier tick or command has stored, by another clock than ours. A time that is
 * further ahead than it can be counts as now, and so does one ahead at which something was seen: a
 * function whose clock is hours ahead keeps later ones from nothing for hours.
 *
 * @param stored the state, the memory, or days of the calendar
 */
export function judged<Stored>(stored: Stored, nowMs: number, settings: Settings): Stored;
export function judged(stored: unknown, nowMs: number, settings: Settings): unknown {
  const longest = longestAhead(settings);
  const walk = (value: unknown, name: string, of: string): unknown => {
    if (Array.isArray(value)) return partsOf(value, (one) => walk(one, name, of));
    if (isPlain(value)) return partsOf(value, (one, key) => walk(one, key, name));
    const most = longest.get(`${of}.${name}`) ?? longest.get(`${of}.*`) ?? longest.get(name);
    return most === undefined ? value : inTime(value, nowMs, nowMs + most);
  };
  return walk(stored, '', '');
}

/**
 * Fields that the holder of the lease does not write back: others write them without the lease, or
 * each tick replaces them at its end.
 */
const leftAlone = new Set(['dirtySince', 'heartbeat', 'pace', 'pause', 'selfCheck']);

/**
 * The fields that judging has changed, for the holder of the lease to write back. Otherwise, each
 * tick would count the same time as now anew, and nothing that waits from then on would end.
 *
 * @param after the same state, judged
 */
export function mendedBy(stored: LeasedState, after: LeasedState): StateChanges | undefined {
  const before = new Map<string, unknown>(Object.entries(stored));
  const changed = Object.entries({ ...after, conditions: undefined }).filter(
    ([name, field]) => field !== undefined && field !== before.get(name) && !leftAlone.has(name),
  );
  const conditions = new Map(
    [...after.conditions].filter(([name, one]) => one !== stored.conditions.get(name)),
  );
  if (changed.length + conditions.size === 0) return undefined;
  return { ...Object.fromEntries(changed), conditions };
}

type Parts = Map<string, unknown> | unknown[] | Record<string, unknown>;

/** All parts walked; the whole itself, if none has changed. */
function partsOf(whole: Parts, walk: (one: unknown, key: string) => unknown): Parts {
  const parts = whole instanceof Map ? [...whole] : Object.entries(whole);
  const after = parts.map(([key, one]) => [key, walk(one, key)] as const);
  if (after.every(([, one], index) => one === parts[index]?.[1])) return whole;
  if (Array.isArray(whole)) return after.map(([, one]) => one);
  return whole instanceof Map ? new Map(after) : Object.fromEntries(after);
}

function isPlain(value: unknown): value is Exclude<Parts, unknown[]> {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof Map || Object.getPrototypeOf(value) === Object.prototype;
}

/** An instant of any form; a day is none. */
function inTime(value: unknown, nowMs: number, untilMs: number): unknown {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs);
  if (typeof value === 'number') return value > untilMs ? nowMs : value;
  if (value instanceof Temporal.Instant) return value.epochMilliseconds > untilMs ? now : value;
  const isText = typeof value === 'string' && value.includes('T');
  return isText && Date.parse(value) > untilMs ? now.toString() : value;
}
