import { leaseOf } from '../lease.ts';
import type { ResultOf } from './contract.ts';
import { Deciding } from './deciding.ts';
import { BusyError } from './errors.ts';
import { underLease } from './lease.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';
import { ifPaused } from './pause.ts';

/**
 * Sends on what waits for ops: the next tick delivers it, after a pause if there is one. At a pace,
 * so that subscribers do not get all of a flood at once, and with ticks in between.
 *
 * As a digest, only people are told. No tick comes in between, so what one call releases is one mail.
 */
export const release: Carrier<'release'> = async (parts, command, call) => {
  const { forHours, ...decided } = command;
  const opened = forHours === undefined ? {} : await openGate(parts, forHours, call);
  const common = { selection: command, after: command.after };
  const state = await parts.ledger.recordedState();
  const outcome = (deciding: Deciding, failure: unknown) => {
    const { sums, rest } = deciding;
    return {
      result: {
        ...sums,
        ...opened,
        ...ifPaused(state),
        ...(rest && { next: { ...decided, ...rest } }),
      },
      ...(failure !== undefined && { failure }),
    };
  };
  if (command.as === 'digest')
    return underLease(parts, call, async () => {
      const deciding = new Deciding(parts, call, {
        ...common,
        decision: 'released-to-people',
        undisturbed: (batch) => batch(),
      });
      return outcome(deciding, await deciding.run());
    });
  const deciding = new Deciding(parts, call, {
    ...common,
    decision: command.waiting === 'held' ? 'released' : 'retried',
    eventsPerSecond: command.eventsPerSecond,
    undisturbed: (batch) => underLease(parts, call, batch),
  });
  return outcome(deciding, await deciding.run());
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
  const deciding = new Deciding(parts, call, {
    decision: 'discarded',
    selection: command,
    after: command.after,
    undisturbed: (batch) => underLease(parts, call, batch),
  });
  const failure = await deciding.run();
  const { sums, rest } = deciding;
  const { behind: _, ...counts } = sums;
  return {
    result: { ...counts, ...(rest && { next: { ...command, ...rest } }) },
    ...(failure !== undefined && { failure }),
  };
};
