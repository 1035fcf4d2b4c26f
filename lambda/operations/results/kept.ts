import * as z from 'zod/mini';
import { discardCommand, holdsCommand, releaseCommand } from '../command.ts';
import { byKind, count, instant, kind, pause } from './common.ts';

const keptTally = z.object({
  events: count,
  certifications: count,
  byType: byKind,
  /** Null: of records without an organization. */
  byOrganization: z.array(z.object({ organization_id: z.nullable(z.int()), events: count })),
  byYear: z.array(z.object({ year: z.int(), events: count })),
  /** When the oldest and the newest of them were committed. */
  oldest: z.optional(instant),
  newest: z.optional(instant),
});

const keptEvent = z.object({
  /** Of the assessment: what `ids` takes. */
  id: z.int(),
  revision: count,
  type: kind,
  /** When it was committed. */
  since: instant,
  /** With which SNS has refused it for good. */
  code: z.optional(z.string()),
});

/** Of one call: the sums over `next` are the caller's. */
export const holdsResult = z.extend(keptTally, {
  /** When this was looked at: as `until`, it keeps a release to what was seen. */
  at: instant,
  /** Outboxes that cannot be read. */
  unreadable: count,
  /** With `list`, the oldest first. */
  list: z.optional(z.array(keptEvent)),
  next: z.optional(holdsCommand),
});

export const releaseResult = z.object({
  /** Released; of undeliverable ones, to be tried again. */
  events: count,
  byType: byKind,
  /** Selected, and still held because an earlier event of the same certification is. */
  behind: count,
  /** Not selected, and held no longer because what they were behind is decided: they go out. */
  freed: count,
  unreadable: count,
  /** Until then, nothing new is held. */
  openUntil: z.optional(instant),
  /** The integration is paused: what is released goes out when it is resumed. */
  paused: z.optional(pause),
  next: z.optional(releaseCommand),
});

export const discardResult = z.extend(
  z.omit(releaseResult, { behind: true, openUntil: true, paused: true }),
  {
    next: z.optional(discardCommand),
  },
);
