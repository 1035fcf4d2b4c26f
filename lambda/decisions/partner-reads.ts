import * as z from 'zod/mini';
import type { Assessment } from '../events/assessment.ts';
import type { Proof } from './calendar.ts';
import { dayRange } from './days.ts';
import type { Pulse } from './fingerprint.ts';

export interface PulseRead extends Pulse {
  readonly quarantined: readonly QuarantinedRecord[];
}

export interface RangeRead {
  /** Every assessment seen, as last read; more than once if one page showed it so. */
  readonly assessments: readonly Assessment[];
  /** Other versions of these, which other pages of the read showed. */
  readonly others?: readonly Assessment[];
  /** Records that cannot be announced: where there are any, nothing is proven. */
  readonly quarantined: readonly QuarantinedRecord[];
  /** The partner's last count of the range. */
  readonly count: number;
  /** Absent: the read may have overlooked records. */
  readonly proof?: Proof['kind'];
  /** It is proven, or its answers do not contradict each other: days-read.ts, `hasRead`. */
  readonly isRead: boolean;
  /** The read ended because time or pace ran out, not because of the host or of tied names. */
  readonly isCutOff: boolean;
  /** Where a read that was cut off can resume. */
  readonly bookmark?: Bookmark;
  readonly requests: number;
}

/** Where in its list by name the read of a range resumes that does not fit into one tick. */
export const bookmark = z.object({
  range: dayRange,
  offset: z.int(),
  /** The next page must show one of these ids. */
  anchors: z.readonly(z.array(z.int())),
  /** The rest can be read but not proven, so no anchor is needed. */
  isSweep: z.exactOptional(z.boolean()),
  /** The partner's count of the range when the read began. */
  count: z.exactOptional(z.int()),
  /** It has shown fewer different ids than places of the list. */
  isContradicted: z.exactOptional(z.boolean()),
});

export type Bookmark = Readonly<z.output<typeof bookmark>>;

/** A record without a usable id or a valid day. */
export interface QuarantinedRecord {
  /** Present if at least the ID can be trusted. */
  readonly id?: number;
  /** Paths, each with its problem; no value of the record. */
  readonly problems: readonly string[];
}

/** Where a read resumes that does not fit into one tick. */
export const cursor = z.readonly(
  z.extend(bookmark, {
    /** The calendar's day that its range stands for; absent: it is a range of the baseline. */
    day: z.exactOptional(z.iso.date()),
  }),
);

export type Cursor = z.output<typeof cursor>;
