import * as z from 'zod/mini';
import type { Change, Sighting } from './compare.ts';

const oneHourMs = 3_600_000;
/** The hour is counted in pieces; each counts until an hour after its end. */
const pieceMs = oneHourMs / 6;
/** A round of the audits is counted in pieces, too. */
const piecesOfRound = 4;
/** The limit grows with the ledger, up to `mostByShare`. */
const share = 0.01;
const mostByShare = 5_000;
/**
 * Limit, since each tick at work reads and writes them all. Further changes count again when they
 * are found again.
 */
const mostUnsettled = 500;

const kinds = ['created', 'updated', 'restored'] as const;

const piece = z.readonly(
  z.object({
    at: z.number(),
    /** Certifications known before it. */
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
    /** The piece that counted it. */
    at: z.number(),
    /** The gate let it pass. */
    isOut: z.boolean(),
  }),
);

type Piece = z.output<typeof piece>;

/** The gate's memory. Times are milliseconds since the epoch. */
export const gateMemory = z.readonly(
  z.object({
    /** Changes found within the hour, held ones included, oldest first. */
    found: z.readonly(z.array(piece)),
    /** Edits found by reading days within a round of the audits, and not held, oldest first. */
    edits: z.readonly(z.array(z.readonly(z.object({ at: z.number(), number: z.int() })))),
    /** Counted changes that may be uncommitted. One that is found again counts once, as of then. */
    unsettled: z.readonly(z.array(unsettled)),
    /** Ops let everything pass until then. */
    openUntil: z.exactOptional(z.number()),
  }),
);

export type GateMemory = z.output<typeof gateMemory>;

export const nothingFound: GateMemory = { found: [], edits: [], unsettled: [] };

/** Facts about the time around a batch that comes to the gate. */
export interface Outlook {
  /** Certifications known before it, missing ones included: their return is no news. */
  readonly known: number;
  /** The partner's count. */
  readonly total: number;
  /** Changes found together with it that come to the gate next. */
  readonly rest: readonly Change[];
}

/**
 * The gate counts changes found within the hour, by kind, held ones included, and those that the
 * total says are still to come. Beyond the limit, changes of that kind are held until an hour has
 * found less. Reading days brings edits to light a few an hour, so of these no more than the limit
 * go out in a round of the audits. Withdrawals are never held: too many are not withdrawn in the
 * first place (missing.ts).
 *
 * @param roundMs the time of one round of the audits
 * @returns the memory, which must be written before anything of the batch is committed
 */
export function judge(
  memory: GateMemory,
  batch: readonly Change[],
  { known, total, rest }: Outlook,
  { holdAbove, roundMs }: { readonly holdAbove: number; readonly roundMs: number },
  nowMs: number,
) {
  const all = batch.filter((change) => change.kind !== 'withdrawn');
  // Ops decide on these, however few they are, so they are no part of a flood.
  const doubtful = all.filter(({ found }) => found?.reason !== undefined);
  const sightings = all.filter(({ found }) => found?.reason === undefined);
  if (sightings.length === 0)
    return { memory, held: doubtful, free: batch.filter(({ kind }) => kind === 'withdrawn') };
  const unsettled = within(memory.unsettled, oneHourMs + pieceMs, nowMs);
  const counted = new Map(unsettled.map((one) => [nameOf(one), one]));
  // A change that is found again counts once, as of now.
  const again = Map.groupBy(sightings, (change) => counted.get(nameOf(change))?.at);
  const before = within(memory.found, oneHourMs + pieceMs, nowMs).map((piece) =>
    plus(piece, again.get(piece.at) ?? [], -1),
  );
  const at = Math.floor(nowMs / pieceMs) * pieceMs;
  const begun = before.find((piece) => piece.at === at);
  const last = begun ?? { at, known, created: 0, updated: 0, restored: 0 };
  const found = [...before.filter((piece) => piece !== begun), plus(last, sightings, 1)];

  const knownBefore = before[0]?.known ?? known;
  const limit = Math.max(holdAbove, Math.min(mostByShare, Math.floor(knownBefore * share)));
  const sum = { created: 0, updated: 0, restored: 0 };
  for (const piece of found) for (const kind of kinds) sum[kind] += piece[kind];
  const newNow = sum.created + sum.restored;
  const newBefore = newNow - sightings.filter(({ kind }) => kind !== 'updated').length;
  // After a crash, too few are known now. Before a baseline that ran within the hour, none were.
  const toCome = Math.max(0, total - Math.max(knownBefore, known - newBefore) - newNow);
  const floods: readonly Change['kind'][] = kinds.filter((kind) => {
    const next = rest.filter((change) => change.kind === kind).length;
    return sum[kind] + Math.max(next, kind === 'updated' ? 0 : toCome) > limit;
  });
  const edits = sightings.filter(
    (change) => isReadEdit(change) && !counted.get(nameOf(change))?.isOut,
  ).length;
  const out = within(memory.edits, roundMs + roundMs / piecesOfRound, nowMs);
  const editsBefore = out.reduce((sum, { number }) => sum + number, 0);
  const isDrip = editsBefore + edits + rest.filter(isReadEdit).length > limit;
  const { openUntil } = memory;
  const isOpen = openUntil !== undefined && nowMs < openUntil;
  const flood = isOpen
    ? []
    : sightings.filter((change) => floods.includes(change.kind) || (isDrip && isReadEdit(change)));
  const held = [...doubtful, ...flood];

  const isHeld: ReadonlySet<Change> = new Set(held);
  const names = new Set(sightings.map(nameOf));
  const passing = sightings.map((change) => {
    const { id, revision } = change;
    return { id, revision, at, isOut: !isHeld.has(change) };
  });
  const others = unsettled.filter((one) => !names.has(nameOf(one)));
  // Edits that ops let pass do not count.
  const areEditsOut = edits > 0 && !isOpen && !isDrip && !floods.includes('updated');
  const editsPieceMs = roundMs / piecesOfRound;
  const editsAt = Math.floor(nowMs / editsPieceMs) * editsPieceMs;
  const editsNow = out.find((piece) => piece.at === editsAt)?.number ?? 0;
  const editsOut = [
    ...out.filter((piece) => piece.at !== editsAt),
    { at: editsAt, number: editsNow + edits },
  ];
  return {
    memory: {
      found,
      edits: areEditsOut ? editsOut : out,
      unsettled: [...others, ...passing].slice(-mostUnsettled),
      ...(isOpen && { openUntil }),
    },
    held,
    free: batch.filter((change) => !isHeld.has(change)),
  };
}

/**
 * Committed changes are settled: they will not be found again. Failed ones will be, and edits among
 * them have not gone out after all.
 */
export function concludedGate(
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

/**
 * The pieces that still count. A piece of a clock that was ahead counts as of now: it must not hold
 * everything until the other clocks have caught up.
 */
function within<Timed extends { readonly at: number }>(
  pieces: readonly Timed[],
  ms: number,
  nowMs: number,
): Timed[] {
  const noneAhead = pieces.map((piece) => ({ ...piece, at: Math.min(piece.at, nowMs) }));
  return noneAhead.filter(({ at }) => nowMs - at < ms);
}

function plus(piece: Piece, changes: readonly Sighting[], sign: 1 | -1): Piece {
  const sum = { ...piece };
  for (const { kind } of changes) sum[kind] += sign;
  return sum;
}

/** Edits on the newest page are not counted here: they come with at most a page of others. */
const isReadEdit = ({ kind, found }: Change) => kind === 'updated' && found?.in !== 'page';

const nameOf = ({ id, revision }: { readonly id: number; readonly revision: number }) =>
  `${id}/${revision}`;
