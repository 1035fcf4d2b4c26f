import { Temporal } from 'temporal-polyfill';
import type { DayEntry, Proof } from '../decisions/calendar.ts';
import type { DayCertified } from './shapes.ts';

/** The oldest unproven days are listed, up to this number. */
const unprovenShown = 20;

/** In any time zone, a day ends within this time after midnight of its date in UTC. */
const longestDayMs = 48 * 3_600_000;

interface Present {
  readonly now: Temporal.Instant;
  readonly timeZone: string;
}

/**
 * The proof of each day. A day on which nothing was ever seen has no entry of its own: it was read
 * with the next day that has one, or, after the last, with that. It counts as proven only if its
 * neighbours on both sides are, and only since the older of the two proofs: it may have been read
 * with either. A read that began before a day was over does not prove the day.
 */
export function proofsOf(
  calendar: ReadonlyMap<string, DayEntry>,
  { from, to }: { readonly from: string; readonly to: string },
  present: Present,
): DayCertified[] {
  const known = [...calendar.keys()].sort();
  const first = Temporal.PlainDate.from(from);
  const { days } = first.until(to, { largestUnit: 'days' });
  let next = 0;
  return Array.from({ length: days + 1 }, (_, n): DayCertified => {
    const date = first.add({ days: n });
    const day = date.toString();
    while ((known[next] ?? day) < day) next += 1;
    const own = calendar.get(day);
    const besides = [known[next - 1], known[next]].filter((one) => one !== undefined);
    const entry = own ?? between(besides.map((one) => calendar.get(one)?.proof));
    const { state, isProofEarlier } = stateOf(date, entry.proof?.at, present);
    const unproven = own ? undefined : besides.find((one) => !calendar.get(one)?.proof);
    const why = state === 'unproven' ? causeOf(entry, unproven) : {};
    const told = proofOfDay(entry);
    if (isProofEarlier) return { day, state, count: told.count, ...why };
    return { day, state, ...told, ...why, readWith: own ? undefined : besides.at(-1) };
  });
}

/** @param neighbour an unproven neighbour of a day without an entry */
function causeOf(
  { proof, readAt }: DayEntry,
  neighbour: string | undefined,
): Pick<DayCertified, 'cause' | 'neighbour'> {
  if (neighbour !== undefined) return { cause: 'neighbour', neighbour };
  if (proof !== undefined) return { cause: 'before-its-end' };
  return { cause: readAt > 0 ? 'without-proof' : 'never-read' };
}

/** The proof of a day without an entry: the older one of its neighbours' proofs. */
function between(proofs: readonly (Proof | undefined)[]): DayEntry {
  const isProven = proofs.every((proof) => proof !== undefined);
  const [oldest] = isProven ? proofs.toSorted((a, b) => a.at - b.at) : [];
  return { count: 0, readAt: 0, ...(oldest && { proof: { ...oldest, count: 0 } }) };
}

/**
 * The state of a day, by when its proof began. A proof from before the day began says nothing about
 * it.
 */
function stateOf(
  date: Temporal.PlainDate,
  provenAt: number | undefined,
  { now, timeZone }: Present,
): { state: DayCertified['state']; isProofEarlier?: boolean } {
  const overAtLatest = Date.parse(date.toString()) + longestDayMs;
  if (now.epochMilliseconds > overAtLatest && (provenAt ?? now.epochMilliseconds) > overAtLatest)
    return { state: provenAt === undefined ? 'unproven' : 'proven' };
  // It takes time to find when a day begins, and most days do not need it.
  const begin = date.toZonedDateTime(timeZone).epochMilliseconds;
  const end = date.add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds;
  const isProofEarlier = provenAt !== undefined && provenAt < begin;
  const [isBegun, isOver] = [now.epochMilliseconds >= begin, now.epochMilliseconds >= end];
  if (!isBegun) return { state: 'not-yet', isProofEarlier };
  if (provenAt === undefined) return { state: 'unproven' };
  if (!isOver) return { state: 'open', isProofEarlier };
  return { state: provenAt >= end ? 'proven' : 'unproven', isProofEarlier };
}

export function proofOfDay({ count, proof, digest, unprovenSince, askedAt }: DayEntry) {
  const since = count - (proof?.count ?? count);
  return {
    count: proof?.count ?? Math.max(0, count),
    since: since === 0 ? undefined : since,
    proof: proof && { kind: proof.kind, at: timeOf(proof.at) },
    digest: proof && digest,
    unprovenSince: unprovenSince === undefined ? undefined : timeOf(unprovenSince),
    askedAt: askedAt === undefined ? undefined : timeOf(askedAt),
  };
}

/** The oldest proof; and the days up to today that a certificate calls unproven. */
export function proofOverview(calendar: ReadonlyMap<string, DayEntry>, present: Present) {
  const proven = [...calendar].flatMap(([day, { proof }]) =>
    proof ? [{ day, at: proof.at }] : [],
  );
  const [oldest] = proven.sort((a, b) => a.at - b.at || (a.day < b.day ? -1 : 1));
  const ranges = [...unprovenRanges(calendar, present)];
  const first = ranges
    .slice(0, unprovenShown)
    .flatMap(({ from, days }) =>
      Array.from({ length: Math.min(days, unprovenShown) }, (_, n) => `${from.add({ days: n })}`),
    );
  return {
    oldestProof: oldest && { ...oldest, at: timeOf(oldest.at) },
    unproven: {
      days: ranges.reduce((all, { days }) => all + days, 0),
      first: first.slice(0, unprovenShown),
    },
  };
}

/**
 * Ranges of unproven days from the oldest entry to today. A single certification of the year 1
 * makes that 740,000 days, so the time must depend on the number of entries.
 */
function* unprovenRanges(
  calendar: ReadonlyMap<string, DayEntry>,
  present: Present,
): Generator<{ readonly from: Temporal.PlainDate; readonly days: number }> {
  const today = present.now.toZonedDateTimeISO(present.timeZone).toPlainDate();
  const known = [...calendar.keys()].sort();
  for (const [index, day] of known.entries()) {
    const date = Temporal.PlainDate.from(day);
    const proof = calendar.get(day)?.proof;
    yield* unprovenIn(date, date, proof?.at, today, present);
    const next = known[index + 1];
    const proofs = [proof, ...(next === undefined ? [] : [calendar.get(next)?.proof])];
    const last = next === undefined ? today : Temporal.PlainDate.from(next).subtract({ days: 1 });
    yield* unprovenIn(date.add({ days: 1 }), last, between(proofs).proof?.at, today, present);
  }
}

/**
 * Unproven days among those that have one proof: without it all of them, else those that were not
 * over when it began, and are over now.
 */
function* unprovenIn(
  from: Temporal.PlainDate,
  to: Temporal.PlainDate,
  provenAt: number | undefined,
  today: Temporal.PlainDate,
  { timeZone }: Present,
) {
  if (provenAt !== undefined && provenAt - Date.parse(to.toString()) > longestDayMs) return;
  const [begin, over] =
    provenAt === undefined
      ? [from, today]
      : [dayAt(provenAt, timeZone), today.subtract({ days: 1 })];
  const first = inOrder(from, begin)[1];
  const last = inOrder(to, over)[0];
  const days = first.until(last, { largestUnit: 'days' }).days + 1;
  if (days > 0) yield { from: first, days };
}

const inOrder = (...days: [Temporal.PlainDate, Temporal.PlainDate]) =>
  days.sort(Temporal.PlainDate.compare);

const dayAt = (ms: number, timeZone: string) =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate();

export function timeOf(ms: number): string {
  return Temporal.Instant.fromEpochMilliseconds(ms).toString();
}
