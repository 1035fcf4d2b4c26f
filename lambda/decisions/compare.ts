import * as z from 'zod/mini';
import type { Assessment } from '../events/assessment.ts';
import { proofKind } from './calendar.ts';
import {
  changedFields,
  type Fingerprint,
  fingerprintOf,
  hashIn,
  isAsIn,
  markOf,
  rulesNow,
  rulesOf,
} from './fingerprint.ts';
import { type Returned, smallestOf } from './twins.ts';

/** An assessment as the ledger knows it. */
export interface Certification {
  readonly id: number;
  /** `certified_on` when it was last read. */
  readonly day: string;
  readonly fingerprint: Fingerprint;
  /** 1 for the first sighting, one more for every change since. */
  readonly revision: number;
  readonly presence: Presence;
  /** Its former fingerprints: the newest two, and others as long as a replica may answer with them. */
  readonly earlier?: readonly Earlier[];
  /** Fields for the event of a withdrawal; not personal. */
  readonly organization_id: number | null;
  readonly assessment_name: string | null;
  /** Every event of it that subscribers lack is held, and was never offered to SNS. */
  readonly isHeld?: true;
  /** It has gone, and subscribers were never told that it was there. */
  readonly isUntold?: true;
}

/**
 * A fingerprint that was current. Until `until`, an answer that shows it may be older than the
 * ledger.
 */
