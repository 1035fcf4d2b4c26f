import { createHash } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import type { Baseline } from '../decisions/baseline.ts';
import type { Calendar } from '../decisions/calendar.ts';
import type { Change } from '../decisions/compare.ts';
import type {
  ConditionName,
  Observation,
  Observations,
  OpenCondition,
  OpenConditions,
} from '../decisions/conditions.ts';
import type { Cursor, RecentWindow } from '../decisions/days.ts';
import type { DigestNews } from '../decisions/digest-schedule.ts';
import type { AuditPlan } from '../decisions/due.ts';
import { oddPaths } from '../decisions/fingerprint.ts';
import {
  concludedGate,
  type GateLook,
  type GateMemory,
  nothingFound,
  type Outlook,
} from '../decisions/gate.ts';
import { type Missing, nothingMissing } from '../decisions/missing.ts';
import { type Blocked, blockedBy, pauseSeen } from '../decisions/observations.ts';
import type { PulseRead, QuarantinedRecord } from '../decisions/partner-reads.ts';
import { selfCheckSeen } from '../decisions/self-check.ts';
import type { Silence } from '../decisions/silence.ts';
import type { DigestSchedule, Lease, LeasedState, State } from '../decisions/state.ts';
import type { Twins } from '../decisions/twins.ts';
import type { Searching } from '../decisions/worklist.ts';
import { forDigest } from '../delivery/digest.ts';
import { NotifierError } from '../errors.ts';
import type { Assessment } from '../events/assessment.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { WaitsForOps } from '../ports/ledger.ts';
import { atBoundary, reserving, type Time } from './time.ts';

/** A tick has these while it holds the lease. */
export interface Leased {
  readonly lease: Lease;
  /** From before the lease was written; after a crash, caught up with the calendar. */
  readonly state: LeasedState;
  readonly window: RecentWindow;
}

/**
 * Limit for one digest: its events must be settled within the same tick. The rest waits for the
 * next tick's digest.
 */
const mostInOneMail = 20_000;

export interface ChangeTally {
  readonly created: number;
  readonly updated: number;
  readonly withdrawn: number;
  readonly restored: number;
  /** Recorded by the baseline, not announced. */
  readonly recorded: number;
  /** Changes that another tick had committed first. */
  readonly conflicts: number;
  readonly held: number;
}

export interface DeliveryTally {
  readonly delivered: number;
  /** Committed, and not accepted by SNS yet: the next tick tries again. */
  readonly undelivered: number;
  /** Refused by SNS for good and set aside for ops. */
  readonly undeliverable: number;
}

/**
 * The events that a tick has taken out of the outboxes under its lease, and those that must wait.
 *
 * A crash between two steps repeats events under the same ids, and never loses one.
 */
export interface Delivery extends DeliveryTally {
  /** SNS accepts nothing, or time ran out: owed events wait for the next tick. */
  readonly isStopped: boolean;
  /** Certifications whose events this tick has sent; their outboxes may not say so yet. */
  readonly sent: ReadonlySet<number>;
  /** Certifications with an event that was refused or had to wait in this tick. */
  readonly waiting: ReadonlySet<number>;
  /** All that earlier ticks have left is taken up: only then a tick that fails sends a digest. */
  readonly isInherited: boolean;
  /** The digest goes out at the end of this tick. */
  readonly isMailDue: boolean;
  /** Delivered events that the digest will list. */
  readonly toTell: readonly OwedEvent[];
  /** Whether earlier ticks left events for the digest. `more`: one digest is too small for all. */
  readonly left: Exclude<DigestNews, 'left'>;
  /** When the next digest is due; `undefined`: no event waits for one. */
  readonly schedule: DigestSchedule | undefined;
}

const nothing: ReadonlySet<number> = new Set();

export const nothingDelivered: Delivery = {
  ...{ delivered: 0, undelivered: 0, undeliverable: 0, isStopped: false },
  ...{ sent: nothing, waiting: nothing },
  ...{ isInherited: false, isMailDue: false, toTell: [], left: 'nothing', schedule: undefined },
};

