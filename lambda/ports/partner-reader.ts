import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { Proof } from '../decisions/calendar.ts';
import { type DayRange, dayRange } from '../decisions/days.ts';
import type { Pulse } from '../decisions/fingerprint.ts';
import type { RequestPace } from '../decisions/pace.ts';
import type { Assessment } from '../events/assessment.ts';

/**
 * The tick's port to the partner.
 *
 * @throws PartnerError (`pace-spent` or `rate-limited` if the pace is spent; `out-of-time` if the
 * given deadline cut it off), or the errors of the credentials' source (CredentialsNotSetError,
 * CredentialsMalformedError, SecretUnreadableError)
 */
export interface PartnerReader {
  readonly pace: RequestPace;
  /** The newest page, unfiltered: one request. */
  pulse(deadline: Temporal.Instant): Promise<PulseRead>;
  /**
   * The other end of the newest day: the last page in ascending order. Where ties follow the id, it
   * has the new rows of a day with more than a page. One request.
   */
  tail(pulse: PulseRead, deadline: Temporal.Instant): Promise<PulseRead>;
  /** How many assessments the partner counts for these days: one request. */
  count(range: DayRange, deadline: Temporal.Instant): Promise<number>;
  /** Day of the oldest assessment; `undefined` when there is none: one request. */
  oldestDay(deadline: Temporal.Instant): Promise<Temporal.PlainDate | undefined>;
  /**
   * Reads these days, and proves that it saw everything, if it can.
   *
   * @param bookmark where an earlier read of the same range ran out of time: this one resumes there
   */
  prove(range: DayRange, deadline: Temporal.Instant, bookmark?: Bookmark): Promise<RangeRead>;
  /** One assessment; `undefined` on 404, `unreadable` when it has no usable id or no valid day. */
  get(id: number, deadline: Temporal.Instant): Promise<Assessment | 'unreadable' | undefined>;
}

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
  /** It is proven, or its answers do not contradict each other: decisions/days-read.ts, `hasRead`. */
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
