import type { Clock } from '../clock.ts';
import type { Announcer } from '../ports/announcer.ts';
import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';
import type { Lease } from '../ports/state.ts';
import type { TickSettings } from '../settings.ts';
import type { TimeLimit } from './time-limit.ts';

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

export interface StepContext {
  readonly parts: TickParts;
  readonly limit: TimeLimit;
}

export interface LeasedContext extends StepContext {
  readonly lease: Lease;
}
