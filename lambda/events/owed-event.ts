import type { CertificationEvent } from './event.ts';

/**
 * An entry of a certification's outbox: an event that somebody has still to be told of.
 * After SNS has accepted it for the machines, the people's digest may be owed alone.
 */
export interface OwedEvent {
  readonly certificationId: number;
  readonly revision: number;
  readonly event: CertificationEvent;
  readonly owes: Debt;
}

export type Debt = 'event-and-digest' | 'digest';
