import * as z from 'zod/mini';
import type { Calendar, DayEntry } from './calendar.ts';
import type { Certification } from './compare.ts';

/**
 * The day's limit for withdrawals is a share of the ledger within these bounds; in a small ledger,
 * a fifth.
 */
const fewAtLeast = 25;
const fewAtMost = 250;
const fewShare = 0.01;
const fewOfSmall = 1 / 5;
const fewOfTiny = 2;

const oneHourMs = 3_600_000;
const oneDayMs = 24 * oneHourMs;

/**
 * Limit for notes, since each tick at work reads and writes them all. More are noted when some of
 * these are gone.
 */
const mostNotes = 300;

/** A certification that a proven read lacked, and that no read has shown since. Times are milliseconds since the epoch. */
const note = z.readonly(
  z.object({
    id: z.int(),
    day: z.iso.date(),
    /** When it was noted: the first look. */
    since: z.number(),
    /** When its id was last asked for without a withdrawal. */
    askedAt: z.exactOptional(z.number()),
    /** Its id still showed it, unchanged. */
    isShownById: z.exactOptional(z.literal(true)),
    /** Since when its id could not be asked for; an answer ends that. */
    failedSince: z.exactOptional(z.number()),
  }),
);

export type Note = z.output<typeof note>;

/** The memory of missing certifications that each tick needs. */
export const missingInBrief = z.object({
  /**
   * The calendar's sum. It includes those of days on which nothing is noted, because too many are
   * missing.
   */
  total: z.int(),
  /** Since when too many are missing. */
  tooManySince: z.exactOptional(z.number()),
  /** When the next look is due. */
  lookAt: z.exactOptional(z.number()),
});

/** The memory that only ticks with looks need. */
export const missingNoted = z.object({
  notes: z.readonly(z.array(note)),
  /** Withdrawn within a day, by the hour, without those that ops had accepted. */
  withdrawn: z.readonly(z.array(z.readonly(z.object({ at: z.number(), number: z.int() })))),
  /** How many withdrawals accepted by ops are still to come. */
  accepted: z.int(),
});

/** The memory of the rule of two looks: certifications that are missing and not withdrawn. */
export type Missing = Readonly<z.output<typeof missingInBrief> & z.output<typeof missingNoted>>;

export const nothingMissing: Missing = { total: 0, notes: [], withdrawn: [], accepted: 0 };

export interface Totals {
  /** Certifications that are not withdrawn. */
  readonly known: number;
  /** Missing by reads, or still to be found as far as the partner's total tells. */
  readonly missing: number;
}

/** How many have gone, without those that their ids still show. */
export function lostOf({ notes }: Missing, totals: Totals): number {
  const shown = notes.filter(({ isShownById }) => isShownById).length;
  return Math.max(0, totals.missing - shown);
}

/** How many may be withdrawn: those that ops have accepted, and a few more. */
export function allowance(missing: Missing, { known }: Totals, nowMs: number): number {
  const lately = missing.withdrawn
    .filter(({ at }) => nowMs - at < oneDayMs)
    .reduce((sum, { number }) => sum + number, 0);
  const share = Math.min(fewAtMost, Math.floor((known + lately) * fewShare));
  const ofSmall = Math.max(fewOfTiny, Math.floor((known + lately) * fewOfSmall));
  const few = Math.min(Math.max(fewAtLeast, share), ofSmall);
  return missing.accepted + Math.max(0, few - lately);
}

/**
 * Whether missing certifications may be withdrawn: they are few, or ops have accepted them. Many at
 * once look like a narrowed scope or a host at fault. Subscribers are not told then, so nothing has
 * to be taken back.
 */
export function mayGo(missing: Missing, totals: Totals, nowMs: number): boolean {
  return lostOf(missing, totals) <= allowance(missing, totals, nowMs);
}

/** The first look: notes certifications that a proven read lacked. No look renews a note. */
export function noted(missing: Missing, lacking: readonly Certification[], nowMs: number): Missing {
  const known = new Set(missing.notes.map(({ id }) => id));
  const waiting = missing.notes.filter(({ isShownById }) => !isShownById);
  const room = Math.max(0, mostNotes - waiting.length);
  const notes = lacking
    .filter(({ id }) => !known.has(id))
    .slice(0, room)
    .map(({ id, day }) => ({ id, day, since: nowMs }));
  return notes.length === 0 ? missing : { ...missing, notes: [...missing.notes, ...notes] };
}

/** Any sighting clears the note. */
export function sighted(missing: Missing, isSeen: (note: Note) => boolean): Missing {
  const notes = missing.notes.filter((note) => !isSeen(note));
  return notes.length === missing.notes.length ? missing : { ...missing, notes };
}

/** Too many are missing: once they are few again, both looks begin anew. */
export function forgotten(missing: Missing, nowMs: number): Missing {
  const notes = missing.notes.filter(({ isShownById }) => isShownById);
  const { tooManySince = nowMs } = missing;
  return { ...missing, notes, tooManySince };
}

/** Ticks begin somewhat later than they should. */
const delayMs = 5_000;

/**
 * How far the last tick vouches for the time, in milliseconds since the epoch. A clock that is further ahead
 * may be wrong, and would withdraw too early; or no tick has ended for a while, and the next one vouches for more.
 *
 * @param heartbeat the end of the last tick
 * @param every minutes between two ticks
 */
