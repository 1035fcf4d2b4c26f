import pMap from 'p-map';
import { leaseOf } from '../lease.ts';
import type { Decision, KeptEvent } from '../ports/ledger.ts';
import { noneOfAnyKind } from './contract/common.ts';
import type { Selection } from './contract.ts';
import { BusyError } from './errors.ts';
import { isSelected, kindOf } from './holds.ts';
import { underLease } from './lease.ts';
import { atPace } from './pace.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';
import { ifPaused } from './steering.ts';

/** Events that are decided upon together, while ticks have to wait. */
const decidedTogether = 100;
/** At a pace, no more than such a time has: a call has to have that much left after each of them. */
const pacedSeconds = 3;
const writesAtOnce = 16;

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
  return underLease(parts, call, async ({ gate }) => {
    const until = parts.clock.now().add({ hours });
    const lease = leaseOf(call.id, call.killedAt);
    const open = { gate: { ...gate, openUntil: until.epochMilliseconds } };
    if (!(await parts.ledger.saveState(open, lease))) throw new BusyError();
    return hours === 0 ? undefined : until.toString();
  });
}

/** What was done; of a batch that fails, too. */
const noneYet = () => ({ events: 0, byType: noneOfAnyKind(), behind: 0, freed: 0, unreadable: 0 });

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
  const { limit, killedAt, operation } = call;
  const together = Math.min(decidedTogether, perSecond * pacedSeconds);
  const pace = { perSecond, clock: parts.clock, killedAt };
  const sums = noneYet();
  let after = command.after;
  const stopped = (failure?: unknown) => ({
    result: { ...sums, next: { ...command, operation, after } },
    failure,
  });
  try {
    for await (const page of parts.opsLedger.kept(command.waiting, after)) {
      sums.unreadable += page.unreadable.length;
      const selected = page.owed.filter((event) => isSelected(event, command));
      for (const batch of batches(selected, together)) {
        if (limit.noteIfReached()) return stopped();
        const decide = () => decideTogether(parts, command, decision, batch, sums);
        await atPace(pace, () => underLease(parts, call, decide));
      }
      after = page.end;
      // Also where nothing is selected: to look through many takes time by itself.
      if (limit.noteIfReached()) return stopped();
    }
    return { result: { ...sums, next: undefined }, failure: undefined };
  } catch (failure) {
    return stopped(failure);
  }
}

/** @returns how many go on by it */
async function decideTogether(
  { opsLedger, clock }: OperationParts,
  selection: Selection,
  decision: Decision,
  batch: readonly KeptEvent[],
  sums: ReturnType<typeof noneYet>,
): Promise<number> {
  const before = sums.events + sums.freed;
  const choose = (event: KeptEvent) => isSelected(event, selection);
  await pMap(
    new Set(batch.map(({ certificationId }) => certificationId)),
    async (id) => {
      const { waiting } = selection;
      const decided = await opsLedger.decide(id, waiting, decision, choose, clock.now());
      sums.events += decided.done.length;
      sums.behind += decided.behind;
      sums.freed += decided.freed;
      for (const event of decided.done) sums.byType[kindOf(event)] += 1;
    },
    // One that fails must not leave the others under way unattended.
    { concurrency: writesAtOnce, stopOnError: false },
  );
  return sums.events + sums.freed - before;
}

/** Events of one certification are never apart. */
function* batches(events: readonly KeptEvent[], most: number): Generator<KeptEvent[]> {
  let batch: KeptEvent[] = [];
  for (const ofOne of Map.groupBy(events, ({ certificationId }) => certificationId).values()) {
    if (batch.length > 0 && batch.length + ofOne.length > most) {
      yield batch;
      batch = [];
    }
    batch.push(...ofOne);
  }
  if (batch.length > 0) yield batch;
}
