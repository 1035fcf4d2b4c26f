import type { CertificationEvent } from './event.ts';

/**
 * An entry of a certification's outbox: an event that subscribers or people are still to get. After
 * SNS has accepted it for subscribers, only the people's digest may be owed.
 */
export interface OwedEvent {
  readonly certificationId: number;
  readonly revision: number;
  readonly event: CertificationEvent;
  readonly owes: Debt;
}

export type Debt = 'event-and-digest' | 'digest';
