import pMap from 'p-map';
import { errorOf } from '../errors.ts';
import type { Assessment } from '../events/assessment.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { Announcer } from '../ports/announcer.ts';
import type { Life } from '../ports/ledger.ts';
import type { TimeLimit } from '../tick/time-limit.ts';
import type { CommandOf, ResultOf } from './contract.ts';
import { StalledError } from './errors.ts';
import { recordedState } from './lease.ts';
import { atPace, type Pace } from './pace.ts';
import type { Call, Carrier, OperationParts, Outcome } from './parts.ts';
import { obstacleOf, replayedEvent } from './replayed-event.ts';
import { cursorAt, type Slice, slices } from './selection.ts';
import { emptyTally } from './tally.ts';

type ReplayResult = ResultOf<'replay'>;
type ReplayOutcome = Outcome<ReplayResult>;

/** The topic or the queue did not take an event that it should have taken. */
export class ReplayRefusedError extends errorOf('replay-refused', 'aws', 'retry-helps') {
  readonly whatToDo =
    'Send the command in `next`: it goes on before the first event that was refused. If it is refused again, look at the permissions of the operate function and at the encryption of the target.';

  constructor(refused: number, code: string) {
    super(`${refused} ${refused === 1 ? 'event was' : 'events were'} refused (${code}).`);
  }
}

/** Certifications whose events are sent together; never more than a second's worth. */
const sentTogether = 100;
/** Requests to the partner at once, where records are asked for by id. */
const requestsAtOnce = 4;

/** The partner's record of a certification; `undefined` when it is gone. */
type Find = (id: number) => Promise<Assessment | 'unreadable' | undefined>;

/**
 * Sends events of the past again: rebuilt from the partner's records, under the ids, times and types
 * that the ledger has recorded. It only reads: outboxes and state belong to the ticks, and ticks may
 * run meanwhile.
 *
 * It goes on by day and id and stops between two sends, so the cursor loses nothing. After a failure
 * in the middle of a send, that one is sent again.
 */
export const replay: Carrier<'replay'> = async (parts, command, call) => {
  return new Replay(parts, command, call).run();
};

