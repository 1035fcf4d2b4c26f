import pMap from 'p-map';
import { type Change, type Found, idOf } from '../detection/compare.ts';
import { isLate, type RecentWindow } from '../detection/days.ts';
import { NotifierError } from '../errors.ts';
import { type CertificationEvent, sightingEvent, withdrawalEvent } from '../events/event.ts';
import { LedgerRefusedError } from '../ledger/errors.ts';
import type { Committed } from '../ports/ledger.ts';
import { CalendarDays } from './calendar-days.ts';
import type { Conditions } from './conditions.ts';
import type { Delivery } from './delivery.ts';
import { type Circumstances, FloodGuard } from './flood-guard.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

/** Committed and delivered as one, and a boundary to stop at. */
const changesTogether = 500;
const commitConcurrency = 16;

export interface AnnouncementTally {
  created: number;
  updated: number;
  withdrawn: number;
  restored: number;
  /** Changes that another tick had committed first. */
  conflicts: number;
  /** Kept back by the flood guard. */
  held: number;
}

/** Commits changes, each with its event, and hands the events over for delivery. */
export class Announcement {
  readonly #parts: TickParts;
  readonly #window: RecentWindow;
  readonly #limit: TimeLimit;
  readonly tally: AnnouncementTally = {
    created: 0,
    updated: 0,
    withdrawn: 0,
    restored: 0,
    conflicts: 0,
    held: 0,
  };
  /** Changes that could not be committed, or may have been: the answer was lost. */
  failures = 0;
  readonly #days: CalendarDays;
  readonly #delivery: Delivery;
  readonly guard: FloodGuard;

  constructor(
    parts: TickParts,
    window: RecentWindow,
    limit: TimeLimit,
    delivery: Delivery,
    conditions: Conditions,
  ) {
    this.#parts = parts;
    this.#days = new CalendarDays(parts.ledger);
    this.#delivery = delivery;
    this.guard = new FloodGuard(parts, conditions);
    this.#window = window;
    this.#limit = limit;
  }

  /** Makes sure that the calendar has these days, before anything of them is committed. */
  touch(days: Iterable<string>): Promise<void> {
    return this.#days.touch(days);
  }

  /**
   * Commits these changes, each with its event, and delivers the events, or holds those that are part
   * of a flood.
   *
   * @returns the changes that this tick committed: the others failed, were another tick's, or had to
   * wait because time ran out
   */
  async announce(changes: readonly Change[], circumstances: Circumstances = {}): Promise<Change[]> {
    if (changes.length === 0) return [];
    await this.touch(
      changes.flatMap((change) =>
        change.kind === 'withdrawn' ? [] : change.assessment.certified_on,
      ),
    );
    const { found } = circumstances;
    const isHeld = this.guard.flooding(changes, circumstances);
    const held = changes.filter(isHeld);
    const isTold = held.length === 0 || (await this.guard.giveNotice(held));
    // What operations cannot be told of is not committed, and found again by the next tick.
    if (!isTold) this.failures += held.length;
    const free = changes.filter((change) => !isHeld(change));
    const done: Change[] = [];
    for (const [destiny, alike] of [
      ['held', isTold ? held : []],
      ['pending', free],
    ] as const) {
      for (let start = 0; start < alike.length; start += changesTogether) {
        if (this.#limit.noteIfReached()) break;
        const batch = alike
          .slice(start, start + changesTogether)
          .map((change) => ({ ...change, ...(found && { found }) }));
        const committed = await this.#limit.between(() => this.#conclude(batch, destiny, found));
        done.push(...committed);
      }
    }
    return done;
  }

  async #conclude(
    batch: readonly Change[],
    destiny: 'pending' | 'held',
    found: Found | undefined,
  ): Promise<Change[]> {
    const committed = await this.#commit(batch, destiny);
    const isHeld = ({ owed }: { owed: Committed }) => destiny === 'held' || owed.behind === 'held';
    const free = committed.filter((one) => !isHeld(one));
    this.tally.held += committed.length - free.length;
    this.guard.passed(
      free.map(({ change }) => change),
      found,
    );
    await this.#delivery.deliver(free.map(({ owed }) => owed));
    return committed.map(({ change }) => change);
  }

  async #commit(changes: readonly Change[], destiny: 'pending' | 'held') {
    const outcomes = await pMap(changes, (change) => this.#commitOne(change, destiny), {
      concurrency: commitConcurrency,
    });
    return outcomes.filter((outcome) => outcome !== undefined);
  }

  /** An error of one record never stops the others: the tick fails at its end. */
  async #commitOne(change: Change, destiny: 'pending' | 'held') {
    const { ledger, clock, journal } = this.#parts;
    const now = clock.now();
    const commit = (brief: boolean) =>
      ledger.commit(change, this.#eventOf(change, now, brief), now, destiny);
    try {
      const owed = await commit(false).catch((error: unknown) => {
        // So much is held of it already that only a brief event fits into its item.
        if (error instanceof LedgerRefusedError) return commit(true);
        throw error;
      });
      this.tally[owed === undefined ? 'conflicts' : change.kind] += 1;
      return owed && { change, owed };
    } catch (error) {
      if (!(error instanceof NotifierError)) throw error;
      this.failures += 1;
      this.#delivery.leave(idOf(change));
      journal.warn('commit failed', { certification: idOf(change), error });
      return undefined;
    }
  }

  #eventOf(change: Change, time: { toString(): string }, brief: boolean): CertificationEvent {
    const { revision } = change;
    const day = change.kind === 'withdrawn' ? change.before.day : change.assessment.certified_on;
    const announced = {
      integration: this.#parts.settings.name,
      revision,
      late: isLate(day, this.#window),
      time,
    };
    if (change.kind === 'withdrawn') {
      const { organization_id, assessment_name } = change.before;
      const assessment = { id: idOf(change), organization_id, assessment_name, certified_on: day };
      return withdrawalEvent({ ...announced, assessment });
    }
    const { kind, assessment, changed } = change;
    const type = `certification.${kind}` as const;
    const { fields } = this.#parts.settings;
    return sightingEvent({ ...announced, type, assessment, fields, changed, brief });
  }
}
