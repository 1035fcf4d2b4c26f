import { Temporal } from 'temporal-polyfill';
import type { DayEntry, Proof } from '../detection/calendar.ts';
import type { ResultOf } from './contract.ts';

export type DayProof = ResultOf<'prove'>['days'][number];

/** The time at which, and the zone in which, days are over or not. */
export interface Present {
  readonly now: Temporal.Instant;
  readonly timeZone: string;
}

/** Of the days without a proof, the oldest. */
const unprovenShown = 20;

/**
 * What is proven of each day. A day on which nothing was ever seen has no entry of its own: it was
 * read with the next day that has one, or, after the last, with that. It counts as proven only if its
 * neighbours on both sides are, and only since the older of the two proofs: it may have been read with
 * either. No day is complete by a read that began before it was over.
 *
 * @param most days at once, from the first on
 */
export function proofsOf(
  calendar: ReadonlyMap<string, DayEntry>,
  { from, to }: { readonly from: string; readonly to: string },
  present: Present,
  most: number,
): DayProof[] {
  const known = [...calendar.keys()].sort();
  const last = Temporal.PlainDate.from(to);
  const days: DayProof[] = [];
  let next = known.findIndex((day) => day >= from);
  if (next < 0) next = known.length;
  for (
    let date = Temporal.PlainDate.from(from);
    days.length < most && Temporal.PlainDate.compare(date, last) <= 0;
    date = date.add({ days: 1 })
  ) {
    const day = date.toString();
    const entry = calendar.get(day);
    const found =
      entry === undefined
        ? betweenProof(calendar, known[next - 1], known[next])
        : { ...dayProof(entry), provenAt: entry.proof?.at };
    if (entry !== undefined) next += 1;
    const { provenAt, ...proof } = found;
    const standing = standingOf(date, provenAt, present);
    const isBefore = provenAt !== undefined && provenAt < beginningOf(date, present);
    // A proof from before a day has begun says nothing of it.
    days.push({ day, standing, ...(isBefore ? { count: proof.count } : proof) });
  }
  return days;
}

function beginningOf(date: Temporal.PlainDate, { timeZone }: Present): number {
  return date.toZonedDateTime(timeZone).epochMilliseconds;
}

function standingOf(
  date: Temporal.PlainDate,
  provenAt: number | undefined,
  present: Present,
): DayProof['standing'] {
  const now = present.now.epochMilliseconds;
  const end = beginningOf(date.add({ days: 1 }), present);
  if (now < beginningOf(date, present)) return 'not-yet';
  if (provenAt === undefined) return 'unproven';
  if (now < end) return 'open';
  return provenAt >= end ? 'proven' : 'unproven';
}

export function dayProof({ count, proof, digest, readAt, unprovenSince }: DayEntry) {
  const since = count - (proof?.count ?? count);
  return {
    count: proof?.count ?? Math.max(0, count),
    ...(since !== 0 && { since }),
    ...(proof && { proof: told(proof) }),
    ...(proof && digest !== undefined && { digest }),
    ...(readAt > 0 && { readAt: instant(readAt) }),
    ...(unprovenSince !== undefined && { unprovenSince: instant(unprovenSince) }),
  };
}

function betweenProof(
  calendar: ReadonlyMap<string, DayEntry>,
  before: string | undefined,
  after: string | undefined,
) {
  const readWith = after ?? before;
  const neighbours = [before, after].flatMap((day) =>
    day === undefined ? [] : [calendar.get(day)],
  );
  const proofs = neighbours.map((entry) => entry?.proof);
  const [oldest] = proofs.filter((proof) => proof !== undefined).sort((a, b) => a.at - b.at);
  const isProven = oldest !== undefined && proofs.every((proof) => proof !== undefined);
  return {
    count: 0,
    provenAt: isProven ? oldest.at : undefined,
    ...(isProven && { proof: told(oldest) }),
    ...(readWith !== undefined && { readWith }),
  };
}

/** The oldest proofs, and the days that have none. */
export function proofOverview(
  calendar: ReadonlyMap<string, DayEntry>,
  recentFrom: string,
): Pick<ResultOf<'status'>, 'oldestProof' | 'unproven'> {
  const oldest = new Map<'recent' | 'history', { day: string; at: number }>();
  const unproven: { day: string; unprovenSince: number | undefined }[] = [];
  for (const [day, { proof, unprovenSince }] of calendar) {
    if (proof === undefined) {
      unproven.push({ day, unprovenSince });
      continue;
    }
    const part = day >= recentFrom ? 'recent' : 'history';
    const before = oldest.get(part);
    if (before === undefined || proof.at < before.at) oldest.set(part, { day, at: proof.at });
  }
  const oldestOf = (part: 'recent' | 'history') => {
    const found = oldest.get(part);
    return found && { [part]: { day: found.day, at: instant(found.at) } };
  };
  return {
    oldestProof: { ...oldestOf('recent'), ...oldestOf('history') },
    unproven: {
      days: unproven.length,
      first: unproven
        .sort((a, b) => (a.day < b.day ? -1 : 1))
        .slice(0, unprovenShown)
        .map(({ day, unprovenSince }) => ({
          day,
          ...(unprovenSince !== undefined && { since: instant(unprovenSince) }),
        })),
    },
  };
}

const told = ({ kind, at }: Proof) => ({ kind, at: instant(at) });

export function instant(ms: number): string {
  return Temporal.Instant.fromEpochMilliseconds(ms).toString();
}
