import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { DayRange } from './days.ts';

export const proofKind = z.enum(['single-page', 'key-seam', 'split']);

/** How a read proved that it returned every assessment that was present throughout. */
export const proof = z.object({
  kind: proofKind,
  /** When the read began: what came while it went on it may have overlooked. Milliseconds since the epoch. */
  at: z.number(),
  /** Assessments that it found on the day: those that the digest is over. */
  count: z.int(),
});

export type Proof = Readonly<z.output<typeof proof>>;

/** Days, by what proves that nothing was overlooked. */
export type ProofCounts = Readonly<Partial<Record<Proof['kind'] | 'none', number>>>;

/** What is known of the reads of a day, save its last proof. */
export const dayReads = z.object({
  /** Over what the last proven read found. */
  digest: z.exactOptional(z.string()),
  /** When the last read of the day began, proven or not: milliseconds since the epoch. 0: nobody has read it. */
  readAt: z.number(),
  /** Since then somebody waits for a read of it: a search that located a difference, or ops. The read ends that. */
  askedAt: z.exactOptional(z.number()),
  /** Reads in a row that left something: it could not be committed, or one that read this day alone proved nothing. */
  failures: z.exactOptional(z.int()),
  /** It is read with at most so many days: a read of more has proved nothing, or the host did not answer it. */
  together: z.exactOptional(z.int()),
  /** It is to be read then, if not before: a replica that lagged may have hidden a change. Milliseconds since the epoch. */
  dueAt: z.exactOptional(z.number()),
  /** Since when no read of the day could be proven. */
  unprovenSince: z.exactOptional(z.number()),
});

/** One day of the calendar. */
export interface DayEntry extends Readonly<z.output<typeof dayReads>> {
  /** Assessments that the partner is expected to count for this day: other than the proof's, if some have come or gone since. */
  readonly count: number;
  /** Certifications that the last proven read lacked and that are not withdrawn; not in `count`. Absent: nobody has looked. */
  readonly missing?: number;
  /** Of the last proven read of this day; none while the day is unproven. */
  readonly proof?: Proof;
}

/** Consecutive days, by their positions in a calendar; both ends included. */
export interface CalendarRange {
  readonly first: number;
  readonly last: number;
}

const never: DayEntry = { count: 0, readAt: 0 };

/** The entry of a day that was read just now: unproven, it knows since when, and is read alone; what it lacks is for a look to say. */
export function following(before: DayEntry, entry: DayEntry): DayEntry {
  const { missing = before.missing } = entry;
  const { together = before.together } = entry;
  return {
    ...entry,
    ...(missing !== undefined && { missing }),
    ...(entry.proof === undefined && together !== undefined && { together }),
    ...(entry.proof === undefined && { unprovenSince: before.unprovenSince ?? entry.readAt }),
  };
}

/**
 * Per day: what the partner is expected to count, and what is proven. A cache of proven reads, from
 * which it can be rebuilt; never the truth.
 *
 * It holds the days on which something was ever seen, and those of the recent window, in order. A
 * day's position stands also for the days without entry since the one before it; the last also for
 * every day after it. So no day is outside, and a record dated in the year 1 costs one position.
 */
export class Calendar {
  /** Of the days that it knows of. */
  readonly entries: ReadonlyMap<string, DayEntry>;
  readonly days: readonly string[];

  /** @param days that it has in any case */
  constructor(
    entries: Iterable<readonly [day: string, entry: DayEntry]>,
    days: Iterable<string> = [],
  ) {
    this.entries = new Map(entries);
    this.days = [...new Set([...this.entries.keys(), ...days])].sort();
  }

  /** The same calendar with these entries in place of what it had. */
  with(entries: Iterable<readonly [day: string, entry: DayEntry]>): Calendar {
    return new Calendar([...this.entries, ...entries], this.days);
  }

  get total(): number {
    return this.sumOf({ first: 0, last: this.days.length - 1 });
  }

  /** Of all days. */
  get missing(): number {
    return this.knownOf({ first: 0, last: this.days.length - 1 }) - this.total;
  }

  /** Days read since then, by what proves that nothing was overlooked. */
  proofsSince(beganMs: number): ProofCounts {
    const read = [...this.entries.values()].filter(({ readAt }) => readAt >= beganMs);
    const byProof = Map.groupBy(read, ({ proof }) => proof?.kind ?? 'none');
    return Object.fromEntries([...byProof].map(([kind, { length }]) => [kind, length]));
  }

  entry(day: string): DayEntry {
    return this.entries.get(day) ?? never;
  }

  sumOf(range: CalendarRange): number {
    return this.daysOf(range).reduce((sum, day) => sum + this.entry(day).count, 0);
  }

  /** What the ledger has of these days: a read of them may have to compare as many. */
  knownOf(range: CalendarRange): number {
    const missing = this.daysOf(range).map((day) => this.entry(day).missing ?? 0);
    return missing.reduce((sum, number) => sum + number, this.sumOf(range));
  }

  /** The position that stands for a day. */
  positionOf(day: string): number {
    const position = this.days.findIndex((one) => one >= day);
    return position < 0 ? this.days.length - 1 : position;
  }

  /** The filter that asks for all days that these positions stand for. */
  filterOf({ first, last }: CalendarRange): DayRange {
    const before = first > 0 ? this.days[first - 1] : undefined;
    const to = last < this.days.length - 1 ? this.days[last] : undefined;
    return {
      ...(before !== undefined && { from: Temporal.PlainDate.from(before).add({ days: 1 }) }),
      ...(to !== undefined && { to: Temporal.PlainDate.from(to) }),
    };
  }

  daysOf({ first, last }: CalendarRange): readonly string[] {
    return this.days.slice(first, last + 1);
  }
}
