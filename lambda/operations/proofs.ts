import { Temporal } from 'temporal-polyfill';
import type { DayEntry, Proof } from '../detection/calendar.ts';
import type { ResultOf } from './contract.ts';

type DayProof = ResultOf<'prove'>['days'][number];

/** Of the days without a proof, the oldest. */
const unprovenShown = 20;

/**
 * What is proven of each day. A day on which nothing was ever seen has no entry of its own: it was
 * read with the next day that has one, or, after the last, with that. It counts as proven only if its
 * neighbours on both sides are, and only since the older of the two proofs: it may have been read with
 * either. No day is complete by a read that began before it was over.
 */
export function proofsOf(
  calendar: ReadonlyMap<string, DayEntry>,
  { from, to }: { readonly from: string; readonly to: string },
  { now, timeZone }: { readonly now: Temporal.Instant; readonly timeZone: string },
): DayProof[] {
  const known = [...calendar.keys()].sort();
  const first = Temporal.PlainDate.from(from);
  const { days } = first.until(to, { largestUnit: 'days' });
  let next = 0;
  return Array.from({ length: days + 1 }, (_, n): DayProof => {
    const date = first.add({ days: n });
    const day = date.toString();
    while ((known[next] ?? day) < day) next += 1;
    const own = calendar.get(day);
    const besides = [known[next - 1], known[next]].filter((one) => one !== undefined);
    const entry = own ?? between(besides.map((one) => calendar.get(one)?.proof));
    const begin = date.toZonedDateTime(timeZone).epochMilliseconds;
    const end = date.add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds;
    const told = dayProof(entry);
    const at = entry.proof?.at;
    const standing = standingOf(now.epochMilliseconds, begin, end, at);
    // A proof from before a day has begun says nothing of it.
    if (at !== undefined && at < begin) return { day, standing, count: told.count };
    return { day, standing, ...told, readWith: own ? undefined : besides.at(-1) };
  });
}

/** What a day without an entry has of the proofs of its neighbours: the older one. */
function between(proofs: readonly (Proof | undefined)[]): DayEntry {
  const isProven = proofs.every((proof) => proof !== undefined);
  const [oldest] = isProven ? proofs.toSorted((a, b) => a.at - b.at) : [];
  return { count: 0, readAt: 0, ...(oldest && { proof: { ...oldest, count: 0 } }) };
}

/** Of a day, by the times at which it begins and ends. */
function standingOf(
  now: number,
  begin: number,
  end: number,
  provenAt: number | undefined,
): DayProof['standing'] {
  if (now < begin) return 'not-yet';
  if (provenAt === undefined) return 'unproven';
  if (now < end) return 'open';
  return provenAt >= end ? 'proven' : 'unproven';
}

export function dayProof({ count, proof, digest, unprovenSince }: DayEntry) {
  const since = count - (proof?.count ?? count);
  return {
    count: proof?.count ?? Math.max(0, count),
    since: since === 0 ? undefined : since,
    proof: proof && { kind: proof.kind, at: instant(proof.at) },
    digest: proof && digest,
    unprovenSince: unprovenSince === undefined ? undefined : instant(unprovenSince),
  };
}

/** The oldest proof, and the days that have none. */
export function proofOverview(
  calendar: ReadonlyMap<string, DayEntry>,
): Pick<ResultOf<'status'>, 'oldestProof' | 'unproven'> {
  const days = [...calendar].sort(([a], [b]) => (a < b ? -1 : 1));
  const proven = days.flatMap(([day, { proof }]) => (proof ? [{ day, at: proof.at }] : []));
  const [oldest] = proven.sort((a, b) => a.at - b.at);
  const unproven = days.flatMap(([day, { proof }]) => (proof ? [] : [day]));
  return {
    oldestProof: oldest && { ...oldest, at: instant(oldest.at) },
    unproven: { days: unproven.length, first: unproven.slice(0, unprovenShown) },
  };
}

export function instant(ms: number): string {
  return Temporal.Instant.fromEpochMilliseconds(ms).toString();
}
