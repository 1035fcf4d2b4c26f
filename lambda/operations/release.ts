import { leaseOf } from '../lease.ts';
import type { ResultOf } from './contract.ts';
import { type DecidingOptions, decideKept } from './deciding.ts';
import { BusyError } from './errors.ts';
import { underLease } from './lease.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';
import { ifPaused } from './steering.ts';

/**
 * Sends on what waits for ops: the next tick delivers it, after a pause if there is one. At a pace,
 * so that subscribers do not get all of a flood at once, and with ticks in between.
 *
 * As a digest, only people are told. No tick comes in between, so what one call releases is one mail.
 */
export const release: Carrier<'release'> = async (parts, command, call) => {
  const { forHours, ...decided } = command;
  const opened = forHours === undefined ? {} : await openGate(parts, forHours, call);
  const state = await parts.ledger.recordedState();
  const decide = async (options: DecidingOptions) => {
    const { result, failure } = await decideKept(parts, call, decided, options);
    return { result: { ...result, ...opened, ...ifPaused(state) }, failure };
  };
  if (command.as === 'digest')
    return underLease(parts, call, () =>
      decide({ decision: 'released-to-people', undisturbed: (batch) => batch() }),
    );
  return decide({
    decision: command.waiting === 'held' ? 'released' : 'retried',
    eventsPerSecond: command.eventsPerSecond,
    undisturbed: (batch) => underLease(parts, call, batch),
  });
};

/** A busy day is let through: what the gate finds is counted as ever, and not held. */
function openGate(
  parts: OperationParts,
  hours: number,
  call: Call,
): Promise<Pick<ResultOf<'release'>, 'openUntil'>> {
  return underLease(parts, call, async ({ gate }) => {
    const until = parts.clock.now().add({ hours });
    const openUntil = until.epochMilliseconds;
    const lease = leaseOf(call.id, call.killedAt);
    const isKept = await parts.ledger.saveState({ gate: { ...gate, openUntil } }, lease);
    if (!isKept) throw new BusyError();
    return hours === 0 ? {} : { openUntil: until.toString() };
  });
}

/** Takes what waits for ops out of the outboxes: nobody is told of it. */
export const discard: Carrier<'discard'> = async (parts, command, call) => {
  const { result, failure } = await decideKept(parts, call, command, {
    decision: 'discarded',
    undisturbed: (batch) => underLease(parts, call, batch),
  });
  const { behind: _, ...counts } = result;
  return { result: counts, failure };
};
