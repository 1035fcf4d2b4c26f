import type { Temporal } from 'temporal-polyfill';
import type { OpenConditions } from '../detection/conditions.ts';
import type { DayTally } from '../detection/day-tally.ts';
import type { GateMemory } from '../detection/gate.ts';
import type { Missing } from '../detection/missing.ts';
import type { Pace } from '../detection/pace.ts';
import type { Searching } from '../detection/worklist.ts';
import type { Bookmark } from './partner-reader.ts';

/** What one tick knows of an integration before it looks at the partner. */
export interface State {
  /** Key of the fingerprints' hashes. */
  readonly salt: string;
  readonly baseline: Baseline;
  /**
   * When the last tick took the lease that did not get to its end, or not everything out: some outbox
   * may owe events since. Not when the first of several did: the index lags behind the last.
   */
  readonly dirtySince?: Temporal.Instant;
  /** End of the last tick that got there. */
  readonly heartbeat?: string;
  /** What the partner is expected to count: the calendar's sum. */
  readonly expected: number;
  /** By how much the partner's total differs although no day does. */
  readonly unexplained: number;
  /** Since when it differs by anything: milliseconds since the epoch. */
  readonly unexplainedSince?: number;
  /**
   * The last tick that looked has not found everything that the total differed by, or could not commit
   * something. Audits that it had no time for do not count.
   */
  readonly hasMoreToFind: boolean;
  /** Absent: nothing is missing, and nothing was withdrawn lately. */
  readonly missing?: Missing;
  /** Changes of the day of the last tick that had any. */
  readonly today?: DayTally;
  /** Of the last pulse in which nothing was left to do. */
  readonly pulseDigest?: string;
  /** Years that the calendar has entries of. */
  readonly years: readonly number[];
  /** Of a day that does not fit into one tick. */
  readonly bookmark?: Cursor;
  /** Among which days the search for a difference ran out of time. */
  readonly trail?: Searching;
  readonly gate: GateMemory;
  /** Milliseconds since the epoch. */
  readonly recentAuditAt: number;
  readonly historyAuditAt: number;
  /** Before that, no audit: earlier ones have taken more requests than they may. */
  readonly auditsFrom: number;
  readonly backOff?: BackOff;
  /** Absent: the host has refused nothing lately, and little was asked of it. */
  readonly pace?: Pace;
  /** Ops have stopped the integration. */
  readonly paused: boolean;
  /** Who, since when and why, as far as it was said. */
  readonly pause?: Pause;
  /** Somebody holds the lease, at the longest until then. */
  readonly leasedUntil?: Temporal.Instant;
  /** Quarantined records that have been reported. */
  readonly reported: readonly string[];
  /** What operations have been told of, or are still to be. */
  readonly conditions: OpenConditions;
  /** Absent when no event waits for a digest. */
  readonly digest?: DigestSchedule;
}

/** Where a read goes on that does not fit into one tick. */
export interface Cursor extends Bookmark {
  /** The calendar's day that its range stands for; absent: it is a slice of the baseline. */
  readonly day?: string;
  /** What the partner counted for the range when this round began. */
  readonly count?: number;
}

/** When people are told of events that subscribers have already. */
export interface DigestSchedule {
  /** Before, nobody looks for them. */
  readonly dueAt: Temporal.Instant;
  /** When the last of them was delivered: until the index shows it, a look may miss it. */
  readonly owedAt: Temporal.Instant;
}

export interface Pause {
  readonly since: Temporal.Instant;
  readonly by?: string | undefined;
  readonly reason: string;
}

export interface Baseline {
  readonly status: 'none' | 'running' | 'completed';
  /** When, in milliseconds since the epoch: it tells a restarted one from the one before. */
  readonly begunAt?: number;
  /** The day on which it began: what appears meanwhile from this day on is announced. */
  readonly startDay?: Temporal.PlainDate;
  /** Days before this one are still to be read: it proceeds from the newest to the oldest. */
  readonly before?: Temporal.PlainDate;
  /** Days that the next slice should have; less than one while a single day cannot be read. */
  readonly sliceDays?: number;
  /** Of a slice that does not fit into one tick. */
  readonly bookmark?: Bookmark;
  /** It is completed, and operations could not be told yet. */
  readonly isNoticeOwed?: boolean;
  /** One was completed before: what the ledger does not know is news, on whatever day. */
  readonly isAnew?: boolean;
}

/** After a refusal that a retry does not mend, the partner is left alone for a while. */
export interface BackOff {
  readonly until: Temporal.Instant;
  /** Refusals in a row. */
  readonly failures: number;
}

export interface Lease {
  /** Identifies the tick. */
  readonly owner: string;
  readonly until: Temporal.Instant;
}

/** What a tick changes of the state at its end. What is absent stays. */
export interface StateChanges {
  /** `false` only when nothing is owed for certain. */
  readonly dirty: boolean;
  /** If only an earlier tick has left something: since then, and not since this one took the lease. */
  readonly dirtySince?: Temporal.Instant;
  readonly hasMoreToFind?: boolean;
  readonly baseline?: Baseline;
  readonly expected?: number;
  readonly unexplained?: number;
  /** `null`: it is explained. */
  readonly unexplainedSince?: number | null;
  /** `null`: nothing any more. */
  readonly missing?: Missing | null;
  readonly today?: DayTally;
  readonly pulseDigest?: string;
  /** `null`: none any more. */
  readonly bookmark?: Cursor | null;
  /** `null`: none any more. */
  readonly trail?: Searching | null;
  readonly gate?: GateMemory;
  readonly recentAuditAt?: number;
  readonly historyAuditAt?: number;
  readonly auditsFrom?: number;
  readonly reported?: readonly string[];
  /** `null`: nothing waits for a digest any more. */
  readonly digest?: DigestSchedule | null;
}
