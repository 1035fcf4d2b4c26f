import * as z from 'zod';
import { discardCommand, holdsCommand, releaseCommand } from '../command.ts';
import { byKind, count, instant } from './common.ts';

const keptTally = z.object({
  events: count,
  certifications: count,
  byType: byKind,
  byOrganization: z.array(z.object({ organization_id: z.int(), events: count })),
  byYear: z.array(z.object({ year: z.int(), events: count })),
  /** When the oldest and the newest of them were committed. */
  oldest: instant.optional(),
  newest: instant.optional(),
});

/** Of one call: the sums over `next` are the caller's. */
export const holdsResult = keptTally.extend({
  /** When this was looked at: as `until`, it keeps a release to what was seen. */
  at: instant,
  /** Outboxes that cannot be read. */
  unreadable: count,
  next: holdsCommand.optional(),
});

export const releaseResult = z.object({
  /** Released; of undeliverable ones, to be tried again. */
  events: count,
  byType: byKind,
  /** Selected, and still held because an earlier event of the same certification is. */
  behind: count,
  unreadable: count,
  next: releaseCommand.optional(),
});

export const discardResult = releaseResult
  .omit({ behind: true })
  .extend({ next: discardCommand.optional() });