/** The looks for missing certifications. */
export interface Looking {
  readonly missing: Missing;
  /** How many were missing when the tick began. */
  readonly missingBefore: number;
  /**
   * How many more have gone by the partner's total when the tick began. Reads find them day by day.
   */
  readonly toBeFound: number;
  /** Requests by id; `failures` of them failed. */
  readonly asked: number;
  readonly failures: number;
  readonly isOutOfTime: boolean;
  readonly withdrawn: number;
  /** The ids that the last look found gone, and the memory from before they were counted. */
  readonly charged: { readonly before: Missing; readonly gone: ReadonlySet<number> };
}

/** The newest page, after its changes were announced. */
export interface PageDone {
  readonly pulse: PulseRead;
  /** Its rows that equal the ledger's. */
  readonly agreed: readonly Assessment[];
  /** Its changes explain the total. */
  readonly isAll: boolean;
  /** It shows rows of a lagging replica. */
  readonly isOlder: boolean;
  /** Time was left after its changes. */
  readonly isInTime: boolean;
  readonly expected: number;
  readonly silence: Silence | undefined;
  readonly missing: Missing | undefined;
}

/** The days that were due are read, or time was over. */
export interface SearchDone {
  readonly began: number;
  readonly calendar: Calendar;
  readonly cursor: Cursor | undefined;
  readonly plan: AuditPlan;
  readonly auditsFrom: number;
  /** Every difference was found, read and committed. */
  readonly isAllLocated: boolean;
  readonly searching: Searching | undefined;
  /** By how much the total differs although no day does; undefined: the search has not ended. */
  readonly rest: number | undefined;
  readonly missing: Missing | undefined;
  /** An owed notice of the baseline's end was accepted. */
  readonly isBaselineTold: boolean;
}

/** The baseline has come this far. */
export interface BaselineDone {
  readonly baseline: Baseline;
  /** At its end: the calendar, and how it is audited. */
  readonly ended?: { readonly calendar: Calendar; readonly plan: AuditPlan };
  /** Changes after this pulse show in the next one. */
  readonly pulse?: PulseRead | undefined;
}

/** A fact that is a part of the sum as it is. */
type Noted<Name extends string, Part extends keyof Done> = { readonly is: Name } & Partial<
  Pick<Done, Part>
>;

/** A thing that a tick has seen or done. */
export type Fact =
  | ({ readonly is: 'leased' } & Leased)
  | { readonly is: 'lease-lost' }
  /** The calendar has the counts of a tick that died. */
  | { readonly is: 'caught-up'; readonly leased: Leased }
  /** The partner has answered a pulse. */
  | { readonly is: 'answered' }
  /** The pace has ended the tick: nothing was looked at to its end. */
  | { readonly is: 'cut-off' }
  /** An error has ended the tick. */
  | { readonly is: 'failed'; readonly error: unknown }
  /** Rows that the partner has shown. */
  | ({ readonly is: 'shown' } & Pick<PulseRead, 'assessments' | 'quarantined'>)
  /** For the log; a denial by AWS among its details counts. */
  | { readonly is: 'warned'; readonly what: string; readonly details: Details }
  /** A place at which the tick can stop. */
  | { readonly is: 'boundary' }
  /** A batch took so long: milliseconds. */
  | { readonly is: 'took'; readonly ms: number }
  | { readonly is: 'expects'; readonly total: number | undefined }
  | { readonly is: 'reserved'; readonly gate: GateMemory; readonly news: number }
  | { readonly is: 'touched'; readonly changes: readonly Change[] }
  | ({ readonly is: 'committed' } & Committed)
  /** So many changes; `gate` is not saved. */
  | ({ readonly is: 'not-committed'; readonly number: number } & Partial<
      Pick<Done, 'gate' | 'failure'>
    >)
  | { readonly is: 'recorded'; readonly number: number }
  | Noted<'released', 'released' | 'gate' | 'gateLook'>
  | { readonly is: 'waits'; readonly ids: readonly number[]; readonly events: number }
  | ({ readonly is: 'published' } & Published)
  /** So many events are set aside for ops. */
  | { readonly is: 'parked'; readonly number: number }
  | { readonly is: 'listed'; readonly owed: readonly OwedEvent[] }
  | ({ readonly is: 'digest' } & Partial<Delivery>)
  | {
      readonly is: 'told';
      readonly name: ConditionName;
      readonly condition?: OpenCondition | undefined;
    }
  | Noted<'counted', 'waiting'>
  | Noted<'twins', 'twins' | 'twinsEnded'>
  | ({ readonly is: 'looking' } & Partial<Looking>)
  /** So many days. */
  | { readonly is: 'read'; readonly days: number }
  | Noted<'calendar', 'unread'>
  | Noted<'page', 'page'>
  | Noted<'searched', 'searched'>
  | Noted<'baseline', 'baseline'>;

