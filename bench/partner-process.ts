import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { startPartnerSandbox } from '../local/partner-sandbox/index.ts';
import { ManualClock } from '../test/scaffold/clock.ts';
import { endWithParent, input, report } from './child.ts';
import { now, timeZone } from './settings.ts';

/** The partner sandbox in its own process, with a world of the wanted size. */
const wanted = input(
  z.object({
    /** Records over the two years until `until`, and then until `last`, mostly on school days. */
    records: z.int(),
    until: z.string(),
    further: z.object({ records: z.int(), last: z.string() }).optional(),
  }),
);
const { records, until, further } = wanted;
const sandbox = await startPartnerSandbox({
  records,
  until,
  timeZone,
  clock: new ManualClock(now),
});

/** Weekends get a seventh of their share, as in the sandbox's own history. */
const weightOf = (day: Temporal.PlainDate) => (day.dayOfWeek > 5 ? 0.15 : 1.34);

if (further !== undefined) {
  const first = Temporal.PlainDate.from(until).add({ days: 1 });
  const length = first.until(further.last, { largestUnit: 'days' }).days + 1;
  const days = Array.from({ length }, (_, after) => first.add({ days: after }));
  const all = days.reduce((sum, day) => sum + weightOf(day), 0);
  let due = 0;
  let added = 0;
  for (const day of days) {
    due += (further.records * weightOf(day)) / all;
    for (; added < Math.round(due); added++) sandbox.world.add({ certified_on: day.toString() });
  }
}

endWithParent();
report({ url: sandbox.url, credentials: sandbox.credentials });
