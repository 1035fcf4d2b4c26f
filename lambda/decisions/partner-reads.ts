import type { Assessment } from '../events/assessment.ts';
import type { Proof } from './calendar.ts';
import type { Bookmark } from './days.ts';
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

/** A record without a usable id or a valid day. */
export interface QuarantinedRecord {
  /** Present if at least the ID can be trusted. */
  readonly id?: number;
  /** Paths, each with its problem; no value of the record. */
  readonly problems: readonly string[];
}
