import type { Clock } from '../../lambda/clock.ts';
import { Scheduled, type Timetable } from './timetable.ts';
import { World } from './world.ts';

/** What a sandbox that lives by a timetable is made of; it tells so to those who ask (`GET /timetable`). */
export interface ScheduledWorldOptions extends Timetable {
  /** Assessments in scope before the first change. */
  readonly records: number;
  /** IANA name of the partner's. */
  readonly timeZone: string;
  /** Last day of the invented history, `YYYY-MM-DD`: before the first change. */
  readonly until: string;
}

/** The world as of any moment can be made again by everybody who knows these options. */
export function scheduledWorld(options: ScheduledWorldOptions, clock: Clock) {
  const { seed, records, timeZone, until } = options;
  const world = new World({ seed, records, timeZone, until, clock });
  return { world, life: new Scheduled(world, options) };
}
