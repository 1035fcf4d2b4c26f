import type { Clock } from '../clock.ts';
import type { RecentWindow } from '../decisions/days.ts';
import type { Announcer } from '../ports/announcer.ts';
import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';
import type { Lease, LeasedState } from '../ports/state.ts';
import type { TickSettings } from '../settings.ts';
import type { Done, Fact } from './done.ts';

export interface TickParts {
  readonly settings: TickSettings;
  readonly clock: Clock;
  readonly partner: PartnerReader;
  readonly ledger: Ledger;
  readonly announcer: Announcer;
  readonly journal: Journal;
  /** Begins to measure; the returned function reports the effort since then. */
  measure(): () => Effort;
}

export interface Effort {
  /** Requests to the partner, token requests included. */
  readonly requests: number;
  readonly durationMs: number;
}

/** A tick has these while it holds the lease. */
export interface Leased {
  readonly lease: Lease;
  /** From before the lease was written; after a crash, caught up with the calendar. */
  readonly state: LeasedState;
  readonly window: RecentWindow;
}

export type LeasedParts = TickParts & Leased;

/**
 * A step asks ports, and hands back each fact as soon as it is one: a failure loses none. It gets
 * the fold of all facts so far in return, which a `yield` without a fact asks for, and keeps nothing.
 */
export type Step<End = void> = AsyncGenerator<Fact | undefined, End, Done>;
