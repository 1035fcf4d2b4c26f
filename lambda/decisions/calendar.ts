import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { DayRange } from './days.ts';

export const proofKind = z.enum(['single-page', 'key-seam', 'split']);

/** How a read proved that it returned every assessment that was present throughout. */
export const proof = z.object({
  kind: proofKind,
  /** When the read began: it may have overlooked later arrivals. Milliseconds since the epoch. */
  at: z.number(),
  /** Assessments that it found on the day; the digest is over these. */
  count: z.int(),
});

export type Proof = Readonly<z.output<typeof proof>>;

/** Numbers of days, by kind of proof. */
export type ProofCounts = Readonly<Partial<Record<Proof['kind'] | 'none', number>>>;

/** Facts about the reads of a day, its last proof apart. */
export const dayReads = z.object({
  /** The digest over the rows of the last proven read. */
  digest: z.exactOptional(z.string()),
  /**
   * When the last read of the day began, proven or not: milliseconds since the epoch. 0: it was
   * never read.
   */
  readAt: z.number(),
  /**
   * When a read of it was asked for, by ops or by a search that located a difference. The read
   * clears it.
   */
  askedAt: z.exactOptional(z.number()),
  /** Failed reads in a row: a commit failed, or a read of this day alone proved nothing. */
  failures: z.exactOptional(z.int()),
  /** The most days that it is read with: a read of more proved nothing, or had no answer. */
  together: z.exactOptional(z.int()),
  /**
   * It is due then, because a lagging replica may have hidden a change. Milliseconds since the
   * epoch.
   */
  dueAt: z.exactOptional(z.number()),
  /** Since when no read of the day could be proven. */
  unprovenSince: z.exactOptional(z.number()),
  /**
   * The baseline could not read the days that this entry stands for: so many of their rows were
   * counted and not shown. 0: the answers contradicted each other in another way.
   */
  unread: z.exactOptional(z.int()),
  /** When a read first showed fewer of them than that: a second one is believed. */
  unreadAt: z.exactOptional(z.number()),
});

export interface DayEntry extends Readonly<z.output<typeof dayReads>> {
  /**
   * The partner's expected count for this day. It differs from the proof's if some have come or
   * gone since.
   */
  readonly count: number;
  /**
   * Certifications that the last proven read lacked and that are not withdrawn; not in `count`.
   * Absent: no look has been made.
   */
  readonly missing?: number;
  /** The proof of the last proven read of this day; none while the day is unproven. */
  readonly proof?: Proof;
}

/** Consecutive days, by their positions in a calendar; both ends included. */
export interface CalendarRange {
  readonly first: number;
  readonly last: number;
}

const never: DayEntry = { count: 0, readAt: 0 };

/**
 * The entry of a day that was just read. A read without a look keeps the number of missing
 * certifications. An unproven day keeps since when it is unproven, and with how many days it is
 * read. A day that was never read is not called unproven since then: it has 0 as the time of its
 * last read, and no other time follows from that.
 */
export function following(before: DayEntry, entry: DayEntry): DayEntry {
  const { missing = before.missing } = entry;
  const { together = before.together } = entry;
  const { unprovenSince = entry.readAt } = before;
  return {
    ...entry,
    ...(missing !== undefined && { missing }),
    ...(entry.proof === undefined && together !== undefined && { together }),
    ...(entry.proof === undefined && unprovenSince > 0 && { unprovenSince }),
  };
}

/**
 * Facts by day: the partner's expected count, and the last proof. A cache of proven reads, from
 * which it can be rebuilt; never the truth.
 *
 * It holds the days on which something was ever seen, and those of the recent window, in order. A
 * day's position also stands for the days without an entry since the day before it; the last
 * position also for every later day. So no day is outside, and a record dated in the year 1 costs
 * one position.
 */
export class Calendar {
  readonly entries: ReadonlyMap<string, DayEntry>;
  readonly days: readonly string[];

  /** @param days that it has even without an entry */
  constructor(
    entries: Iterable<readonly [day: string, entry: DayEntry]>,
    days: Iterable<string> = [],
  ) {
    this.entries = new Map(entries);
    this.days = [...new Set([...this.entries.keys(), ...days])].sort();
  }

  with(entries: Iterable<readonly [day: string, entry: DayEntry]>): Calendar {
    return new Calendar([...this.entries, ...entries], this.days);
  }

  get total(): number {
    return this.sumOf({ first: 0, last: this.days.length - 1 });
  }

  /** The sum over all days. */
  get missing(): number {
    return this.knownOf({ first: 0, last: this.days.length - 1 }) - this.total;
  }

  /** The days that the baseline could not read, and the rows that it could not see there. */
  get unread(): { readonly days: readonly string[]; readonly rows: number } {
    const marked = [...this.entries].filter(([, { unread }]) => unread !== undefined);
    const rows = marked.reduce((sum, [, { unread = 0 }]) => sum + unread, 0);
    return { days: marked.map(([day]) => day).sort(), rows };
  }

  /**
   * The marked day whose entry stands for this day, if any. A day that was never read has no entry
   * of its own in this sense, unless it is marked.
   */
  unreadDayOf(day: string): string | undefined {
    const later = this.days.slice(this.positionOf(day));
    const isOwn = ({ readAt, unread }: DayEntry) => readAt > 0 || unread !== undefined;
    const read = later.find((one) => isOwn(this.entry(one)));
    return read !== undefined && this.entry(read).unread !== undefined ? read : undefined;
  }

  /** Days read since then, by kind of proof. */
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

  /** The ledger's certifications of these days: a read may have to compare as many. */
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
