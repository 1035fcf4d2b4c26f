import { Temporal } from 'temporal-polyfill';
import type { View } from '../../ops/render/layout.ts';
import { type AdvisedStatus, activityFields, type TimedActivity } from '../../ops/render/status.ts';
import { amount, count, counts } from '../../ops/render/text.ts';
import { duration, moment, msSince } from '../../ops/render/time.ts';
import { activityChart, type Bar } from '../charts/activity.ts';
import type { Html } from '../html.ts';
import { html } from '../library.ts';

/** The work of the last ticks and hours; empty before the first tick. */
export function recentActivity(view: View, { activity, settings }: AdvisedStatus): Html {
  if (activity === undefined || activity.ticks.length === 0) return html``;
  const { ticks, hours } = activity;
  const everyMs = settings.every * 60_000;
  const ofTicks = ticks.map((tick, index): Bar => {
    const before = ticks[index + 1];
    const gapMs = before === undefined ? 0 : msBetween(before, tick);
    // A minute of tolerance: times are known to the minute, and ticks differ in length.
    const isLacking = gapMs - 60_000 > everyMs;
    return {
      ...tick,
      told: `${moment(tick.at, view, 'minute')}: ${told(tick)}`,
      gap: isLacking ? `${duration(gapMs)} without a tick that asked the partner` : undefined,
    };
  });
  const ofHours = hours.map(
    (hour): Bar => ({
      ...hour,
      told: `the hour from ${moment(hour.at, view, 'minute')}: ${told(hour)}`,
    }),
  );
  return html`<h2>Work of the ticks</h2>
<div class="columns"><div>${strip('ticks', lastOf(ticks.length, 'tick'), ofTicks)}</div>
<div>${strip('hours', lastOf(hours.length, 'hour'), ofHours)}</div></div>`;
}

function strip(id: string, title: string, newestFirst: readonly Bar[]): Html {
  const description = activityFields
    .map((field) => `${amount(newestFirst.reduce((sum, bar) => sum + bar[field], 0))} ${field}`)
    .join(', ');
  const chart = activityChart(newestFirst.toReversed(), { id, title, description });
  return html`<h3>${title}</h3><div class="scrolls" tabindex="0" role="region" aria-label="${title}">${chart}</div><p class="faint">${description}</p>`;
}

const lastOf = (number: number, noun: string) =>
  number === 1 ? `The last ${noun}` : `The last ${count(number, noun)}`;

const told = ({ requests, found, held, failed }: TimedActivity) =>
  `${count(requests, 'request')}, ${counts({ found, held, failed }, 'nothing found')}`;

const msBetween = (before: TimedActivity, after: TimedActivity) =>
  Temporal.Instant.from(after.at).epochMilliseconds -
  Temporal.Instant.from(before.at).epochMilliseconds;

/** When the next tick begins, estimated from the last one. */
export function nextTick(view: View, { lastTick, settings, paused }: AdvisedStatus): string {
  const everyMs = settings.every * 60_000;
  if (paused !== undefined) return 'none, it is paused';
  if (lastTick === undefined) return `within ${duration(everyMs)}`;
  const leftMs = everyMs - msSince(lastTick, view);
  return leftMs > 0 ? `within ${duration(Math.ceil(leftMs / 1_000) * 1_000)}` : 'now';
}
