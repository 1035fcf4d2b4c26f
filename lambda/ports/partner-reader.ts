import type { Temporal } from 'temporal-polyfill';
import type { Bookmark, DayRange } from '../decisions/days.ts';
import type { RequestPace } from '../decisions/pace.ts';
import type { PulseRead, RangeRead } from '../decisions/partner-reads.ts';
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
