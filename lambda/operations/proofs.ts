import { Temporal } from 'temporal-polyfill';
import type { DayEntry, Proof } from '../detection/calendar.ts';
import type { ResultOf } from './contract.ts';

export type DayProof = ResultOf<'prove'>['days'][number];

/**
 * What is proven of each day. A day on which nothing was ever seen has no entry of its own: it was
 * read with the next day that has one, or, after the last, with that. It counts as proven only if its
 * neighbours on both sides are, and only since the older of the two proofs: it may have been read with
 * either.
 *
 * @param most days at once, from the first on
 */
export function proofsOf(
  calendar: ReadonlyMap<string, DayEntry>,
  from: string,
  to: string,
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
    if (entry !== undefined) {
      days.push({ day, ...dayProof(entry) });
      next += 1;
    } else days.push({ day, ...betweenProof(calendar, known[next - 1], known[next]) });
  }
  return days;
}

export function dayProof({ count, proof, digest, readAt, unprovenSince }: DayEntry) {
  return {
    count: Math.max(0, count),
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
    ...(isProven && { proof: told(oldest) }),
    ...(readWith !== undefined && { readWith }),
  };
}

const told = ({ kind, at }: Proof) => ({ kind, at: instant(at) });

export function instant(ms: number): string {
  return Temporal.Instant.fromEpochMilliseconds(ms).toString();
}
