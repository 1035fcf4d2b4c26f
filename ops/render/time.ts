import { Temporal } from 'temporal-polyfill';

/** When and where somebody reads: dates are told in this zone. */
export interface Now {
  readonly now: Temporal.Instant;
  /** IANA name. */
  readonly zone: string;
}

/** `2026-11-21 11:05:08 EST` */
export function moment(instant: string, { zone }: Pick<Now, 'zone'>): string {
  const at = Temporal.Instant.from(instant).toZonedDateTimeISO(zone);
  const time = at.toPlainTime().toString({ smallestUnit: 'second' });
  return `${at.toPlainDate()} ${time} ${abbreviation(at)}`;
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

/** `350 ms`, `12 s`, `5 min`, `3 h 20 min`, `2 d 4 h`: the two largest units, rounded down. */
export function span(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 1000) return `${Math.ceil(milliseconds)} ms`;
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const units: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = units.findIndex(([number]) => number > 0);
  if (first < 0) return '0 s';
  // Seconds are of no interest beside hours or minutes.
  const shown = units.slice(first, Math.min(first + 2, first < 3 ? 3 : 4));
  return shown.flatMap(([number, unit]) => (number > 0 ? [`${number} ${unit}`] : [])).join(' ');
}

/** `12 s ago`, `in 48 s` */
export function distance(instant: string, { now }: Pick<Now, 'now'>): string {
  const ms = now.epochMilliseconds - Temporal.Instant.from(instant).epochMilliseconds;
  if (Math.abs(ms) < 1000) return 'now';
  return ms < 0 ? `in ${span(-ms)}` : `${span(ms)} ago`;
}

/** `2026-11-21 11:05:08 EST (12 s ago)` */
export function momentAndDistance(instant: string, view: Now): string {
  return `${moment(instant, view)} (${distance(instant, view)})`;
}
