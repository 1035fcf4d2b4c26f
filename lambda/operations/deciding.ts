import pMap from 'p-map';
import type { Decision, KeptEvent } from '../ports/ledger.ts';
import type { Selection } from './contract.ts';
import { StalledError } from './errors.ts';
import { isSelected, kindOf } from './kept.ts';
import { atPace } from './pace.ts';
import type { Call, OperationParts, Outcome } from './parts.ts';
import { emptyTally } from './tally.ts';

/** Events that are decided upon together, while ticks have to wait. */
const decidedTogether = 100;
/** At a pace, no more than such a time has: a call has to have that much left after each of them. */
const pacedSeconds = 3;
const writesAtOnce = 16;

export interface DecidingOptions {
  readonly decision: Decision;
  /** At most so many on average; undefined: as fast as it goes. */
  readonly eventsPerSecond?: number;
  /** Does a batch while no tick is at work. */
  readonly undisturbed: <Result>(batch: () => Promise<Result>) => Promise<Result>;
}

/** Which events, and where an earlier call stopped. */
type KeptCommand = Selection & { readonly after?: string | undefined };

/** `next`: the command that goes on; absent: everything was done. */
type Decided<Command> = ReturnType<typeof noneYet> & {
  next?: Command & { operation?: string; after?: string };
};

const noneYet = () => ({ events: 0, byType: emptyTally(), behind: 0, freed: 0, unreadable: 0 });

type DecidingParts = Pick<OperationParts, 'opsLedger' | 'clock'>;

/**
 * Does the same to every event of a selection that waits for ops, certification by certification.
 * Decided events leave the outbox, so restarting is safe.
 */
export async function decideKept<Command extends KeptCommand>(
  parts: DecidingParts,
  call: Call,
  command: Command,
  options: DecidingOptions,
): Promise<Outcome<Decided<Command>>> {
  const { eventsPerSecond: perSecond = Number.POSITIVE_INFINITY, undisturbed } = options;
  const together = Math.min(decidedTogether, perSecond * pacedSeconds);
  const pace = { perSecond, clock: parts.clock, killedAt: call.killedAt };
  const sums = noneYet();
  let after = command.after;
  const stopped = (failure: unknown) => {
    const { operation } = call;
    const rest = {
      ...(operation !== undefined && { operation }),
      ...(after !== undefined && { after }),
    };
    return { result: { ...sums, next: { ...command, ...rest } }, failure };
  };
  /** Time is up: to have come nowhere is a failure. */
  const outOfTime = () => {
    const isFurther = sums.events > 0 || after !== command.after;
    return stopped(isFurther ? undefined : new StalledError());
  };
  try {
    for await (const page of parts.opsLedger.kept(command.waiting, after)) {
      sums.unreadable += page.unreadable.length;
      const selected = page.owed.filter((event) => isSelected(event, command));
      for (const batch of batches(selected, together)) {
        if (call.limit.noteIfReached()) return outOfTime();
        const decide = () => decideTogether(parts, command, options.decision, batch, sums);
        await atPace(pace, () => undisturbed(decide));
      }
      after = page.end;
      // Also where nothing is selected: to look through many takes time by itself.
      if (call.limit.noteIfReached()) return outOfTime();
    }
    return { result: sums };
  } catch (failure) {
    return stopped(failure);
  }
}

/**
 * @param sums what is done is added as it is done: of a batch that fails, too
 * @returns how many go on by it
 */
async function decideTogether(
  { opsLedger, clock }: DecidingParts,
  selection: Selection,
  decision: Decision,
  batch: readonly KeptEvent[],
  sums: ReturnType<typeof noneYet>,
): Promise<number> {
  const ids = new Set(batch.map(({ certificationId }) => certificationId));
  const before = sums.events + sums.freed;
  const choose = (event: KeptEvent) => isSelected(event, selection);
  await pMap(
    ids,
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