/** Another tick has the lease. */
export const leaseLost = (lease: Lease | undefined): Fact => {
  return { is: 'warned', what: 'lease lost', details: { owner: lease?.owner } };
};

type Details = Readonly<Record<string, unknown>>;

interface Committed {
  readonly changes: readonly Change[];
  readonly failed: readonly Change[];
  readonly conflicts: number;
  readonly held: number;
  readonly failure: NotifierError | undefined;
}

interface Published {
  readonly accepted: readonly OwedEvent[];
  /** Certifications whose event SNS has refused for now. */
  readonly refused: readonly number[];
  readonly isStopped: boolean;
}

/** Everything that a tick has seen and done: the fold of its facts, and its only state. */
export interface Done {
  /** As the tick found it, before any lease. */
  readonly before: State;
  /** The tick holds the lease. */
  readonly leased?: Leased;
  readonly time: Time;
  /** The conditions that ops know of. */
  readonly open: OpenConditions;
  /** Observations from the state alone: a pause, and the last self-check. */
  readonly stated: Observations;
  /** The condition that blocks every tick; without a name: the partner has answered. */
  readonly blocked?: Blocked;
  /** Quarantined records, by a short name. */
  readonly quarantined: ReadonlyMap<string, QuarantinedRecord>;
  /** The ids of announceable records with odd fields, by path. */
  readonly oddFields: ReadonlyMap<string, ReadonlySet<number>>;
  /** The first denial by AWS that no retry mends. */
  readonly denial?: State['denial'];
  readonly waiting?: Pick<Observations, WaitsForOps>;
  readonly tally: ChangeTally;
  /** Changes whose commit failed, or may have succeeded although its answer was lost. */
  readonly failures: number;
  /** The cause of the first failure. */
  readonly failure?: NotifierError | undefined;
  /** The gate's memory as it is now; `reserved` is as the state has it. */
  readonly gate: GateMemory;
  readonly reserved: GateMemory;
  readonly outlook: Omit<Outlook, 'rest'>;
  /** Held changes that have left by themselves: the next tick delivers them. */
  readonly released: number;
  /** When to look again; present once such changes were looked at. */
  readonly gateLook?: { readonly at: GateLook | undefined };
  /** Ids of certifications that this tick has changed, or may have changed. */
  readonly touched: ReadonlySet<number>;
  readonly delivery: Delivery;
  readonly twins: Twins;
  /** Ids that the last read has shown to be there once. */
  readonly twinsEnded: ReadonlySet<number>;
  readonly looking: Looking;
  /** Days read because of a difference or for an audit, with or without proof. */
  readonly examined: number;
  readonly unread?: Observation;
  readonly page?: PageDone;
  readonly searched?: SearchDone;
  readonly baseline?: BaselineDone;
}

/** The state as the tick found it; under the lease, as it was just before. */
export const stateOf = ({ leased, before }: Done): State => leased?.state ?? before;

export function nothingLooked(missing: Missing, toBeFound: number): Looking {
  return {
    ...{ missing, missingBefore: missing.total, toBeFound, asked: 0, failures: 0, withdrawn: 0 },
    ...{ isOutOfTime: false, charged: { before: missing, gone: nothing } },
  };
}

