import type { Samples } from './samples.ts';
import type { CheckVerdict } from './verdict.ts';

/** One statement of the document that can be checked at a host by reading only. */
export interface ConformanceCheck {
  /** The statement in a few words, as it is true of a conforming host. */
  readonly name: string;
  /**
   * @throws {UnusablePageError} counts as a mismatch if the status is an unexpected one
   * @throws {PartnerError} counts as "not carried out"
   */
  readonly run: (samples: Samples) => Promise<CheckVerdict>;
}

/** A section of docs/partner.md. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly checks: readonly ConformanceCheck[];
}
