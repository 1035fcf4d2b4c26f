import { Temporal } from 'temporal-polyfill';

/** The time of the reader, and the zone in which dates are shown. */
export interface Now {
  readonly now: Temporal.Instant;
  /** IANA name. */
  readonly zone: string;
}

/** `2026-11-21 11:05:08 EST` @param smallestUnit `minute`: `2026-11-21 11:05 EST` */
export function moment(
  instant: string,
  { zone }: Pick<Now, 'zone'>,
  smallestUnit: 'second' | 'minute' = 'second',
): string {
  const at = Temporal.Instant.from(instant).toZonedDateTimeISO(zone);
  const time = at.toPlainTime().toString({ smallestUnit });
  return `${at.toPlainDate()} ${time} ${abbreviation(at)}`;
}

const instants = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Rewrites the instants in a sentence of the function for the reader's zone. */
export function told(sentence: string, view: Pick<Now, 'zone'>): string {
  return sentence.replaceAll(instants, (instant) => moment(instant, view));
}

/** `EST`, or `GMT+2` where a zone has no letters of its own. */
function abbreviation(at: Temporal.ZonedDateTime): string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: at.timeZoneId,
    timeZoneName: 'short',
  });
  const parts = format.formatToParts(at.epochMilliseconds);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? at.timeZoneId;
}

/** `350 ms`, `12 s`, `1 min 30 s`, `3 h 20 min`, `2 d 35 min`: the two largest units, rounded down. */
export function duration(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 1000) return `${Math.ceil(milliseconds)} ms`;
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60);
  const units: [number, string][] = [
    [Math.floor(minutes / 1440), 'd'],
    [Math.floor(minutes / 60) % 24, 'h'],
    [minutes % 60, 'min'],
    // Beside ten minutes or more, seconds are left out.
    [minutes < 10 ? seconds % 60 : 0, 's'],
  ];
  const some = units.filter(([number]) => number > 0).slice(0, 2);
  return some.map(([number, unit]) => `${number} ${unit}`).join(' ') || '0 s';
}

/** A limit, such as `16 min`, `1 d 1 min` or `1 d 3 h`, rounded up to two units. */
export function limit(minutes: number): string {
  const whole = Math.ceil(minutes);
  const needsThree = whole > 1440 && whole % 1440 > 60;
  return duration((needsThree ? Math.ceil(whole / 60) * 60 : whole) * 60_000);
}

export function msSince(instant: string, { now }: Pick<Now, 'now'>): number {
  return now.epochMilliseconds - Temporal.Instant.from(instant).epochMilliseconds;
}

/** `12 s ago`, `in 48 s` */
export function distance(instant: string, view: Pick<Now, 'now'>): string {
  const ms = msSince(instant, view);
  if (Math.abs(ms) < 1000) return 'now';
  return ms < 0 ? `in ${duration(-ms)}` : `${duration(ms)} ago`;
}

/** `2026-11-21 11:05:08 EST (12 s ago)` */
export function momentAndDistance(instant: string, view: Now): string {
  return `${moment(instant, view)} (${distance(instant, view)})`;
}
