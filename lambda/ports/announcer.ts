import type { Temporal } from 'temporal-polyfill';
import type { Denial } from '../access-denied.ts';
import type { CertificationEvent } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';

/** What the tick needs of SNS. It throws nothing: refusals and outages are answers, not exceptions. */
export interface Announcer {
  /**
   * To the machines, oldest first, retried until the deadline if need be. Answers which events SNS has
   * accepted, and why it refused the others. Of one subject, none goes out before an earlier one.
   *
   * @param onAccepted told of each batch that was accepted, before another one is sent in its place. What it
   * throws is thrown once nothing is under way any more.
   */
  publish(
    owed: readonly OwedEvent[],
    deadline: Temporal.Instant,
    onAccepted?: OnAccepted,
  ): Promise<PublishOutcome>;
  /** To the people: one digest of these events, of which `forDigest` has kept what it shows. */
  tellPeople(events: readonly CertificationEvent[]): Promise<DigestOutcome>;
  /** To ops: something that they should know, or do. */
  notify(notice: Notice): Promise<DigestOutcome>;
}

export type OnAccepted = (accepted: readonly OwedEvent[]) => Promise<void>;

/** A plain-text notice to the operations topic. No personal data. */
export interface Notice {
  readonly subject: string;
  readonly text: string;
  /** The same apart, for where it is not shown as a mail. */
  readonly parts?: NoticeParts;
}

interface NoticeParts {
  readonly severity: 'trouble' | 'over' | 'news';
  readonly about: readonly string[];
  /** Commands in backticks. */
  readonly steps: readonly string[];
}

export interface PublishOutcome {
  readonly accepted: readonly OwedEvent[];
  readonly refused: readonly Refusal[];
  /** Why nothing more was sent: SNS is down, or time is up. What else is to be published waits for the next tick. */
  readonly stopped?: string | undefined;
  /** What a refusal for want of permission says. */
  readonly denial?: Denial | undefined;
}

export interface Refusal {
  readonly owed: OwedEvent;
  /** SNS's error code, or the name of what kept the request from being answered. */
  readonly code: string;
  /** SNS will never take it as it is. */
  readonly forGood?: boolean;
}

export type DigestOutcome =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      readonly code: string;
      readonly denial?: Denial | undefined;
    };
