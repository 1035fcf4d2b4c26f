import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { gateAfterRelease } from '../decisions/gate.ts';
import type { Decision } from '../decisions/history.ts';
import type { Decided, WaitingEvent } from '../ports/ledger.ts';
import { writeEach } from '../write-each.ts';
import { define } from './definition.ts';
import { BusyError } from './errors.ts';
import { holdingNow, isSelected, kindOf } from './holds.ts';
import { underLease } from './lease.ts';
import type { Call, OperationParts } from './parts.ts';
import { ifPaused } from './pause.ts';
import { inPortions } from './portions.ts';
import {
  byKind,
  count,
  eventsPerSecond,
  holding,
  instant,
  next,
  noneOfAnyKind,
  paused,
  recorded,
  type WaitingSelection,
  waitingSelection,
} from './shapes.ts';
import { setting } from './words.ts';

/** The most hours for which one command may let everything through. */
export const mostOpenHours = 72;

const decided = {
  /** Events that were released or discarded, or undeliverable ones that are tried again. */
  events: count,
  byType: byKind,
  /** Events that were not selected and go out, because the event before them is decided. */
  freed: count,
  /**
   * Events that left the outbox without going out: each led away from a state of its certification,
   * or back to it.
   */
  undone: count,
  /** Selected events that stay held behind an earlier one of the same certification. */
  behind: count,
  unreadable: count,
  holding,
};

/** Whether a call has decided anything. */
const isDone = ({ events, undone }: { readonly events: number; readonly undone: number }) =>
  events > 0 || undone > 0;

/**
 * Events that are decided together, while ticks have to wait; those of one certification are never
 * apart.
 */
const decidedTogether = 100;
/**
 * With a pace, no more events are decided together than it allows in this time: a call needs that
 * time after each portion.
 */
const pacedSeconds = 3;

/**
 * Releases events that wait for ops: the next tick delivers them, after a pause if there is one. It
 * has a pace, so that subscribers do not get all of a flood at once, and lets ticks work in
 * between. As a digest, only people are told, so no pace is needed.
 */
export const release = define({
  does: 'Releases held events: the next tick delivers them.',
  command: z
    .strictObject({
      command: z.literal('release'),
      ...waitingSelection,
      /** `digest`: people are told by mail; subscribers are not. */
      as: setting(z._default(z.enum(['events', 'digest']), 'events'), 'tell people only, by mail', {
        option: 'digest',
        means: 'digest',
      }),
      /**
       * For this many hours from now on, nothing new of any kind is held, except on days that the
       * baseline could not read; 0: the gate holds again.
       */
      forHours: setting(
        z.optional(z.int().check(z.minimum(0), z.maximum(mostOpenHours))),
        'hold no new event for so long, such as 12h; 0h ends that',
        {
          option: 'for',
          value: 'hours',
          allowed: `0h to ${mostOpenHours}h`,
          read: (text) => /^\d{1,2}h$/.test(text) && Number.parseInt(text, 10),
          excludes: 'earlier',
        },
      ),
      eventsPerSecond,
      ...recorded,
    })
    .check(
      z.refine(
        ({ forHours, waiting, as, organizations, years, types, ids }) => {
          const isSelection = [organizations, years, types, ids].some((some) => some !== undefined);
          return forHours === undefined || (waiting === 'held' && as === 'events' && !isSelection);
        },
        {
          error:
            '`forHours` lets everything through: it goes with no selection, and with no digest',
        },
      ),
    ),
  result: z.object({
    ...decided,
    /** Until then, nothing new is held, except on days that the baseline could not read. */
    openUntil: z.optional(instant),
    paused,
    next,
  }),
  hasChanged: isDone,
  seenIn: 'holds shows the events that are left.',
  async carry(parts, command, call) {
    const { forHours, ...left } = command;
    const openUntil = forHours === undefined ? undefined : await openGate(parts, forHours, call);
    const paused = ifPaused(await parts.ledger.recordedState());
    const { as, waiting, eventsPerSecond } = command;
    const released = waiting === 'held' ? 'released' : 'retried';
    const decided = await (as === 'digest'
      ? decideAll(parts, call, left, 'released-to-people')
      : decideAll(parts, call, left, released, eventsPerSecond));
    return { ...decided, result: { ...decided.result, openUntil, ...paused } };
  },
});

