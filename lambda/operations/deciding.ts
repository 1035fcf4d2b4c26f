import type { Decision, KeptEvent } from '../ports/ledger.ts';
import { writeEach } from '../write-each.ts';
import { noneOfAnyKind, type Selection } from './contract.ts';
import { BusyError } from './errors.ts';
import { isSelected, kindOf } from './holds.ts';
import { underLease } from './lease.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';
import { inPortions } from './portions.ts';
import { ifPaused } from './steering.ts';

/** Events that are decided upon together, while ticks have to wait; those of one certification are never apart. */
const decidedTogether = 100;
/** At a pace, no more than such a time has: a call has to have that much left after each of them. */
const pacedSeconds = 3;

/**
 * Sends on what waits for ops: the next tick delivers it, after a pause if there is one. At a pace,
 * so that subscribers do not get all of a flood at once, and with ticks in between. As a digest, only
 * people are told, and there is nobody to be spared.
 */
export const release: Carrier<'release'> = async (parts, command, call) => {
  const { forHours, ...left } = command;
  const openUntil = forHours === undefined ? undefined : await openGate(parts, forHours, call);
  const paused = ifPaused(await parts.ledger.recordedState());
  const { as, waiting, eventsPerSecond } = command;
  const released = waiting === 'held' ? 'released' : 'retried';
  const decided = await (as === 'digest'
    ? decideAll(parts, call, left, 'released-to-people')
    : decideAll(parts, call, left, released, eventsPerSecond));
  return { ...decided, result: { ...decided.result, openUntil, ...paused } };
};

/** Takes what waits for ops out of the outboxes: nobody is told of it. */
export const discard: Carrier<'discard'> = (parts, command, call) =>
  decideAll(parts, call, command, 'discarded');

/** A busy day is let through: what the gate finds is counted as ever, and not held. */
function openGate(parts: OperationParts, hours: number, call: Call): Promise<string | undefined> {
  return underLease(parts, call, async ({ gate }, lease) => {
    const until = parts.clock.now().add({ hours });
    const open = { gate: { ...gate, openUntil: until.epochMilliseconds } };
    if (!(await parts.ledger.saveState(open, lease))) throw new BusyError();
    return hours === 0 ? undefined : until.toString();
  });
}

/**
 * Does the same to every event of a selection that waits for ops, certification by certification.
 * Decided events leave the outbox, so restarting is safe.
 *
 * @param perSecond at most so many on average; without it, as fast as it goes
 */
async function decideAll<Command extends Selection & { readonly after?: string | undefined }>(
  parts: OperationParts,
  call: Call,
  command: Command,
  decision: Decision,
  perSecond = Number.POSITIVE_INFINITY,
) {
  const { opsLedger, clock } = parts;
  // What was done; of a portion that fails, too.
  const none = { events: 0, behind: 0, freed: 0, undone: 0, unreadable: 0 };
  const sums = { ...none, byType: noneOfAnyKind() };
  const choose = (event: KeptEvent) => isSelected(event, command);
  const decideOne = async (id: number) => {
    const one = await opsLedger.decide(id, command.waiting, decision, choose, clock.now());
    sums.events += one.done.length;
    sums.behind += one.behind;
    sums.freed += one.freed;
    sums.undone += one.undone;
    for (const event of one.done) sums.byType[kindOf(event)] += 1;
  };
  const together = Math.min(decidedTogether, perSecond * pacedSeconds);
  async function* pages() {
    for await (const page of parts.ledger.kept(command.waiting, command.after)) {
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
      await underLease(parts, call, () => writeEach(ids, decideOne));
      return sums.events + sums.freed - before;
    },
  };
  const stop = await inPortions(parts, call, portioning, pages());
  const next = stop && { ...command, operation: call.operation, after: stop.after };
  return { result: { ...sums, next }, failure: stop?.failure };
}
