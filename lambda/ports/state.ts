import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { activities } from '../detection/activity.ts';
import { position } from '../detection/baseline.ts';
import { dayTally } from '../detection/compare.ts';
import {
  type ConditionName,
  conditionNames,
  type OpenCondition,
  openCondition,
} from '../detection/conditions.ts';
import { plainDay } from '../detection/days.ts';
import { type GateMemory, gateMemory, nothingFound } from '../detection/gate.ts';
import { type Missing, missingInBrief, missingNoted } from '../detection/missing.ts';
import { paceKnown } from '../detection/pace.ts';
import { selfCheck } from '../detection/self-check.ts';
import { silenceNoted } from '../detection/silence.ts';
import { searchRange } from '../detection/worklist.ts';
import { bookmark } from './partner-reader.ts';

/** Written as milliseconds since the epoch. */
const instant = z.codec(z.number(), z.instanceof(Temporal.Instant), {
  decode: (milliseconds) => Temporal.Instant.fromEpochMilliseconds(milliseconds),
  encode: (at) => at.epochMilliseconds,
});

/** Where a read goes on that does not fit into one tick. */
const cursor = z.readonly(
  z.extend(bookmark, {
    /** The calendar's day that its range stands for; absent: it is one of the baseline. */
    day: z.exactOptional(z.iso.date()),
    /** What the partner counted for the range when this round began. */
    count: z.exactOptional(z.int()),
  }),
);

const digest = z.object({
  /** Before, nobody looks for the events. */
  dueAt: instant,
  /** When the last of them was delivered: until the index shows it, a look may miss it. */
  owedAt: instant,
});

const baseline = z.readonly(
  z
    .extend(position, {
      status: z.enum(['none', 'running', 'completed']),
      /** When, in milliseconds since the epoch: it tells a restarted one from the one before. */
      begunAt: z.exactOptional(z.number()),
      /** The day on which it began: what appears meanwhile from this day on is announced. */
      startDay: z.optional(plainDay),
      /** Of a range that does not fit into one tick. As another version wrote it: the range is read anew. */
      bookmark: z.optional(z.catch(z.optional(z.readonly(bookmark)), undefined)),
      /** It is completed, and operations are still to be told. */
      isNoticeOwed: z.exactOptional(z.boolean()),
      /** One was completed before: what the ledger does not know is news, on whatever day. */
      isAnew: z.optional(z.boolean()),
    })
    .check(z.refine(({ status, startDay }) => status === 'none' || startDay !== undefined)),
);

/** What AWS has denied the last tick. */
export const denialNoted = z.object({ at: z.string(), what: z.string(), whatToDo: z.string() });

/**
 * What one tick leaves for the next one: the state item of an integration. The schema is the only
 * list of its fields. What is absent is not there; nothing is null. All of it is small, so that a quiet
 * tick costs one read unit and one write unit.
 */
