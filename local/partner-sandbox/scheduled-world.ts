import * as z from 'zod';
import type { Clock } from '../../lambda/clock.ts';
import { Scheduled, type Timetable } from './timetable.ts';
import { World } from './world.ts';

/** A world that changes by a timetable. The sandbox publishes the timetable (`GET /timetable`). */
export const scheduledWorldSchema = z.object({
  seed: z.int().min(0),
  since: z.number(),
  everySeconds: z.number().positive(),
  /** Assessments in scope before the first change. */
  records: z.int().min(0),
  /** The partner's time zone: an IANA name. */
  timeZone: z.string(),
  /** Last day of the invented history, `YYYY-MM-DD`: before the first change. */
  until: z.iso.date(),
}) satisfies z.ZodType<Timetable>;

export type ScheduledWorldOptions = Readonly<z.output<typeof scheduledWorldSchema>>;

/** Any process with these options can compute the world at any moment. */
export function scheduledWorld(options: ScheduledWorldOptions, clock: Clock) {
  const { seed, records, timeZone, until } = options;
  const world = new World({ seed, records, timeZone, until, clock });
  return { world, life: new Scheduled(world, options) };
}
