import * as z from 'zod/mini';
import type { Change, Found, Sighting } from './compare.ts';

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

type Kind = (typeof kinds)[number];

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

/**
 * Changes that were held for the partner's total alone: the changes found were few. They leave by
 * themselves once the total has agreed with the calendar for long enough.
 */
const foretold = z.readonly(
  z.object({
    events: z.readonly(
      z.array(z.readonly(z.object({ id: z.int(), revision: z.int(), kind: z.enum(kinds) }))),
    ),
    /** Of these kinds too many were found meanwhile: all of them are for ops. */
    forOps: z.readonly(z.array(z.enum(kinds))),
    /** Since when each pulse's total has agreed; absent: the last one did not. */
    agreedSince: z.exactOptional(z.number()),
  }),
);

type Foretold = z.output<typeof foretold>;

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
    foretold: z.exactOptional(foretold),
  }),
);

export type GateMemory = z.output<typeof gateMemory>;

/**
 * When a tick has to look at the changes that were held for the total alone, in milliseconds since
 * the epoch. `agreement`: once a pulse's total agrees with the calendar.
 */
export const gateLook = z.union([z.number(), z.literal('agreement')]);

export type GateLook = z.output<typeof gateLook>;

/** @param agrees the pulse's total equals the calendar's sum */
export function isGateDue(look: GateLook | undefined, agrees: boolean, nowMs: number): boolean {
  return look === 'agreement' ? agrees : look !== undefined && look <= nowMs;
}

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
 * found less. Those held for the total alone are noted. Reading days brings edits to light a few an
 * hour, so of these no more than the limit go out in a round of the audits. Withdrawals are never
 * held: too many are not withdrawn in the first place (missing.ts).
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
  const changes = batch.filter((change) => change.kind !== 'withdrawn');
  // Ops decide on these, however few they are, so they are no part of a flood.
  const doubtful = changes.filter(({ found }) => !isCounted(found));
  const sightings = changes.filter(({ found }) => isCounted(found));
  if (sightings.length === 0) {
    const free = batch.filter(({ kind }) => kind === 'withdrawn');
    return { memory, held: doubtful, mayLeave: false, free };
  }
  const unsettled = within(memory.unsettled, oneHourMs + pieceMs, nowMs);
  const counted = new Map(unsettled.map((one) => [nameOf(one), one]));
  // A change that is found again counts once, as of now.
  const again = Map.groupBy(sightings, (change) => counted.get(nameOf(change))?.at);
  const before = within(memory.found, oneHourMs + pieceMs, nowMs).map((piece) =>
    plus(piece, again.get(piece.at) ?? [], -1),
  );
  const at = pieceOf(nowMs);
  const begun = before.find((piece) => piece.at === at);
  const last = begun ?? { at, known, created: 0, updated: 0, restored: 0 };
  const found = [...before.filter((piece) => piece !== begun), plus(last, sightings, 1)];

  const knownBefore = before[0]?.known ?? known;
  const limit = limitOf(holdAbove, knownBefore);
  const all = sumOf(found);
  const newNow = all.created + all.restored;
  const newBefore = newNow - sightings.filter(({ kind }) => kind !== 'updated').length;
  // After a crash, too few are known now. Before a baseline that ran within the hour, none were.
  const toCome = Math.max(0, total - Math.max(knownBefore, known - newBefore) - newNow);
  const byCount: readonly Change['kind'][] = kinds.filter(
    (kind) => all[kind] + rest.filter((change) => change.kind === kind).length > limit,
  );
  const isByTotal = ({ kind }: Sighting) =>
    kind !== 'updated' && all[kind] + toCome > limit && !byCount.includes(kind);
  const edits = sightings.filter(
    (change) => isReadEdit(change) && !counted.get(nameOf(change))?.isOut,
  ).length;
  const drip = dripWith(memory, edits, roundMs, nowMs);
  const isDrip = drip.number + rest.filter(isReadEdit).length > limit;
  const { openUntil } = memory;
  const isOpen = openUntil !== undefined && nowMs < openUntil;
  const flood = isOpen
    ? []
    : sightings.filter(
        (change) =>
          byCount.includes(change.kind) || isByTotal(change) || (isDrip && isReadEdit(change)),
      );
  const held = [...doubtful, ...flood];

  const isHeld: ReadonlySet<Change> = new Set(held);
  const names = new Set(sightings.map(nameOf));
  const passing = sightings.map((change) => {
    const { id, revision } = change;
    return { id, revision, at, isOut: !isHeld.has(change) };
  });
  const others = unsettled.filter((one) => !names.has(nameOf(one)));
  // Edits that ops let pass do not count.
  const areEditsOut = edits > 0 && !isOpen && !isDrip && !byCount.includes('updated');
  const foretold = foretoldWith(memory.foretold, sightings, flood.filter(isByTotal), flood, limit);
  const mayLeave = new Set(foretold?.events.map(nameOf));
  return {
    memory: {
      found,
      edits: areEditsOut ? drip.after : drip.before,
      unsettled: [...others, ...passing].slice(-mostUnsettled),
      ...(isOpen && { openUntil }),
      ...(foretold && { foretold }),
    },
    held,
    /** The held ones may leave by themselves. */
    mayLeave: held.length > 0 && held.every((change) => mayLeave.has(nameOf(change))),
    free: batch.filter((change) => !isHeld.has(change)),
  };
}

