import { Temporal } from 'temporal-polyfill';
import type { DigestSchedule } from '../ports/state.ts';

/** An index follows its table within seconds; after trouble it gets this long. */
export const indexLagMinutes = 10;

/** When people may be told. */
export interface DigestTimes {
  /** Minutes that one digest collects; undefined: every tick has its own. */
  readonly digestEvery?: number | undefined;
  /** Times of day (`HH:MM`) between which no digest is sent; across midnight if `to` is earlier. */
  readonly quietHours?: { readonly from: string; readonly to: string } | undefined;
}

/** Those of the tick that decide when. */
export interface DigestSettings {
  readonly alerts: DigestTimes;
  /** IANA name of the integration's time zone. */
  readonly timeZone: string;
}

/**
 * What became of the people's mail in a tick.
 *
 * - `left`: an event was left to wait for a later mail;
 * - `refused`: SNS has refused a mail;
 * - `nothing`, `some`, `more`: what earlier ticks had left is out, and the index has shown so much of it, or more
 *   than one mail should tell of.
 */
export type DigestNews = 'left' | 'refused' | 'nothing' | 'some' | 'more';

/**
 * When the next mail is due, after this. `undefined`: nobody waits for one.
 *
 * What waits is found by an index, which lags. So a schedule stands until a look has found nothing, long enough
 * after the last event was left to wait.
 */
export function digestSchedule(
  before: DigestSchedule | undefined,
  news: DigestNews,
  now: Temporal.Instant,
  { alerts, timeZone }: DigestSettings,
): DigestSchedule | undefined {
  if (news === 'refused') return { dueAt: now, owedAt: now };
  if (news === 'more') return { dueAt: now, owedAt: before?.owedAt ?? now };
  const due = digestDue(now, alerts, timeZone);
  if (news === 'left') {
    const [dueAt = due] = [due, before?.dueAt ?? due].sort(Temporal.Instant.compare);
    return { dueAt, owedAt: now };
  }
  if (before === undefined) return undefined;
  const { owedAt } = before;
  const isShown = now.since(owedAt).total('minutes') >= indexLagMinutes;
  if (news === 'nothing' && isShown) return undefined;
  const { quietHours } = alerts;
  const shown = digestDue(now.add({ minutes: indexLagMinutes }), { quietHours }, timeZone);
  const [, dueAt = due] = [shown, due].sort(Temporal.Instant.compare);
  return { dueAt, owedAt };
}

/** Whether this mail goes out now: its time has come, and nobody is asleep. */
export function isDigestDue(
  schedule: DigestSchedule | undefined,
  now: Temporal.Instant,
  { alerts: { quietHours }, timeZone }: DigestSettings,
): boolean {
  return (
    schedule !== undefined &&
    Temporal.Instant.compare(schedule.dueAt, now) <= 0 &&
    digestDue(now, { quietHours }, timeZone).equals(now)
  );
}

/**
 * When a digest of something that happens now is due: now, after the minutes that a digest collects,
 * or when the quiet hours are over then.
 */
export function digestDue(
  now: Temporal.Instant,
  { digestEvery = 0, quietHours }: DigestTimes,
  timeZone: string,
): Temporal.Instant {
  const collected = now.add({ seconds: Math.round(digestEvery * 60) });
  return quietHours ? endOfQuiet(collected, quietHours, timeZone) : collected;
}

/**
 * The first instant from this one on that is not in the quiet hours. They are times on the wall: a
 * night on which the clocks change is an hour shorter or longer, and where `to` is an hour that is
 * skipped, they end with the skip.
 */
export function endOfQuiet(
  instant: Temporal.Instant,
  { from, to }: NonNullable<DigestTimes['quietHours']>,
  timeZone: string,
): Temporal.Instant {
  const isQuiet = (at: Temporal.ZonedDateTime) => {
    const time = at.toPlainTime().toString({ smallestUnit: 'minute' });
    if (from < to) return from <= time && time < to;
    return from !== to && (from <= time || time < to);
  };
  const start = instant.toZonedDateTimeISO(timeZone);
  if (!isQuiet(start)) return instant;
  const today = start.toPlainDate();
  const ends = [today, today.add({ days: 1 })].flatMap((day) =>
    (['earlier', 'later'] as const).map((disambiguation) =>
      day.toPlainDateTime(to).toZonedDateTime(timeZone, { disambiguation }),
    ),
  );
  const change = start.getTimeZoneTransition('next');
  const [end] = [...ends, ...(change ? [change] : [])]
    .filter((at) => Temporal.ZonedDateTime.compare(at, start) > 0 && !isQuiet(at))
    .sort(Temporal.ZonedDateTime.compare);
  return (end ?? start).toInstant();
}
