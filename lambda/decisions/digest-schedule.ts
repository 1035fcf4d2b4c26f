import { Temporal } from 'temporal-polyfill';
import type { DigestSchedule } from './state.ts';

/** An index follows its table within seconds; after trouble it gets this long. */
export const indexLagMinutes = 10;

export interface DigestSettings {
  readonly timeZone: string;
  readonly alerts: {
    readonly digestEvery?: number | undefined;
    readonly quietHours?: { readonly from: string; readonly to: string } | undefined;
  };
}

/**
 * The digest after a tick.
 *
 * - `left`: an event waits for a later digest;
 * - `more`: a digest did not list everything, because SNS refused it or it was full;
 * - `nothing`, `some`: events of earlier ticks are out, and the index showed this many of them.
 */
export type DigestNews = 'left' | 'more' | 'nothing' | 'some';

/**
 * When the next digest is due. `undefined`: no event waits for one.
 *
 * Waiting events are found by an index, which lags. So a schedule stays until a look has found
 * nothing, long enough after the last event began to wait.
 */
export function digestSchedule(
  before: DigestSchedule | undefined,
  news: DigestNews,
  now: Temporal.Instant,
  settings: DigestSettings,
): DigestSchedule | undefined {
  const { digestEvery = 0 } = settings.alerts;
  if (news === 'more') return { dueAt: now, owedAt: now };
  if (news === 'left') {
    const due = endOfQuiet(now.add({ minutes: digestEvery }), settings);
    const [dueAt = due] = [due, before?.dueAt ?? due].sort(Temporal.Instant.compare);
    return { dueAt, owedAt: now };
  }
  if (before === undefined) return undefined;
  const { owedAt } = before;
  const isShown = now.since(owedAt).total('minutes') >= indexLagMinutes;
  if (news === 'nothing' && isShown) return undefined;
  const minutes = Math.max(digestEvery, indexLagMinutes);
  return { dueAt: endOfQuiet(now.add({ minutes }), settings), owedAt };
}

/** Whether the digest goes out now: it is due, and it is outside the quiet hours. */
export function isDigestDue(
  schedule: DigestSchedule | undefined,
  now: Temporal.Instant,
  settings: DigestSettings,
): boolean {
  return (
    schedule !== undefined &&
    Temporal.Instant.compare(schedule.dueAt, now) <= 0 &&
    endOfQuiet(now, settings).equals(now)
  );
}

/**
 * The first instant from this one on that is outside the quiet hours. These are times on the wall:
 * a night on which the clocks change is an hour shorter or longer. Where `to` is in an hour that is
 * skipped, they end with the skip.
 */
export function endOfQuiet(
  instant: Temporal.Instant,
  { alerts: { quietHours }, timeZone }: DigestSettings,
): Temporal.Instant {
  if (quietHours === undefined) return instant;
  const { from, to } = quietHours;
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
