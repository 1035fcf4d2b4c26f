import * as z from 'zod/mini';
import type { Change, Sighting } from './compare.ts';

const oneHourMs = 3_600_000;
/** The hour is counted in pieces, and each counts until an hour after its end. */
const pieceMs = oneHourMs / 6;
/** So is a round of the audits. */
const piecesOfRound = 4;
/** The limit grows with the ledger up to here. */
const share = 0.01;
const mostByShare = 5_000;
/** Each tick at work reads and writes them all: others are counted again when they are found again. */
const mostUnsettled = 500;

type Counts = Readonly<Record<Sighting['kind'], number>>;
const kinds = ['created', 'updated', 'restored'] as const;

const piece = z.readonly(
  z.object({
    at: z.number(),
    /** Certifications that were known before. */
    known: z.int(),
    created: z.int(),
    updated: z.int(),
    restored: z.int(),
  }),
);

const unsettled = z.readonly(
  z.object({
    id: z.int(),
    revision: z.int(),
    /** In which piece it was counted. */
    at: z.number(),
    /** It was let go. */
    isOut: z.boolean(),
  }),
);

type Unsettled = z.output<typeof unsettled>;

/** What the gate remembers. Times are milliseconds since the epoch. */
export const gateMemory = z.readonly(
  z.object({
    /** Found within the hour, held included, oldest first. */
    found: z.readonly(z.array(piece)),
    /** Edits that reading days has found within a round of the audits, and that went out, oldest first. */
    edits: z.readonly(z.array(z.readonly(z.object({ at: z.number(), number: z.int() })))),
    /** Counted, and perhaps not committed: what is found again counts once, from then on. */
    unsettled: z.readonly(z.array(unsettled)),
    /** Until then nothing is held: ops have said so. */
    openUntil: z.exactOptional(z.number()),
  }),
);

export type GateMemory = z.output<typeof gateMemory>;

export const nothingFound: GateMemory = { found: [], edits: [], unsettled: [] };

interface GateSettings {
  readonly holdAbove: number;
  /** In which the audits come round once. */
  readonly roundMs: number;
}

/** What is known beside a batch that comes to the gate. */
export interface Outlook {
  /** Certifications before it, missing ones included: the return of these is no news. */
  readonly known: number;
  /** As many as the partner counts. */
  readonly total: number;
  /** Found together with it, and next to come to the gate. */
  readonly rest: readonly Change[];
}

interface Verdict {
  /** To be written before anything of the batch is committed. */
  readonly memory: GateMemory;
  readonly held: readonly Sighting[];
  readonly free: readonly Change[];
}

/**
 * The gate counts what was found within the hour, by kind, held included, and what the total says is
 * still to come. Beyond the limit, changes of that kind are held until an hour has found less. Edits
 * come to light a few an hour where days are read: of these no more than the limit go out in a round of
 * the audits. Withdrawals are never held: too many are not withdrawn in the first place (missing.ts).
 */
