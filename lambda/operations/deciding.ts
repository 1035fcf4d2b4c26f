import pMap from 'p-map';
import type { KeptSelection } from './command.ts';
import { StalledError } from './errors.ts';
import { isSelected, kindOf } from './kept.ts';
import type { Decision, KeptEvent } from './ops-ledger.ts';
import { atPace } from './pace.ts';
import type { Call, OperationParts } from './parts.ts';
import { emptyTally } from './tally.ts';

/** Events that are decided upon together, while ticks have to wait. */
const decidedTogether = 100;
/** At a pace, no more than such a time has: a call has to have that much left after each of them. */
const pacedSeconds = 3;
const writesAtOnce = 16;

export interface DecidingOptions {
  readonly decision: Decision;
  readonly selection: KeptSelection;
  /** Where an earlier call stopped. */
  readonly after: string | undefined;
  /** At most so many on average; undefined: as fast as it goes. */
  readonly eventsPerSecond?: number;
  /** Does a batch while no tick is at work. */
  readonly undisturbed: <Result>(batch: () => Promise<Result>) => Promise<Result>;
}

/**
 * Does the same to every event of a selection that waits for ops, certification by certification.
 * What it was done to waits no longer, so to begin again from the start does nothing twice.
 */
export class Deciding {
  readonly #parts: Pick<OperationParts, 'opsLedger' | 'clock'>;
  readonly #call: Call;
  readonly #options: DecidingOptions;
  readonly #byType = emptyTally();
  #events = 0;
  #behind = 0;
  #freed = 0;
  #unreadable = 0;
  #cursor: string | undefined;
  #isStopped = false;

  constructor(
    parts: Pick<OperationParts, 'opsLedger' | 'clock'>,
    call: Call,
    options: DecidingOptions,
  ) {
    this.#parts = parts;
    this.#call = call;
    this.#options = options;
    this.#cursor = options.after;
  }

  get sums() {
    return {
      events: this.#events,
      byType: this.#byType,
      behind: this.#behind,
      freed: this.#freed,
      unreadable: this.#unreadable,
    };
  }

  /** What the command that goes on has to say besides; undefined: everything was done. */
  get rest(): { readonly operation?: string; readonly after?: string } | undefined {
    if (!this.#isStopped) return undefined;
    const { operation } = this.#call;
    return {
      ...(operation !== undefined && { operation }),
      ...(this.#cursor !== undefined && { after: this.#cursor }),
    };
  }

  /** @returns what ended it before its time, if anything but time */
  async run(): Promise<unknown> {
    const { selection, after, eventsPerSecond = Number.POSITIVE_INFINITY } = this.#options;
    const together = Math.min(decidedTogether, eventsPerSecond * pacedSeconds);
    const pace = {
      perSecond: eventsPerSecond,
      clock: this.#parts.clock,
      killedAt: this.#call.killedAt,
    };
    try {
      for await (const page of this.#parts.opsLedger.kept(selection.waiting, after)) {
        this.#unreadable += page.unreadable.length;
        const selected = page.events.filter((event) => isSelected(event, selection));
        for (const batch of batches(selected, together)) {
          if (this.#call.limit.noteIfReached()) return this.#stopped();
          await atPace(pace, () => this.#options.undisturbed(() => this.#decideAll(batch)));
        }
        this.#cursor = page.end;
        // Also where nothing is selected: to look through many takes time by itself.
        if (this.#call.limit.noteIfReached()) return this.#stopped();
      }
      return undefined;
    } catch (failure) {
      this.#isStopped = true;
      return failure;
    }
  }

  #stopped(): StalledError | undefined {
    this.#isStopped = true;
    const isFurther = this.#events > 0 || this.#cursor !== this.#options.after;
    return isFurther ? undefined : new StalledError();
  }

  /** @returns how many go on by it */
  async #decideAll(batch: readonly KeptEvent[]): Promise<number> {
    const { opsLedger, clock } = this.#parts;
    const { selection, decision } = this.#options;
    const ids = new Set(batch.map(({ certificationId }) => certificationId));
    const before = this.#events + this.#freed;
    await pMap(
      ids,
      async (id) => {
        const { done, behind, freed } = await opsLedger.decide(
          id,
          selection.waiting,
          decision,
          (event) => isSelected(event, selection),
          clock.now(),
        );
        this.#events += done.length;
        this.#behind += behind;
        this.#freed += freed;
        for (const event of done) this.#byType[kindOf(event)] += 1;
      },
      // One that fails must not leave the others under way unattended.
      { concurrency: writesAtOnce, stopOnError: false },
    );
    return this.#events + this.#freed - before;
  }
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
