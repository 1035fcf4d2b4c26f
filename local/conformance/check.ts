import type { Samples } from './samples.ts';
import type { Verdict } from './verdict.ts';

/** One statement of the document that can be held against a host by reading alone. */
export interface Check {
  /** The statement in a few words, as it is true of a host that conforms. */
  readonly name: string;
  /**
   * @throws {UnusablePageError} taken as a mismatch if the status is none that was asked for
   * @throws {PartnerError} taken as "not carried out"
   */
  readonly run: (samples: Samples) => Promise<Verdict>;
}

/** A section of docs/partner.md. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly checks: readonly Check[];
}