export function judge(
  memory: GateMemory,
  batch: readonly Change[],
  { known, total, rest }: Outlook,
  { holdAbove, roundMs }: GateSettings,
  nowMs: number,
): Verdict {
  const sightings = batch.filter(isSighting);
  if (sightings.length === 0) return { memory, held: [], free: batch };
  const unsettledBefore = within(memory.unsettled, oneHourMs + pieceMs, nowMs);
  const counted = new Map(unsettledBefore.map((one) => [nameOf(one), one]));
  // What is found again counts once, as of now.
  const again = Map.groupBy(sightings, (change) => counted.get(nameOf(change))?.at);
  const earlier = within(memory.found, oneHourMs + pieceMs, nowMs).map((piece) => ({
    ...piece,
    ...numbersOf([piece], again.get(piece.at), -1),
  }));
  const fresh = { at: nowMs, known, ...numbersOf([]) };
  const found = inLast(earlier, pieceMs, fresh, (piece) => ({
    ...piece,
    ...numbersOf([piece], sightings),
  }));

  const foundBefore = numbersOf(earlier);
  const foundNow = numbersOf([foundBefore], sightings);
  const withRest = numbersOf([foundNow], rest.filter(isSighting));
  const knownBefore = earlier[0]?.known ?? known;
  const limit = Math.max(holdAbove, Math.min(mostByShare, Math.floor(knownBefore * share)));
  // A crash leaves too few known now; before a baseline that ran within the hour, nothing was.
  const knownAtLeast = Math.max(knownBefore, known - foundBefore.created - foundBefore.restored);
  const toCome = Math.max(0, total - knownAtLeast - foundNow.created - foundNow.restored);
  const isFlood = {
    created: Math.max(withRest.created, foundNow.created + toCome) > limit,
    restored: Math.max(withRest.restored, foundNow.restored + toCome) > limit,
    updated: withRest.updated > limit,
  };
  const edits = sightings.filter(
    (change) => isReadEdit(change) && !counted.get(nameOf(change))?.isOut,
  ).length;
  const out = within(memory.edits, roundMs + roundMs / piecesOfRound, nowMs);
  const editsBefore = out.reduce((sum, { number }) => sum + number, 0);
  const isDrip = editsBefore + edits + rest.filter(isReadEdit).length > limit;
  const { openUntil } = memory;
  const isOpen = openUntil !== undefined && nowMs < openUntil;
  const held = sightings.filter(
    (change) => !isOpen && (isFlood[change.kind] || (isDrip && isReadEdit(change))),
  );

  const isHeld: ReadonlySet<Change> = new Set(held);
  const names = new Set(sightings.map(nameOf));
  const at = found.at(-1)?.at ?? nowMs;
  const unsettled = [
    ...unsettledBefore.filter((one) => !names.has(nameOf(one))),
    ...sightings.map((change) => ({
      ...{ id: change.id, revision: change.revision, at, isOut: !isHeld.has(change) },
    })),
  ].slice(-mostUnsettled);
  // What ops let through says nothing of a drip.
  const areEditsOut = edits > 0 && !isOpen && !isFlood.updated && !isDrip;
  const passed = areEditsOut
    ? inLast(out, roundMs / piecesOfRound, { at: nowMs, number: 0 }, (piece) => ({
        ...{ at: piece.at, number: piece.number + edits },
      }))
    : out;
  return {
    memory: { found, edits: passed, unsettled, ...(isOpen && { openUntil }) },
    held,
    free: batch.filter((change) => !isHeld.has(change)),
  };
}

/**
 * What is committed, or somebody else's, will not be found again. What could not be committed will be, and edits
 * among it have not gone out after all.
 */
export function concluded(
  memory: GateMemory,
  committed: readonly Change[],
  failed: readonly Change[],
): GateMemory {
  const done = new Set(committed.map(nameOf));
  const left = new Set(failed.map(nameOf));
  const edits = new Set(failed.filter(isReadEdit).map(nameOf));
  const back = memory.unsettled.filter((one) => one.isOut && edits.has(nameOf(one))).length;
  const last = memory.edits.at(-1);
  return {
    ...memory,
    unsettled: memory.unsettled
      .filter((one) => !done.has(nameOf(one)))
      .map((one) => (left.has(nameOf(one)) ? { ...one, isOut: false } : one)),
    ...(back > 0 &&
      last !== undefined && {
        edits: memory.edits.with(-1, { ...last, number: Math.max(0, last.number - back) }),
      }),
  };
}

/** What counts still. A clock that was ahead must not hold everything until the others have caught up. */
function within<Timed extends { readonly at: number }>(
  pieces: readonly Timed[],
  ms: number,
  nowMs: number,
): Timed[] {
  const noneAhead = pieces.map((piece) => ({ ...piece, at: Math.min(piece.at, nowMs) }));
  return noneAhead.filter(({ at }) => nowMs - at < ms);
}

/** The pieces with something added to the last one, or to a new one when that is over. */
function inLast<Piece extends { readonly at: number }>(
  pieces: readonly Piece[],
  lengthMs: number,
  fresh: Piece,
  add: (piece: Piece) => Piece,
): Piece[] {
  const last = pieces.at(-1);
  const isLasting = last !== undefined && fresh.at - last.at < lengthMs;
  return isLasting ? pieces.with(-1, add(last)) : [...pieces, add(fresh)];
}

/** By kind, with these changes or without them. */
function numbersOf(
  pieces: readonly Counts[],
  changes: readonly Sighting[] = [],
  sign: 1 | -1 = 1,
): Counts {
  const sum = { created: 0, updated: 0, restored: 0 };
  for (const piece of pieces) for (const kind of kinds) sum[kind] += piece[kind];
  for (const { kind } of changes) sum[kind] += sign;
  return sum;
}

const isSighting = (change: Change): change is Sighting => change.kind !== 'withdrawn';

/** An edit that the newest page shows comes with at most a page of others. */
const isReadEdit = ({ kind, found }: Change) => kind === 'updated' && found?.in !== 'page';

const nameOf = ({ id, revision }: Change | Unsettled) => `${id}/${revision}`;