export const state = z.object({
  /** Key of the fingerprints' hashes; random, made once, never changed. */
  salt: z.string().check(z.minLength(1)),
  baseline: z._default(baseline, { status: 'none' }),
  /**
   * When the last tick took the lease that did not get to its end, or not everything out: some outbox
   * may owe events since. Not when the first of several did: the index lags behind the last.
   */
  dirtySince: z.optional(instant),
  /** End of the last tick that got there. */
  heartbeat: z.optional(z.string()),
  /** The last ticks and hourly sums: detection/activity.ts. As another version wrote it: none are known. */
  activity: z.optional(z.catch(z.optional(activities), undefined)),
  /** What the partner is expected to count: the calendar's sum. */
  expected: z._default(z.int(), 0),
  /** By how much the partner's total differs although no day does. */
  unexplained: z._default(z.int(), 0),
  /** Since when it differs by anything: milliseconds since the epoch. */
  unexplainedSince: z.optional(z.number()),
  /** Absent: nothing is missing, and nothing was withdrawn lately. */
  missing: z.optional(z.readonly(missingInBrief)),
  /** Changes of the day of the last tick that had any. */
  today: z.optional(dayTally),
  /**
   * Of the last pulse that was looked at. Empty: its page is to be compared again. Absent: something is left that it
   * showed, or that its total differed by.
   */
  pulseDigest: z.optional(z.string()),
  /** Years that the calendar has entries of. */
  years: z._default(z.readonly(z.set(z.int())), () => new Set<number>()),
  /** Of a day that does not fit into one tick. As another version wrote it: the day is read anew. */
  cursor: z.optional(z.catch(z.optional(cursor), undefined)),
  /** Among which days the search for a difference ran out of time. */
  searching: z.optional(searchRange),
  /** When days are to be read, also if nothing differs: milliseconds since the epoch. */
  dueAt: z._default(z.number(), 0),
  /** Before that, no audit of the history: earlier ones have spent what they may. Milliseconds since the epoch. */
  auditsFrom: z._default(z.number(), 0),
  /** From when on it is implausible that no certification comes. As another version wrote it: the next audit knows. */
  silence: z.optional(z.catch(z.optional(z.readonly(silenceNoted)), undefined)),
  /** After refusals in a row that a retry does not mend, so many, the partner is left alone for a while. */
  backOff: z.optional(z.readonly(z.object({ until: instant, failures: z.number() }))),
  /** Absent: the host has refused nothing lately, and little was asked of it. */
  pace: z.optional(paceKnown),
  /** Ops have stopped the integration. */
  paused: z._default(z.boolean(), false),
  /** Who, since when and why, as far as it was said. */
  pause: z.optional(
    z.readonly(z.object({ since: instant, by: z.optional(z.string()), reason: z.string() })),
  ),
  /** The call that paused or resumed last. */
  steeredBy: z.optional(z.string()),
  /** The tick or the call that holds the lease, at the longest until then. */
  leaseOwner: z.optional(z.string()),
  leaseUntil: z.optional(instant),
  denial: z.optional(z.readonly(denialNoted)),
  /** Of the last self-check: the operate function writes it, and ticks tell of it. */
  selfCheck: z.optional(z.readonly(selfCheck)),
  /** Quarantined records that have been reported. */
  reported: z._default(z.readonly(z.array(z.string())), []),
  /** When people are told of events that subscribers have already; absent: no event waits for a digest. */
  digest: z.optional(z.readonly(digest)),
  /** What operations have been told of, or are still to be. */
  conditions: z._default(z.map(z.enum(conditionNames), openCondition), new Map()),
});

/**
 * What only those have to know who hold the lease, who alone change it: an item of its own, because each
 * quiet tick pays for the state's size.
 */
export const memory = z.object({
  missing: z.optional(z.readonly(missingNoted)),
  /** As another version wrote it: nothing is remembered. */
  gate: z.catch(gateMemory, nothingFound),
  /**
   * Marks of rows of the newest page that are as the ledger has them. Gone while somebody has the lease: a tick that
   * dies may have changed some. As another version wrote it: none.
   */
  agreed: z.catch(z.optional(z.readonly(z.array(z.string()))), undefined),
});

export type State = Readonly<z.output<typeof state>>;

/** Both, as the holder of the lease knows them. */
export type LeasedState = Omit<State, 'missing'> & {
  readonly missing?: Missing | undefined;
  readonly gate: GateMemory;
  readonly agreed?: readonly string[] | undefined;
};
export type Baseline = State['baseline'];
export type Cursor = z.output<typeof cursor>;
export type Pause = NonNullable<State['pause']>;
export type DigestSchedule = NonNullable<State['digest']>;

/** What changes of a state, and of what is remembered beside it: fields that are not named stay, those that are `undefined` go. Each condition is one. */
export type StateChanges = Partial<Omit<LeasedState, 'conditions'>> & {
  readonly conditions?: ReadonlyMap<ConditionName, OpenCondition | undefined>;
};

/** The change that gives the lease back. */
export const noLease = { leaseOwner: undefined, leaseUntil: undefined };

export interface Lease {
  /** Identifies the tick. */
  readonly owner: string;
  readonly until: Temporal.Instant;
}
