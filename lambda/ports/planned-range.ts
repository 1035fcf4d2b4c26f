import * as z from 'zod/mini';
import { position } from '../detection/baseline.ts';
import { plainDay } from '../detection/days.ts';
import { bookmark } from './partner-reader.ts';

/**
 * Days of the history that one task reads, in smaller ranges. All planned ranges have about as many
 * assessments.
 */
export const plannedRange = z.readonly(
  z.object({
    /** When its baseline began: the plan of an earlier baseline does not count. */
    begunAt: z.number(),
    from: plainDay,
    to: plainDay,
    /** Dates before `from` belong to it as well. */
    isOldest: z.exactOptional(z.literal(true)),
    /** Days that its first smaller range should have. */
    sliceDays: z.int().check(z.positive()),
  }),
);

export type PlannedRange = z.output<typeof plannedRange>;

/** How far a range has been read. No two ranges share a day. */
export const rangeProgress = z.readonly(
  z.extend(position, {
    isDone: z._default(z.boolean(), false),
    /** Certifications that its tasks have recorded. */
    recorded: z._default(z.int(), 0),
    bookmark: z.optional(bookmark),
  }),
);

export type RangeProgress = z.output<typeof rangeProgress>;
