import * as z from 'zod/mini';
import { type Change, idOf, type Sighting } from './compare.ts';

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
const nothing: Counts = { created: 0, updated: 0, restored: 0 };

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

export type Piece = z.output<typeof piece>;

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

export type Unsettled = z.output<typeof unsettled>;

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

export interface GateSettings {
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

export interface Verdict {
  /** To be written before anything of the batch is committed. */
  readonly memory: GateMemory;
  isHeld(change: Change): change is Sighting;
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
  const before = lately(memory, roundMs, nowMs);
  const counted = new Map(before.unsettled.map((one) => [nameOf(one), one]));
  const sightings = batch.filter(isSighting);
  if (sightings.length === 0) return { memory, isHeld: isSighting };
  const found = counting(without(before.found, sightings, counted), sightings, known, nowMs);

  const sums = found.reduce((sum: Counts, piece) => plus(sum, piece), nothing);
  const knownBefore = found[0]?.known ?? known;
  const limit = Math.max(holdAbove, Math.min(mostByShare, Math.floor(knownBefore * share)));
  const news = countsOf(sightings);
  const newsBefore = sums.created + sums.restored - news.created - news.restored;
  // A crash leaves too few known now; before a baseline that ran within the hour, nothing was.
  const knownAtLeast = Math.max(knownBefore, known - newsBefore);
  const next = countsOf(rest.filter(isSighting));
  const toCome = Math.max(0, total - knownAtLeast - sums.created - sums.restored);
  const isFlood = {
    created: sums.created + Math.max(next.created, toCome) > limit,
    restored: sums.restored + Math.max(next.restored, toCome) > limit,
    updated: sums.updated + next.updated > limit,
  };
  const isOut = (change: Sighting) => counted.get(nameOfChange(change))?.isOut ?? false;
  const edits = sightings.filter((change) => isReadEdit(change) && !isOut(change)).length;
  const editsBefore = before.edits.reduce((sum, { number }) => sum + number, 0);
  const isDrip = editsBefore + edits + rest.filter(isReadEdit).length > limit;
  const isOpen = memory.openUntil !== undefined && nowMs < memory.openUntil;
  const isHeld = (change: Change): change is Sighting =>
    isSighting(change) && !isOpen && (isFlood[change.kind] || (isDrip && isReadEdit(change)));

  // What ops let through says nothing of a drip.
  const areEditsOut = isOpen || isFlood.updated || isDrip ? 0 : edits;
  const names = new Set(sightings.map(nameOfChange));
  const at = found.at(-1)?.at ?? nowMs;
  const unsettled = [
    ...before.unsettled.filter((one) => !names.has(nameOf(one))),
    ...sightings.map((change) => ({
      ...{ id: idOf(change), revision: change.revision, at, isOut: !isHeld(change) },
    })),
  ].slice(-mostUnsettled);
  return {
    memory: {
      ...before,
      found,
      edits: passing(before.edits, areEditsOut, roundMs, nowMs),
      unsettled,
    },
    isHeld,
  };
}

/** These are committed, or somebody else's: they will not be found again. */
export function settled(memory: GateMemory, changes: readonly Change[]): GateMemory {
  const names = new Set(changes.map(nameOfChange));
  return { ...memory, unsettled: memory.unsettled.filter((one) => !names.has(nameOf(one))) };
}

/** These could not be committed: edits among them have not gone out after all. */
export function returned(memory: GateMemory, changes: readonly Change[]): GateMemory {
  const names = new Set(changes.map(nameOfChange));
  const unsettled = memory.unsettled.map((one) =>
    names.has(nameOf(one)) ? { ...one, isOut: false } : one,
  );
  const last = memory.edits.at(-1);
  if (last === undefined) return { ...memory, unsettled };
  const number = Math.max(0, last.number - changes.filter(isReadEdit).length);
  return { ...memory, unsettled, edits: [...memory.edits.slice(0, -1), { ...last, number }] };
}

/** What counts still. A clock that was ahead must not hold everything until the others have caught up. */
function lately(memory: GateMemory, roundMs: number, nowMs: number): GateMemory {
  const past = <Timed extends { readonly at: number }>(pieces: readonly Timed[], ms: number) =>
    pieces
      .map((piece) => ({ ...piece, at: Math.min(piece.at, nowMs) }))
      .filter(({ at }) => nowMs - at < ms);
  const { openUntil, ...remembered } = memory;
  return {
    ...remembered,
    found: past(memory.found, oneHourMs + pieceMs),
    edits: past(memory.edits, roundMs + roundMs / piecesOfRound),
    unsettled: past(memory.unsettled, oneHourMs + pieceMs),
    ...(openUntil !== undefined && nowMs < openUntil && { openUntil }),
  };
}

/** The pieces without those of the changes that they have counted already. */
function without(
  found: readonly Piece[],
  changes: readonly Sighting[],
  counted: ReadonlyMap<string, Unsettled>,
): Piece[] {
  const again = Map.groupBy(changes, (change) => counted.get(nameOfChange(change))?.at);
  return found.map((piece) => ({
    ...piece,
    ...plus(piece, countsOf(again.get(piece.at) ?? []), -1),
  }));
}

function counting(
  found: readonly Piece[],
  changes: readonly Sighting[],
  known: number,
  nowMs: number,
): Piece[] {
  const counts = countsOf(changes);
  const last = found.at(-1);
  if (last !== undefined && nowMs - last.at < pieceMs)
    return [...found.slice(0, -1), { ...last, ...plus(last, counts) }];
  return [...found, { at: nowMs, known, ...counts }];
}

function passing(edits: GateMemory['edits'], number: number, roundMs: number, nowMs: number) {
  if (number === 0) return edits;
  const last = edits.at(-1);
  if (last !== undefined && nowMs - last.at < roundMs / piecesOfRound)
    return [...edits.slice(0, -1), { at: last.at, number: last.number + number }];
  return [...edits, { at: nowMs, number }];
}

const isSighting = (change: Change): change is Sighting => change.kind !== 'withdrawn';

/** An edit that the newest page shows comes with at most a page of others. */
const isReadEdit = ({ kind, found }: Change) => kind === 'updated' && found?.in !== 'page';

const nameOf = ({ id, revision }: Pick<Unsettled, 'id' | 'revision'>) => `${id}/${revision}`;
const nameOfChange = (change: Change) => nameOf({ id: idOf(change), revision: change.revision });

function countsOf(sightings: readonly Sighting[]): Counts {
  const number = (kind: Sighting['kind']) => sightings.filter((one) => one.kind === kind).length;
  return { created: number('created'), updated: number('updated'), restored: number('restored') };
}

function plus(a: Counts, b: Counts, sign: 1 | -1 = 1): Counts {
  return {
    created: a.created + sign * b.created,
    updated: a.updated + sign * b.updated,
    restored: a.restored + sign * b.restored,
  };
}
