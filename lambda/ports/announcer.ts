import type { Temporal } from 'temporal-polyfill';
import type { Denial } from '../access-denied.ts';
import type { CertificationEvent } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';

/** The tick's port to SNS. It throws nothing: refusals and outages are answers, not exceptions. */
export interface Announcer {
  /**
   * Sends events to subscribers, oldest first, with retries until the deadline. Within one subject,
   * no event goes out before an earlier one.
   *
   * @param onAccepted called with each accepted batch before another one is sent in its place; its
   * error is thrown once nothing is under way any more
   * @returns the events that SNS has accepted, and why it refused the others
   */
  publish(
    owed: readonly OwedEvent[],
    deadline: Temporal.Instant,
    onAccepted?: OnAccepted,
  ): Promise<PublishOutcome>;
  /** Sends people one digest of these events, which `forDigest` has reduced. */
  tellPeople(events: readonly CertificationEvent[]): Promise<DigestOutcome>;
  /** Sends ops a notice. */
  notify(notice: Notice): Promise<DigestOutcome>;
}

export type OnAccepted = (accepted: readonly OwedEvent[]) => Promise<void>;

/** A plain-text notice to the operations topic. No personal data. */
export interface Notice {
  readonly subject: string;
  readonly text: string;
  /** The same content in parts, for outputs other than mail. */
  readonly parts?: NoticeParts;
}

interface NoticeParts {
  readonly severity: 'trouble' | 'over' | 'news';
  readonly about: readonly string[];
  /** Commands are in backticks. */
  readonly steps: readonly string[];
}

export interface PublishOutcome {
  readonly accepted: readonly OwedEvent[];
  readonly refused: readonly Refusal[];
  /**
   * Why nothing more was sent: SNS is down, or time is up. The other events wait for the next tick.
   */
  readonly stopped?: string | undefined;
  /** The denial, if a permission is missing. */
  readonly denial?: Denial | undefined;
}

export interface Refusal {
  readonly owed: OwedEvent;
  /** SNS's error code, or the name of the error if no answer came. */
  readonly code: string;
  /** SNS will never accept it as it is. */
  readonly forGood?: boolean;
}

export type DigestOutcome =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      readonly code: string;
      readonly denial?: Denial | undefined;
    };
