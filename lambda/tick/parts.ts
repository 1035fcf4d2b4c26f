import type { Clock } from '../clock.ts';
import type { Announcer } from '../ports/announcer.ts';
import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';
import type { TickSettings } from '../settings.ts';
import type { Done, Fact, Leased } from './done.ts';

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

/**
 * - `completed`: everything that there was time for is done.
 * - `baseline`: this tick worked on the baseline.
 * - `busy`: another tick is at work.
 * - `paused`: ops have paused the integration.
 * - `backing-off`: the partner has just refused this integration, or the pace left no room for a
 * pulse.
 * - `no-credentials`: none have been stored yet, and no tick has ever completed.
 * - `disturbed`: a failure blocks every tick, but may end by itself; ops are not told yet.
 */
export type Outcome =
  | 'completed'
  | 'baseline'
  | 'busy'
  | 'paused'
  | 'backing-off'
  | 'no-credentials'
  | 'disturbed';

export type LeasedParts = TickParts & Leased;

/**
 * A step asks ports, and hands back each fact as soon as it is one: a failure loses none. It gets
 * the fold of all facts so far in return, which a `yield` without a fact asks for, and keeps nothing.
 */
export type Step<End = void> = AsyncGenerator<Fact | undefined, End, Done>;