export function nothingDone(before: State, time: Time, nowMs: number): Done {
  const { conditions, selfCheck, baseline } = before;
  return {
    stated: {
      ...(before.paused && pauseSeen(before.pause, conditions, nowMs)),
      ...selfCheckSeen(selfCheck, baseline.begunAt, nowMs),
    },
    ...{ before, time, open: conditions, quarantined: new Map(), oddFields: new Map() },
    tally: {
      created: 0,
      updated: 0,
      withdrawn: 0,
      restored: 0,
      recorded: 0,
      conflicts: 0,
      held: 0,
    },
    ...{ failures: 0, gate: nothingFound, reserved: nothingFound, released: 0 },
    ...{ outlook: { known: 0, total: 0 }, touched: nothing, delivery: nothingDelivered },
    ...{ twins: [], twinsEnded: nothing, looking: nothingLooked(nothingMissing, 0) },
    examined: 0,
  };
}

/**
 * @param fact undefined: the step only asks for the sum
 * @param now when the fact was handed back
 */
export function fold(done: Done, fact: Fact | undefined, now: Temporal.Instant): Done {
  switch (fact?.is) {
    case undefined:
      return done;
    case 'leased': {
      const { lease, state, window } = fact;
      const { gate, conditions: open, twins = [] } = state;
      return { ...done, leased: { lease, state, window }, open, twins, gate, reserved: gate };
    }
    case 'lease-lost': {
      const { leased: _, ...others } = done;
      return others;
    }
    case 'caught-up':
      return { ...done, leased: fact.leased };
    case 'answered':
      return { ...done, blocked: {} };
    case 'cut-off': {
      const { page: _, searched: __, baseline: ___, gateLook: ____, ...others } = done;
      return others;
    }
    case 'failed':
      return failedAfter(done, fact.error, now);
    case 'shown':
      return oddAfter(done, fact);
    case 'warned':
      return deniedAfter(done, Object.values(fact.details), now);
    case 'boundary':
      return { ...done, time: atBoundary(done.time, now) };
    case 'took':
      return { ...done, time: reserving(done.time, fact.ms) };
    case 'expects':
      return { ...done, outlook: outlookOf(stateOf(done), fact.total) };
    case 'reserved': {
      const known = done.outlook.known + fact.news;
      const { gate } = fact;
      return { ...done, gate, reserved: gate, outlook: { ...done.outlook, known } };
    }
    case 'touched':
      return { ...done, touched: new Set([...done.touched, ...fact.changes.map(({ id }) => id)]) };
    case 'committed':
      return committedAfter(done, fact);
    case 'not-committed': {
      const { number, gate = done.gate, failure } = fact;
      return { ...done, gate, failures: done.failures + number, failure: done.failure ?? failure };
    }
    case 'recorded':
      return { ...done, tally: { ...done.tally, recorded: done.tally.recorded + fact.number } };
    case 'waits': {
      const { waiting, undelivered } = done.delivery;
      const both = {
        waiting: new Set([...waiting, ...fact.ids]),
        undelivered: undelivered + fact.events,
      };
      return { ...done, delivery: { ...done.delivery, ...both } };
    }
    case 'published':
      return { ...done, delivery: publishedAfter(done.delivery, fact) };
    case 'parked': {
      const undeliverable = done.delivery.undeliverable + fact.number;
      return { ...done, delivery: { ...done.delivery, undeliverable } };
    }
    case 'listed':
      return { ...done, delivery: listed(done.delivery, fact.owed) };
    case 'digest': {
      const { is: _, ...changed } = fact;
      return { ...done, delivery: { ...done.delivery, ...changed } };
    }
    case 'told':
      return { ...done, open: openAfter(done.open, fact.name, fact.condition) };
    case 'looking': {
      const { is: _, ...changed } = fact;
      return { ...done, looking: { ...done.looking, ...changed } };
    }
    case 'read':
      return { ...done, examined: done.examined + fact.days };
    case 'released':
    case 'counted':
    case 'twins':
    case 'calendar':
    case 'page':
    case 'searched':
    case 'baseline': {
      const { is: _, ...noted } = fact;
      return { ...done, ...noted };
    }
  }
}