/** Takes events that wait for ops out of the outboxes: nobody is told of them. */
export const discard = define({
  does: 'Discards held events: nobody is told of them.',
  command: z.strictObject({ command: z.literal('discard'), ...waitingSelection, ...recorded }),
  result: z.object({ ...decided, next }),
  hasChanged: isDone,
  seenIn: 'holds shows the events that are left.',
  carry: (parts, command, call) => decideAll(parts, call, command, 'discarded'),
});

/** Lets a busy day through: the gate goes on counting changes, and does not hold them. */
function openGate(parts: OperationParts, hours: number, call: Call): Promise<string | undefined> {
  return underLease(parts, call, async ({ gate }, lease) => {
    const until = parts.clock.now().add({ hours });
    const open = { gate: { ...gate, openUntil: until.epochMilliseconds } };
    if (!(await parts.ledger.saveState(open, lease))) throw new BusyError();
    return hours === 0 ? undefined : until.toString();
  });
}

/**
 * Decides all events of a selection that wait for ops in the same way, certification by
 * certification. Decided events leave the outbox, so restarting is safe.
 *
 * @param perSecond events a second, on average; without it, as fast as possible
 */
async function decideAll<
  Command extends WaitingSelection & { readonly after?: string | undefined },
>(
  parts: OperationParts,
  call: Call,
  command: Command,
  decision: Decision,
  perSecond = Number.POSITIVE_INFINITY,
) {
  const { ledger, clock } = parts;
  // The counts include the decisions of a portion that fails.
  const none = { events: 0, behind: 0, freed: 0, undone: 0, unreadable: 0 };
  const sums = { ...none, byType: noneOfAnyKind() };
  const choose = (event: WaitingEvent) => isSelected(event, command);
  const decideOne = async (id: number) => {
    const one = await ledger.decide(id, command.waiting, decision, choose, clock.now());
    sums.events += one.done.length;
    sums.behind += one.behind;
    sums.freed += one.freed;
    sums.undone += one.undone;
    for (const event of one.done) sums.byType[kindOf(event)] += 1;
    return one.done;
  };
  const isRelease = decision === 'released' || decision === 'released-to-people';
  const together = Math.min(decidedTogether, perSecond * pacedSeconds);
  async function* pages() {
    for await (const page of ledger.waitingForOps(command.waiting, command.after)) {
      sums.unreadable += page.unreadable.length;
      const ids = page.owed.filter(choose).map(({ certificationId }) => certificationId);
      const batches = Map.groupBy(new Set(ids), (id) => Math.floor(ids.indexOf(id) / together));
      for (const items of batches.values()) yield { items, end: undefined };
      yield { items: [], end: page.end };
    }
  }
  const portioning = {
    after: command.after,
    together,
    perSecond,
    done: async (ids: readonly number[]) => {
      const before = sums.events + sums.freed;
      await underLease(parts, call, async ({ gate }, lease) => {
        const letGo: Decided['done'][number][] = [];
        try {
          await writeEach(ids, async (id) => void letGo.push(...(await decideOne(id))));
        } finally {
          // After the decisions: a call that dies in between leaves more held, never less.
          if (isRelease && letGo.length > 0)
            await ledger.saveState({ gate: gateAfterRelease(gate, letGo.map(counted)) }, lease);
        }
      });
      return sums.events + sums.freed - before;
    },
  };
  const stop = await inPortions(parts, call, portioning, pages());
  const next = stop && { ...command, operation: call.operation, after: stop.after };
  const holding = command.waiting === 'held' ? await holdingNow(parts) : {};
  return { result: { ...sums, ...holding, next }, failure: stop?.failure };
}

/** As the gate has counted it, if it has. */
const counted = (waiting: Decided['done'][number]) => ({
  id: waiting.certificationId,
  revision: waiting.revision,
  kind: kindOf(waiting),
  at: Temporal.Instant.from(waiting.event.time).epochMilliseconds,
  found: waiting.found,
});