/** The edits that went out within a round of the audits, without and with this many more. */
function dripWith(memory: GateMemory, edits: number, roundMs: number, nowMs: number) {
  const editsPieceMs = roundMs / piecesOfRound;
  const before = within(memory.edits, roundMs + editsPieceMs, nowMs);
  const at = Math.floor(nowMs / editsPieceMs) * editsPieceMs;
  const number = (before.find((piece) => piece.at === at)?.number ?? 0) + edits;
  const after = [...before.filter((piece) => piece.at !== at), { at, number }];
  return { number: after.reduce((sum, piece) => sum + piece.number, 0), before, after };
}

/**
 * As soon as one change of a kind is held because of those found, or more of a kind were held for
 * the total alone than the limit, all of that kind are for ops.
 */
function foretoldWith(
  before: Foretold = { events: [], forOps: [] },
  batch: readonly Sighting[],
  byTotal: readonly Sighting[],
  held: readonly Sighting[],
  limit: number,
): Foretold | undefined {
  const names = new Set(batch.map(nameOf));
  const added = byTotal.map(({ id, revision, kind }) => ({ id, revision, kind }));
  const events = [...before.events.filter((one) => !names.has(nameOf(one))), ...added];
  if (events.length + before.forOps.length === 0) return undefined;
  const most = Math.min(limit, mostUnsettled);
  const forOps = kinds.filter(
    (kind) =>
      before.forOps.includes(kind) ||
      events.filter((one) => one.kind === kind).length > most ||
      held.some((change) => change.kind === kind && !byTotal.includes(change)),
  );
  const { agreedSince } = before;
  return {
    events: events.filter(({ kind }) => !forOps.includes(kind)),
    forOps,
    ...(added.length === 0 && agreedSince !== undefined && { agreedSince }),
  };
}

/**
 * At a tick's end: the changes that leave by themselves, and the time of the next look.
 *
 * @param agrees the pulse's total equals the calendar's sum, finds of this tick included
 * @param isInterrupted a tick has died since, and the total that it saw is lost
 */