export const vouchedUntil = (heartbeat: string | undefined, every: number): number =>
  heartbeat === undefined ? 0 : Date.parse(heartbeat) + every * 60_000 + delayMs;

/**
 * Whether the second look may ask for its id: a read that began long enough after the note lacked
 * it, too.
 */
export function isAskedFor(note: Note, readBeganAt: number, withdrawAfterMs: number): boolean {
  if (note.askedAt !== undefined) return readBeganAt >= note.askedAt + oneHourMs;
  return readBeganAt >= note.since + withdrawAfterMs;
}

/**
 * Its id was asked for, and it was not withdrawn: its id showed it, there was no answer, or its
 * withdrawal was not committed. Without an answer, `isShownById` stays.
 */
export function asked(
  missing: Missing,
  id: number,
  answer: 'shown' | 'none' | 'uncommitted',
  nowMs: number,
): Missing {
  const notes = missing.notes.map((note): Note => {
    if (note.id !== id) return note;
    const { failedSince = nowMs, ...rest } = { ...note, askedAt: nowMs };
    if (answer === 'none') return { ...rest, failedSince };
    return answer === 'shown' ? { ...rest, isShownById: true } : rest;
  });
  const shown = notes.filter((note) => note.isShownById);
  shown.sort(({ askedAt: a = 0 }, { askedAt: b = 0 }) => b - a);
  // The others are noted anew when their days are read again.
  const forgotten = new Set(shown.slice(mostNotes));
  return { ...missing, notes: notes.filter((note) => !forgotten.has(note)) };
}

/** After failures of others, these were not asked for. They keep their turns. */
export function unasked(missing: Missing, ids: ReadonlySet<number>, nowMs: number): Missing {
  const notes = missing.notes.map((note) =>
    ids.has(note.id) ? { failedSince: nowMs, ...note } : note,
  );
  return ids.size === 0 ? missing : { ...missing, notes };
}

/** Whether its id could not be asked for an hour: ops are told. */
export const isUnanswered = ({ failedSince }: Note, nowMs: number): boolean =>
  failedSince !== undefined && nowMs - failedSince >= oneHourMs;

/** Withdrawals are counted before they are committed, so that a crash does not allow more. */
export function withdrawing(missing: Missing, ids: ReadonlySet<number>, nowMs: number): Missing {
  if (ids.size === 0) return missing;
  const ofAccepted = Math.min(missing.accepted, ids.size);
  const number = ids.size - ofAccepted;
  const hour = Math.floor(nowMs / oneHourMs) * oneHourMs;
  const lately = missing.withdrawn.filter(({ at }) => nowMs - at < oneDayMs);
  const hours = new Map(lately.map((one) => [one.at, one.number]));
  if (number > 0) hours.set(hour, number + (hours.get(hour) ?? 0));
  return {
    ...sighted(missing, ({ id }) => ids.has(id)),
    accepted: missing.accepted - ofAccepted,
    withdrawn: [...hours].map(([at, number]) => ({ at, number })),
  };
}

/** @returns the memory for the state at a tick's end; undefined: there is none */
export function concludedMissing(
  missing: Missing,
  calendar: Pick<Calendar, 'entries' | 'missing'>,
  totals: Totals,
  withdrawAfterMs: number,
  nowMs: number,
): Missing | undefined {
  const { tooManySince = nowMs, lookAt: _, ...rest } = missing;
  const withdrawn = rest.withdrawn.filter(({ at }) => nowMs - at < oneDayMs);
  // At most as many as are missing: the acceptance of one that came back has ended.
  const accepted = Math.min(rest.accepted, lostOf(rest, totals));
  const kept = { ...rest, withdrawn, total: calendar.missing, accepted };
  if (totals.missing + rest.notes.length + withdrawn.length === 0) return undefined;
  if (!mayGo(kept, totals, nowMs)) {
    const toldAt = tooManySince + withdrawAfterMs;
    return { ...kept, tooManySince, lookAt: nowMs < toldAt ? toldAt : nowMs + oneHourMs };
  }
  const times = looksDue(kept, calendar.entries, withdrawAfterMs).map(({ at }) => at);
  if (times.length === 0) return kept;
  // The day's limit is used up, so the next look waits an hour.
  const isDone = allowance(kept, totals, nowMs) === 0;
  return { ...kept, lookAt: isDone ? nowMs + oneHourMs : Math.min(...times) };
}

/**
 * The days to be read because of missing certifications, and when. They are due for the second look
 * at noted ones, and for the first look at ones that could not be noted. After a read without a
 * proof or a failed GET, they are due an hour later. Other days wait for their audits.
 */
export function looksDue(
  { notes }: Missing,
  days: Iterable<readonly [day: string, entry: DayEntry]>,
  withdrawAfterMs: number,
): { readonly day: string; readonly at: number }[] {
  const byDay = Map.groupBy(notes, ({ day }) => day);
  return [...days].flatMap(([day, { missing = 0, readAt, proof }]) => {
    const noted = byDay.get(day) ?? [];
    const times = noted.flatMap(({ since, askedAt, isShownById }) => {
      if (askedAt === undefined) return since + withdrawAfterMs;
      return isShownById ? [] : askedAt + oneHourMs;
    });
    if (missing > noted.length) times.push(readAt + withdrawAfterMs);
    if (times.length === 0) return [];
    const at = Math.min(...times);
    return { day, at: proof === undefined ? Math.max(at, readAt + oneHourMs) : at };
  });
}