export interface Earlier {
  readonly fingerprint: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Limit for former fingerprints: a record with more changes within minutes never stands still. */
const earlierKept = 5;
/** Twins alternate between few versions. */
const earlierKeptExpired = 2;

/** Whether the partner still has it, as far as is proven. */
export const presence = z.enum(['present', 'withdrawn']);

export type Presence = z.output<typeof presence>;

/** A difference between a read and the ledger, ready to be committed. */
export type Change = Sighting | Withdrawal;

export interface Sighting {
  readonly kind: 'created' | 'updated' | 'restored';
  readonly id: number;
  readonly assessment: Assessment;
  readonly fingerprint: Fingerprint;
  /** The revision that this change makes. */
  readonly revision: number;
  /** Names of the fields that differ; empty for `created`. */
  readonly changed: readonly string[];
  /**
   * The ledger's knowledge before; absent for `created`, unless subscribers were never told of it.
   */
  readonly before?: Certification;
  /** Its former fingerprints. */
  readonly earlier?: readonly Earlier[];
  readonly found?: Found;
}

export interface Withdrawal {
  readonly kind: 'withdrawn';
  readonly id: number;
  readonly before: Certification;
  readonly revision: number;
  readonly found?: Found;
}

/**
 * How a change was found: on the newest page, or in the read of days. The gate counts edits by it.
 */
export const found = z.object({
  /**
   * `search`: the total had shown that days differ. `audit`: nothing had suggested a change.
   * `baseline`: the whole history was read.
   */
  in: z.enum(['page', 'search', 'audit', 'baseline']),
  /** The proof of the read of days, if it has one. */
  proof: z.optional(proofKind),
  /**
   * It is held, since nobody can tell news from history there: the baseline could not read its day.
   */
  reason: z.optional(z.literal('baseline')),
});

export type Found = Readonly<z.output<typeof found>>;

/** A certification that has not changed, and its hashes by the rules of now. */
export interface Outdated {
  readonly before: Certification;
  readonly fingerprint: Fingerprint;
}

export interface Compared {
  readonly changes: readonly Sighting[];
  /** Rows that equal the ledger's. */
  readonly same: readonly Assessment[];
  /** Those of `same` whose hashes were made by older rules. */
  readonly outdated: readonly Outdated[];
  /** Days of older answers, and until when such answers may come: milliseconds since the epoch. */
  readonly older: readonly { readonly day: string; readonly until: number }[];
  /** Rows as certifications were long ago: most likely, each id is there twice. */
  readonly returned: readonly Returned[];
}

/**
 * The differences between the assessments read and the certifications in `known`, by id. Rows of
 * `twins` are sightings and say nothing about content: unless the certification is known and
 * present, the smallest of them counts. A move to another day is an update of `certified_on`. A
 * certification that comes back is restored, or created if subscribers were never told of it. A row
 * as the certification was within `withdrawAfter`, before its last change, is an older answer of a
 * lagging replica or a cache. It is no update. Later, it is one only if `isAlone`. A field has
 * changed only if it differs by the rules of its fingerprint and by those of now: newer rules are no
 * update, either.
 *
 * @param isAlone whether no other row of an id can be on these days
 */
export function compare(
  read: readonly Assessment[],
  known: ReadonlyMap<number, Certification>,
  salt: string,
  nowMs: number,
  withdrawAfterMs: number,
  twins: ReadonlySet<number> = new Set(),
  isAlone: (one: Returned) => boolean = () => false,
): Compared {
  const changes = new Map<number, Sighting>();
  const same: Assessment[] = [];
  const older: Compared['older'][number][] = [];
  const returned: Returned[] = [];
  const unsure = read.filter(({ id }) => twins.has(id) && known.get(id)?.presence !== 'present');
  const smallest = [...Map.groupBy(unsure, ({ id }) => id).values()].flatMap(
    (rows) => smallestOf(rows) ?? [],
  );
  for (const assessment of [...read.filter(({ id }) => !twins.has(id)), ...smallest]) {
    const { id, certified_on: day } = assessment;
    const fingerprint = fingerprintOf(assessment, salt);
    const before = known.get(id);
    const earlier = before?.earlier?.filter(({ until }) => nowMs < until) ?? [];
    const isEarlier = earlier.some((one) => isAsIn(assessment, one.fingerprint, salt));
    if (before?.presence === 'present' && isEarlier) {
      older.push({ day, until: Math.max(...earlier.map(({ until }) => until)) });
      continue;
    }
    const change = changeOf(assessment, fingerprint, before, salt);
    if (change === undefined) {
      same.push(assessment);
      continue;
    }
    const back = returnOf(change, salt);
    if (back && !isAlone(back)) {
      returned.push(back);
      continue;
    }
    const until = nowMs + withdrawAfterMs;
    const replaced = before && formerOf(before, until, nowMs);
    changes.set(id, { ...change, ...(replaced && { earlier: replaced }) });
  }
  const outdated = outdatedOf(same, known, salt);
  return { changes: [...changes.values()], same, outdated, older, returned };
}

/**
 * The sightings of a read. A first reading announces no update. A row unlike the one that was
 * recorded has moved or changed meanwhile, or its id is there twice: later reads tell.
 */
export function sightingsOf(changes: readonly Sighting[], isFirstReading: boolean) {
  const isUnlike = ({ kind }: Sighting) => isFirstReading && kind === 'updated';
  const unlike = changes.filter(isUnlike).map(({ id, assessment, before }) => {
    const day = assessment.certified_on;
    return { id, days: [before?.day ?? day, day] };
  });
  return { sightings: changes.filter((one) => !isUnlike(one)), unlike };
}

/** The last day is that of the row. */
function returnOf({ kind, id, assessment, before }: Sighting, salt: string): Returned | undefined {
  const former = before?.earlier?.slice(-earlierKeptExpired) ?? [];
  const isReturn = former.some((one) => isAsIn(assessment, one.fingerprint, salt));
  if (before === undefined || kind !== 'updated' || !isReturn) return undefined;
  const day = assessment.certified_on;
  return { id, days: before.day === day ? [day] : [before.day, day], isSure: true };
}

/** The former fingerprints after a change. */
function formerOf(
  { fingerprint, earlier = [] }: Certification,
  until: number,
  nowMs: number,
): Earlier[] {
  const all = [...earlier, { fingerprint: fingerprint.whole, until }];
  return all
    .filter((one, index) => nowMs < one.until || index >= all.length - earlierKeptExpired)
    .slice(-earlierKept);
}

function outdatedOf(
  same: readonly Assessment[],
  known: ReadonlyMap<number, Certification>,
  salt: string,
): Outdated[] {
  return same.flatMap((row) => {
    const before = known.get(row.id);
    if (before === undefined || rulesOf(before.fingerprint.whole) === rulesNow) return [];
    return { before, fingerprint: fingerprintOf(row, salt) };
  });
}

function changeOf(
  assessment: Assessment,
  fingerprint: Fingerprint,
  before: Certification | undefined,
  salt: string,
): Sighting | undefined {
  const { id } = assessment;
  const created = { kind: 'created', id, assessment, fingerprint, changed: [] } as const;
  if (before === undefined) return { ...created, revision: 1 };
  const revision = before.revision + 1;
  if (before.isUntold) return { ...created, revision, before };
  const byItsRules = fingerprintOf(assessment, salt, rulesOf(before.fingerprint.whole));
  const differing = new Set(changedFields(before.fingerprint, byItsRules));
  const changed = changedFields(before.fingerprint, fingerprint).filter((one) =>
    differing.has(one),
  );
  if (before.presence === 'present' && changed.length === 0) return undefined;
  const kind = before.presence === 'present' ? 'updated' : 'restored';
  return { ...created, kind, revision, changed, before };
}

/**
 * Marks of rows that agreed with the ledger, without those that were changed since, or may have
 * been.
 */
export function stillAgreed(
  rows: readonly Assessment[],
  touched: ReadonlySet<number>,
  salt: string,
): string[] {
  return rows.filter(({ id }) => !touched.has(id)).map((row) => markOf(row, salt));
}

/** Only for a certification that two looks found gone. */
export function withdrawal(before: Certification): Withdrawal {
  return { kind: 'withdrawn', id: before.id, before, revision: before.revision + 1 };
}

/**
 * How the changes alter the partner's expected count, by day. A withdrawn certification was
 * missing, so it was not counted.
 */
export function countDeltas(changes: readonly Change[]): Map<string, number> {
  const deltas = new Map<string, number>();
  for (const change of changes) {
    if (change.kind === 'withdrawn') continue;
    const { kind, assessment, before } = change;
    const day = assessment.certified_on;
    deltas.set(day, (deltas.get(day) ?? 0) + 1);
    if (kind === 'updated' && before !== undefined)
      deltas.set(before.day, (deltas.get(before.day) ?? 0) - 1);
  }
  return new Map([...deltas].filter(([, delta]) => delta !== 0));
}

/**
 * Subscribers' knowledge of a certification, in short: nothing, that it is withdrawn, or the hash
 * of its fingerprint without the number of the rules.
 */
export type LastTold = string;

/** @param before the ledger's knowledge before an event that waits for ops */
export function toldOf(before: Certification | undefined): LastTold {
  if (before === undefined || before.isUntold) return 'nothing';
  return before.presence === 'withdrawn' ? 'withdrawn' : hashIn(before.fingerprint.whole);
}

/**
 * Whether a certification is again as subscribers were last told. Subscribers who were told nothing
 * need not hear that it has gone.
 */
export function isUndone(told: LastTold, change: Change): boolean {
  if (change.kind === 'withdrawn') return told === 'withdrawn' || told === 'nothing';
  return told === hashIn(change.fingerprint.whole);
}

/**
 * Finds events of one certification that lead away from a state and back to it, as if they had been
 * taken back before anybody was told of them.
 *
 * @param events in order, each with subscribers' knowledge before it; absent: unknown
 * @param now the knowledge after the last event
 * @returns the revisions of these events
 */
export function detours(
  events: readonly { readonly revision: number; readonly told?: LastTold | undefined }[],
  now: LastTold | undefined,
): ReadonlySet<number> {
  let way: typeof events = [];
  for (const [index, event] of events.entries()) {
    const after = index + 1 < events.length ? events[index + 1]?.told : now;
    const begun = [...way, event];
    const at = after === undefined ? -1 : begun.findIndex(({ told }) => told === after);
    way = at < 0 ? begun : begun.slice(0, at);
  }
  const straight = new Set(way.map(({ revision }) => revision));
  return new Set(events.map(({ revision }) => revision).filter((one) => !straight.has(one)));
}

export const isNothing = (told: LastTold): boolean => told === 'nothing';

/** Changes of one day, announced or held. */
export const dayTally = z.readonly(
  z.object({
    /** In the partner's time zone. */
    day: z.iso.date(),
    created: z.int(),
    updated: z.int(),
    withdrawn: z.int(),
    restored: z.int(),
  }),
);

export type DayTally = z.output<typeof dayTally>;

/** @returns `undefined` if nothing has changed: then nothing need be written */
export function tallied(
  before: DayTally | undefined,
  day: string,
  now: Omit<DayTally, 'day'>,
): DayTally | undefined {
  const { created, updated, withdrawn, restored } = now;
  if (created + updated + withdrawn + restored === 0) return undefined;
  const none = { created: 0, updated: 0, withdrawn: 0, restored: 0 };
  const sum = before?.day === day ? before : none;
  return {
    day,
    created: created + sum.created,
    updated: updated + sum.updated,
    withdrawn: withdrawn + sum.withdrawn,
    restored: restored + sum.restored,
  };
}