export function foretoldAfter(
  { foretold, ...memory }: GateMemory,
  { agrees, isInterrupted }: { readonly agrees: boolean; readonly isInterrupted: boolean },
  withdrawAfterMs: number,
  nowMs: number,
): {
  readonly memory: GateMemory;
  readonly leaving: Foretold['events'];
  readonly look?: GateLook;
} {
  if (foretold === undefined) return { memory, leaving: [] };
  const { agreedSince = nowMs, ...rest } = foretold;
  if (!agrees) return { memory: { ...memory, foretold: rest }, leaving: [], look: 'agreement' };
  const since = isInterrupted ? nowMs : Math.min(agreedSince, nowMs);
  if (nowMs - since >= withdrawAfterMs) return { memory, leaving: rest.events };
  const waiting = { ...memory, foretold: { ...rest, agreedSince: since } };
  return { memory: waiting, leaving: [], look: since + withdrawAfterMs };
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

function sumOf(pieces: readonly Piece[]): Readonly<Record<Kind, number>> {
  const sum = { created: 0, updated: 0, restored: 0 };
  for (const piece of pieces) for (const kind of kinds) sum[kind] += piece[kind];
  return sum;
}

const pieceOf = (ms: number) => Math.floor(ms / pieceMs) * pieceMs;

const limitOf = (holdAbove: number, known: number) =>
  Math.max(holdAbove, Math.min(mostByShare, Math.floor(known * share)));

/** A held event that ops let go. `at`: its time, in milliseconds since the epoch. */
interface Released {
  readonly id: number;
  readonly revision: number;
  readonly kind: Change['kind'];
  readonly at: number;
  readonly found?: Pick<Found, 'reason'> | undefined;
}

/**
 * Ops have looked at released events, so these no longer hold others back. Discarded ones go on
 * counting. An event was counted in the piece of its own time, or never if it is a doubtful one.
 */
export function gateAfterRelease(memory: GateMemory, released: readonly Released[]): GateMemory {
  const counted = released.filter(({ found }) => isCounted(found));
  const byPiece = Map.groupBy(counted, ({ at }) => pieceOf(at));
  const found = memory.found.map((piece) => plus(piece, byPiece.get(piece.at) ?? [], -1));
  const names = new Set(released.map(nameOf));
  const left = memory.foretold?.events.filter((one) => !names.has(nameOf(one)));
  return {
    ...memory,
    found,
    ...(memory.foretold && left && { foretold: { ...memory.foretold, events: left } }),
  };
}

/**
 * The kinds of which even one more change would be held, because of those that count already, and
 * until when: milliseconds since the epoch.
 *
 * @returns undefined if there is none
 */
export function stillHolding(
  memory: GateMemory,
  holdAbove: number,
  nowMs: number,
): { readonly until: number; readonly kinds: readonly Kind[] } | undefined {
  const from = Math.max(nowMs, memory.openUntil ?? nowMs);
  const pieces = within(memory.found, oneHourMs + pieceMs, from);
  const isHolding = (kind: Kind, left: readonly Piece[]) =>
    sumOf(left)[kind] >= limitOf(holdAbove, left[0]?.known ?? 0);
  const held = kinds.filter((kind) => isHolding(kind, pieces));
  const isOver = (left: readonly Piece[]) => !held.some((kind) => isHolding(kind, left));
  const last = pieces.find((_, index) => isOver(pieces.slice(index + 1)));
  return last && held.length > 0
    ? { until: last.at + oneHourMs + pieceMs, kinds: held }
    : undefined;
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

function plus(piece: Piece, changes: readonly Pick<Change, 'kind'>[], sign: 1 | -1): Piece {
  const sum = { ...piece };
  for (const { kind } of changes)
    if (kind !== 'withdrawn') sum[kind] = Math.max(0, sum[kind] + sign);
  return sum;
}

/** A doubtful change, which is held for a reason of its own, is not. */
const isCounted = (found: Pick<Found, 'reason'> | undefined) => found?.reason === undefined;

/** Edits on the newest page are not counted here: they come with at most a page of others. */
const isReadEdit = ({ kind, found }: Change) => kind === 'updated' && found?.in !== 'page';

const nameOf = ({ id, revision }: { readonly id: number; readonly revision: number }) =>
  `${id}/${revision}`;
