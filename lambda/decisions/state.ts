import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { activities } from './activity.ts';
import { baseline } from './baseline.ts';
import { dayTally } from './compare.ts';
import {
  type ConditionName,
  conditionNames,
  type OpenCondition,
  openCondition,
} from './conditions.ts';
import { cursor, instant } from './days.ts';
import { rulesNoted } from './fingerprint.ts';
import { type GateMemory, gateLook, gateMemory, nothingFound } from './gate.ts';
import { type Missing, missingInBrief, missingNoted } from './missing.ts';
import { backOff, paceKnown } from './pace.ts';
import { selfCheck } from './self-check.ts';
import { silenceNoted } from './silence.ts';
import { type Twins, twins } from './twins.ts';
import { searchRange } from './worklist.ts';

const digest = z.object({
  /** No tick looks for the events before then. */
  dueAt: instant,
  /** When the last of them was delivered: until the index shows it, a look may miss it. */
  owedAt: instant,
});

/** The last denial by AWS. */
export const denialNoted = z.object({ at: z.string(), what: z.string(), whatToDo: z.string() });

/**
 * The state item of an integration: the facts that one tick leaves for the next one. The schema is
 * the only list of its fields. An absent field has no value; nothing is null. All of it is small,
 * so that a quiet tick costs one read unit and one write unit.
 */
export const state = z.object({
  /** Key of the fingerprints' hashes; random, made once, never changed. */
  salt: z.string().check(z.minLength(1)),
  /** The rules by which the last tick made hashes, and since when ticks have. */
  rules: z.optional(z.readonly(rulesNoted)),
  baseline: z._default(baseline, { status: 'none' }),
  /**
   * Since when some outbox may owe events: when the last tick took the lease that did not end, or
   * did not deliver everything. Of several such ticks it is the last, since the index lags behind
   * the last.
   */
  dirtySince: z.optional(instant),
  /** When the last tick ended that came to its end. */
  heartbeat: z.optional(z.string()),
  /**
   * The last ticks and hourly sums (decisions/activity.ts). In another version's form they are
   * dropped.
   */
  activity: z.optional(z.catch(z.optional(activities), undefined)),
  /** The partner's expected total: the calendar's sum. */
  expected: z._default(z.int(), 0),
  /** The number of days that the baseline could not read; absent: none. */
  unread: z.optional(z.int()),
  /** By how much the partner's total differs although no day does. */
  unexplained: z._default(z.int(), 0),
  /** Since when it differs by this number: milliseconds since the epoch. */
  unexplainedSince: z.optional(z.number()),
  /** Absent: nothing is missing, and nothing was withdrawn lately. */
  missing: z.optional(z.readonly(missingInBrief)),
  /** The changes of one day: that of the last tick with any. */
  today: z.optional(dayTally),
  /**
   * The digest of the last pulse that was looked at. Empty: its page must be compared again.
   * Absent: a change that it showed, or a difference of its total, is left.
   */
  pulseDigest: z.optional(z.string()),
  /** Years that the calendar has entries of. */
  years: z._default(z.readonly(z.set(z.int())), () => new Set<number>()),
  /**
   * Where the read of a day resumes. In another version's form it is dropped, and the day is read
   * anew.
   */
  cursor: z.optional(z.catch(z.optional(cursor), undefined)),
  /** The days among which the search for a difference ran out of time. */
  searching: z.optional(searchRange),
  /** When days are due even if nothing differs: milliseconds since the epoch. */
  dueAt: z._default(z.number(), 0),
  /**
   * No audit of the history before then: earlier audits have spent their requests. Milliseconds
   * since the epoch.
   */
  auditsFrom: z._default(z.number(), 0),
  /** Absent: nothing is held for the total alone. In another version's form: as soon as possible. */
  gateLook: z.optional(z.catch(gateLook, 0)),
  /**
   * The facts that tell an implausible silence. In another version's form they are dropped until
   * the next audit.
   */
  silence: z.optional(z.catch(z.optional(z.readonly(silenceNoted)), undefined)),
  backOff: z.optional(backOff),
  /** Absent: the host has refused nothing lately, and little was asked of it. */
  pace: z.optional(paceKnown),
  /** Ops have paused the integration. */
  paused: z._default(z.boolean(), false),
  /** Who paused it, since when and why, as far as that was said. */
  pause: z.optional(
    z.readonly(z.object({ since: instant, by: z.optional(z.string()), reason: z.string() })),
  ),
  /** The last call that paused or resumed it. */
  steeredBy: z.optional(z.string()),
  /** The tick or the call that holds the lease, until `leaseUntil` at the longest. */
  leaseOwner: z.optional(z.string()),
  leaseUntil: z.optional(instant),
  /** When it was taken, by the holder's clock. */
  leaseTakenAt: z.optional(instant),
  /** When a reader doubted it first, by that reader's clock (decisions/lease.ts). */
  leaseDoubtedAt: z.optional(instant),
  denial: z.optional(z.readonly(denialNoted)),
  /** The last self-check: the operate function writes it, and ticks tell ops. */
  selfCheck: z.optional(z.readonly(selfCheck)),
  /** Quarantined records that have been reported. */
  reported: z._default(z.readonly(z.array(z.string())), []),
  /**
   * The schedule of the next digest, which lists events that subscribers have already; absent: no
   * event waits for a digest.
   */
  digest: z.optional(z.readonly(digest)),
  /** Conditions that ops were told of, or are still to be told of. */
  conditions: z._default(z.map(z.enum(conditionNames), openCondition), new Map()),
});

/**
 * The memory that only the holder of the lease needs, and alone changes. It is an item of its own,
 * because each quiet tick pays for the state's size.
 */
export const memory = z.object({
  missing: z.optional(z.readonly(missingNoted)),
  /** In another version's form it is dropped. */
  gate: z.catch(gateMemory, nothingFound),
  /**
   * Marks of rows of the newest page that agree with the ledger. They are gone while a tick has the
   * lease, since a tick that dies may have changed some rows. In another version's form they are
   * dropped.
   */
  agreed: z.catch(z.optional(z.readonly(z.array(z.string()))), undefined),
  /** Ids that the partner shows twice. In another version's form they are dropped. */
  twins: z.catch(z.optional(twins), undefined),
});

export type State = Readonly<z.output<typeof state>>;

/** The state and the memory, for the holder of the lease. */
export type LeasedState = Omit<State, 'missing'> & {
  readonly missing?: Missing | undefined;
  readonly gate: GateMemory;
  readonly agreed?: readonly string[] | undefined;
  readonly twins?: Twins | undefined;
};
export type Pause = NonNullable<State['pause']>;
export type DigestSchedule = NonNullable<State['digest']>;

/**
 * Changes of the state and the memory. Absent fields stay, and `undefined` removes a field. Each
 * condition is a field of its own.
 */
export type StateChanges = Partial<Omit<LeasedState, 'conditions'>> & {
  readonly conditions?: ReadonlyMap<ConditionName, OpenCondition | undefined>;
};

/** The change that gives the lease back. */
export const noLease = {
  ...{ leaseOwner: undefined, leaseUntil: undefined },
  ...{ leaseTakenAt: undefined, leaseDoubtedAt: undefined },
};

export interface Lease {
  /** Identifies the tick. */
  readonly owner: string;
  readonly until: Temporal.Instant;
}