class Replay {
  readonly #parts: OperationParts;
  readonly #command: CommandOf<'replay'>;
  readonly #limit: TimeLimit;
  readonly #operation: string | undefined;
  readonly #target: Pick<Announcer, 'publish'>;
  readonly #pace: Pace;
  readonly #byType = emptyTally();
  readonly #skipped = {
    changed: 0,
    pending: 0,
    held: 0,
    undeliverable: 0,
    discarded: 0,
    neverAnnounced: 0,
    unreadable: 0,
    withoutHistory: 0,
    refused: 0,
    unknown: 0,
  };
  #events = 0;
  #cursor: string | undefined;
  /** Something may have been sent, whether or not it is counted. */
  #hasBegun = false;

  constructor(
    parts: OperationParts,
    command: CommandOf<'replay'>,
    { limit, killedAt, operation }: Call,
  ) {
    this.#parts = parts;
    this.#command = command;
    this.#limit = limit;
    this.#operation = operation;
    this.#cursor = command.after;
    this.#target = command.to === undefined ? parts.announcer : parts.queue(command.to.queue);
    this.#pace = { perSecond: command.eventsPerSecond, clock: parts.clock, killedAt };
  }

  async run(): Promise<ReplayOutcome> {
    try {
      const { ledger } = this.#parts;
      const { salt, years } = await recordedState(this.#parts);
      for await (const slice of slices(ledger, years, this.#command)) {
        const isAll = await this.#replaySlice(slice, salt);
        // Also where nothing is selected: to look through a long history takes time by itself.
        if (this.#wanted > 0 && (!isAll || this.#limit.noteIfReached())) return this.#stopped();
        // Only now: a call that goes on looks for the same ids again.
        this.#skipped.unknown += slice.unknown ?? 0;
        if (this.#wanted <= 0) break;
      }
      return { result: this.#result({ goesOn: false }) };
    } catch (failure) {
      return this.#stopped(failure);
    }
  }

  /** How many more events may be sent. */
  get #wanted(): number {
    return (this.#command.limit ?? Number.POSITIVE_INFINITY) - this.#events;
  }

  /** Out of time, if only in the middle of a request, is no failure: but to have come nowhere is. */
  #stopped(failure?: unknown): ReplayOutcome {
    const result = this.#result({ goesOn: true });
    const isOutOfTime = this.#limit.noteIfReached();
    const isFurther = this.#cursor !== this.#command.after;
    if (isOutOfTime && isFurther) return { result };
    if (failure !== undefined) {
      const goesOn = isFurther || this.#hasBegun;
      return { result: this.#result({ goesOn }), failure };
    }
    return isOutOfTime ? { result, failure: new StalledError() } : { result };
  }

  /** @returns `false` when it stopped before the slice's end */
  async #replaySlice(slice: Slice, salt: string): Promise<boolean> {
    if (slice.lives.length > 0 && this.#limit.noteIfReached()) return false;
    const find = await this.#reader(slice);
    let rest = slice.lives;
    while (rest.length > 0) {
      const many = Math.min(sentTogether, this.#command.eventsPerSecond, this.#wanted);
      if (many <= 0 || this.#limit.noteIfReached()) return false;
      const next = rest.slice(0, many);
      await atPace(this.#pace, () => this.#replayTogether(next, find, salt));
      rest = rest.slice(many);
    }
    this.#cursor = slice.end ?? this.#cursor;
    return true;
  }

  /** @returns how many were sent */
  async #replayTogether(lives: readonly Life[], find: Find, salt: string): Promise<number> {
    const { settings } = this.#parts;
    const outcomes = await pMap(
      lives,
      async (life) => {
        const { id, presence } = life.certification;
        const obstacle = obstacleOf(life, this.#command);
        if (obstacle !== undefined) return obstacle;
        const record = presence === 'present' ? await find(id) : undefined;
        return replayedEvent(life, record, salt, settings);
      },
      { concurrency: requestsAtOnce },
    );
    const replayed = outcomes.filter((outcome) => typeof outcome === 'object');
    const refused = await this.#send(replayed.map(({ owed }) => owed));
    for (const outcome of outcomes) {
      if (typeof outcome === 'string') this.#skipped[outcome] += 1;
      else if (refused.has(outcome.owed)) this.#skipped.refused += 1;
      else {
        this.#events += 1;
        this.#byType[outcome.kind] += 1;
      }
    }
    this.#cursor = lives.map(cursorAt).at(-1);
    return this.#command.dryRun ? 0 : replayed.length;
  }

  /** @returns what the target will never take as it is */
  async #send(owed: readonly OwedEvent[]): Promise<ReadonlySet<OwedEvent>> {
    if (owed.length === 0 || this.#command.dryRun) return new Set();
    const { refused } = await this.#target.publish(owed, this.#limit.deadline);
    this.#hasBegun = true;
    const [first, ...others] = refused.filter(({ forGood = false }) => !forGood);
    if (first !== undefined) throw new ReplayRefusedError(others.length + 1, first.code);
    return new Set(refused.map(({ owed }) => owed));
  }

  /** Records read as a range, if that takes fewer requests than asking for each by its id. */
  async #reader({ lives, read }: Slice): Promise<Find> {
    const { partner } = this.#parts;
    const isNeeded = (life: Life) =>
      life.certification.presence === 'present' && obstacleOf(life, this.#command) === undefined;
    if (read === undefined || lives.filter(isNeeded).length <= read.requests)
      return (id) => partner.get(id, this.#limit.deadline);

    const { assessments, quarantined, proof } = await partner.prove(
      read.range,
      this.#limit.readingDeadline,
    );
    const seen = new Map<number | undefined, Assessment | 'unreadable'>([
      ...quarantined.map(({ id }) => [id, 'unreadable'] as const),
      ...assessments.map((assessment) => [assessment.id, assessment] as const),
    ]);
    return async (id) => {
      const found = seen.get(id);
      // Only a proof says that what was not seen is not there.
      if (found !== undefined || proof !== undefined) return found;
      return partner.get(id, this.#limit.deadline);
    };
  }

  #result({ goesOn }: { readonly goesOn: boolean }): ReplayResult {
    return {
      dryRun: this.#command.dryRun,
      events: this.#events,
      byType: this.#byType,
      skipped: this.#skipped,
      ...(goesOn && {
        next: {
          ...this.#command,
          ...(this.#command.limit !== undefined && { limit: this.#wanted }),
          ...(this.#operation !== undefined && { operation: this.#operation }),
          ...(this.#cursor !== undefined && { after: this.#cursor }),
        },
      }),
    };
  }
}
