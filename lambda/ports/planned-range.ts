import * as z from 'zod/mini';
import { position } from '../detection/baseline.ts';
import { plainDay } from '../detection/days.ts';
import { bookmark } from './partner-reader.ts';

/** Days of the history that one task reads, range by range: about so many assessments as all others. */
export const plannedRange = z.readonly(
  z.object({
    /** Of the baseline that it belongs to: one that was restarted is read anew. */
    begunAt: z.number(),
    from: plainDay,
    to: plainDay,
    /** What is dated before `from` belongs to it as well. */
    isOldest: z.exactOptional(z.literal(true)),
    /** Days that its first range should have. */
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