/** The odd things that an answer of the partner shows. */
function oddAfter(done: Done, shown: Pick<PulseRead, 'assessments' | 'quarantined'>): Done {
  const odd = shown.assessments.flatMap((one) =>
    oddPaths(one).map((path) => ({ path, id: one.id })),
  );
  if (odd.length + shown.quarantined.length === 0) return done;
  const byPath = [...Map.groupBy(odd, ({ path }) => path)].map(([path, met]) => {
    const ids = [...(done.oddFields.get(path) ?? []), ...met.map(({ id }) => id)];
    return [path, new Set(ids)] as const;
  });
  const malformed = shown.quarantined.map((one) => [nameOf(one), one] as const);
  return {
    ...done,
    quarantined: new Map([...done.quarantined, ...malformed]),
    oddFields: new Map([...done.oddFields, ...byPath]),
  };
}

const outlookOf = ({ expected, missing }: State, total: number | undefined) => {
  const known = expected + (missing?.total ?? 0);
  return { known, total: total ?? known };
};

function openAfter(open: OpenConditions, name: ConditionName, now: OpenCondition | undefined) {
  const others = [...open].filter(([one]) => one !== name);
  return new Map(now ? [...others, [name, now]] : others);
}

function failedAfter(done: Done, error: unknown, now: Temporal.Instant): Done {
  const by = error instanceof NotifierError ? blockedBy(error) : undefined;
  return { ...deniedAfter(done, [error], now), ...(by && { blocked: by }) };
}

/** An error that a retry mends may be over before anybody looks. */
function deniedAfter(done: Done, problems: readonly unknown[], now: Temporal.Instant): Done {
  const error = problems.find(
    (one): one is NotifierError =>
      one instanceof NotifierError && one.fault === 'aws' && !one.retryHelps,
  );
  if (done.denial !== undefined || error === undefined) return done;
  const denial = { at: now.toString(), what: error.message, whatToDo: error.whatToDo };
  return { ...done, denial };
}

function committedAfter(done: Done, fact: Committed): Done {
  const { changes, failed, conflicts, held, failure } = fact;
  const { tally } = done;
  const byKind = Map.groupBy(changes, ({ kind }) => kind);
  const more = [...byKind].map(([kind, { length }]) => [kind, tally[kind] + length] as const);
  return {
    ...done,
    tally: {
      ...{ ...tally, ...Object.fromEntries(more) },
      ...{ conflicts: tally.conflicts + conflicts, held: tally.held + held },
    },
    failures: done.failures + failed.length,
    failure: done.failure ?? failure,
    gate: concludedGate(done.gate, changes, failed),
  };
}

function publishedAfter(delivery: Delivery, fact: Published): Delivery {
  const { accepted, refused, isStopped } = fact;
  return {
    ...listed(delivery, accepted),
    delivered: delivery.delivered + accepted.length,
    undelivered: delivery.undelivered + refused.length,
    isStopped: delivery.isStopped || isStopped,
    sent: new Set([...delivery.sent, ...accepted.map((one) => one.certificationId)]),
    waiting: new Set([...delivery.waiting, ...refused]),
  };
}

/**
 * Adds events to this tick's digest while it has room, reduced to the fields that the digest shows.
 */
function listed(delivery: Delivery, owed: readonly OwedEvent[]): Delivery {
  const { isMailDue, toTell, left } = delivery;
  if (!isMailDue) return delivery;
  const taken = owed.slice(0, mostInOneMail - toTell.length);
  const more = taken.map((one) => ({ ...one, event: forDigest(one.event) }));
  const isFull = toTell.length + taken.length === mostInOneMail;
  return { ...delivery, left: isFull ? 'more' : left, toTell: [...toTell, ...more] };
}

/** Short, because every tick writes the state. */
function nameOf({ id, problems }: QuarantinedRecord): string {
  return id === undefined
    ? createHash('sha256').update(problems.join(';')).digest('base64url').slice(0, 6)
    : String(id);
}
