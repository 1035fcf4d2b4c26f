import { isDeepStrictEqual } from 'node:util';
import pMap from 'p-map';
import type { Temporal } from 'temporal-polyfill';
import { type Change, type Found, idOf, remembering, type Sighting } from '../detection/compare.ts';
import { isLate, type RecentWindow } from '../detection/days.ts';
import {
  type GateMemory,
  nothingFound,
  type Outlook,
  returned,
  settled,
} from '../detection/gate.ts';
import { faultOf, NotifierError } from '../errors.ts';
import { type CertificationEvent, sightingEvent, withdrawalEvent } from '../events/event.ts';
import type { Committed } from '../ports/ledger.ts';
import type { Lease, LeasedState } from '../ports/state.ts';
import { CalendarDays } from './calendar-days.ts';
import type { Delivery } from './delivery.ts';
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
  /** Kept back by the gate. */
  held: number;
}

/** How changes were come by. */
export interface Circumstances {
  /** Kept with the revisions, too, for `explain`. */
  readonly found?: Found;
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
  readonly #tellFlood: (held: readonly Sighting[]) => Promise<boolean>;
  readonly #lease: Lease;
  /** What the gate remembers, and as much of it as the state has. */
  #memory: GateMemory = nothingFound;
  #saved: GateMemory = nothingFound;
  #outlook: Omit<Outlook, 'rest'> = { known: 0, total: 0 };

  constructor(
    parts: TickParts,
    window: RecentWindow,
    limit: TimeLimit,
    delivery: Delivery,
    tellFlood: (held: readonly Sighting[]) => Promise<boolean>,
    lease: Lease,
  ) {
    this.#parts = parts;
    this.#days = new CalendarDays(parts.ledger);
    this.#delivery = delivery;
    this.#tellFlood = tellFlood;
    this.#lease = lease;
    this.#window = window;
    this.#limit = limit;
  }

  /** Makes sure that the calendar has these days, before anything of them is committed. */
  touch(days: Iterable<string>): Promise<void> {
    return this.#days.touch(days);
  }

  /**
   * What the gate has to know before anything is announced.
   *
   * @param total what the partner counts; undefined: no more than is known
   */
  expect({ gate, expected, missing }: LeasedState, total?: number): void {
    this.#memory = gate;
    this.#saved = gate;
    const known = expected + (missing?.total ?? 0);
    this.#outlook = { known, total: total ?? known };
  }

  /** What the gate remembers now, if the state does not yet. */
  get changes(): { readonly gate?: GateMemory } {
    return isDeepStrictEqual(this.#memory, this.#saved) ? {} : { gate: this.#memory };
  }

  /**
   * Commits these changes, each with its event, and delivers the events, or holds those that are part
   * of a flood.
   *
   * @returns the changes that this tick committed: the others failed, were another tick's, or had to
   * wait because time ran out
   */
  async announce(changes: readonly Change[], { found }: Circumstances = {}): Promise<Change[]> {
    if (changes.length === 0) return [];
    await this.touch(
      changes.flatMap((change) =>
        change.kind === 'withdrawn' ? [] : change.assessment.certified_on,
      ),
    );
    const all = changes.map((change) => ({ ...change, ...(found && { found }) }));
    const done: Change[] = [];
    for (let start = 0; start < all.length; start += changesTogether) {
      if (this.#limit.noteIfReached()) break;
      const batch = all.slice(start, start + changesTogether);
      const rest = all.slice(start + changesTogether);
      done.push(...(await this.#limit.between(() => this.#pass(batch, rest))));
    }
    return done;
  }

  /** Through the gate, whose memory is written before anything that it allows. */
  async #pass(batch: readonly Change[], rest: readonly Change[]): Promise<Change[]> {
    const { rules, settings, clock } = this.#parts;
    const now = clock.now();
    const { memory, isHeld } = rules.judge(
      this.#memory,
      batch,
      { ...this.#outlook, rest },
      { holdAbove: settings.holdAbove, roundMs: settings.audit.historyMs },
      now.epochMilliseconds,
    );
    const held = batch.filter(isHeld);
    const free = batch.filter((change) => !isHeld(change));
    if (!(await this.#remember(memory))) {
      this.failures += batch.length;
      return [];
    }
    const { known, total } = this.#outlook;
    const news = batch.filter(({ kind }) => kind === 'created' || kind === 'restored').length;
    this.#outlook = { known: known + news, total };
    // What operations cannot be told of is not committed, and found again by the next tick.
    const isTold = held.length === 0 || (await this.#tellFlood(held));
    if (!isTold) this.failures += held.length;
    return [
      ...(isTold ? await this.#conclude(held, 'held', now) : []),
      ...(await this.#conclude(free, 'pending', now)),
    ];
  }

  /** @returns `false` when the lease is lost: another tick counts by now, and this one announces nothing more */
  async #remember(memory: GateMemory): Promise<boolean> {
    this.#memory = memory;
    if (isDeepStrictEqual(memory, this.#saved)) return true;
    const { ledger, journal } = this.#parts;
    const isKept = await ledger.saveState({ gate: memory }, this.#lease);
    if (isKept) this.#saved = memory;
    else journal.warn('lease lost', { owner: this.#lease.owner });
    return isKept;
  }

  async #conclude(
    batch: readonly Change[],
    destiny: 'pending' | 'held',
    now: Temporal.Instant,
  ): Promise<Change[]> {
    const outcomes = await pMap(
      batch,
      async (change) => ({ change, owed: await this.#commit(change, destiny, now) }),
      { concurrency: commitConcurrency },
    );
    const of = (isSo: (owed: (typeof outcomes)[number]['owed']) => boolean) =>
      outcomes.filter(({ owed }) => isSo(owed)).map(({ change }) => change);
    const changes = of((owed) => owed !== undefined && owed !== 'failed');
    this.#memory = settled(this.#memory, changes);
    if (destiny === 'pending')
      this.#memory = returned(
        this.#memory,
        of((owed) => owed === 'failed'),
      );
    const owed = outcomes.flatMap((outcome) =>
      typeof outcome.owed === 'object' ? outcome.owed : [],
    );
    const free = owed.filter(({ behind }) => destiny === 'pending' && behind !== 'held');
    this.tally.held += owed.length - free.length;
    await this.#delivery.deliver(free);
    return changes;
  }

  /** An error of one record never stops the others: the tick fails at its end. */
  async #commit(
    change: Change,
    destiny: 'pending' | 'held',
    now: Temporal.Instant,
  ): Promise<Committed | 'undone' | 'failed' | undefined> {
    const { ledger, journal, settings } = this.#parts;
    const nowMs = now.epochMilliseconds;
    const remembered = remembering(change, nowMs, nowMs + settings.withdrawAfterMs);
    const commit = (brief: boolean) =>
      ledger.commit(remembered, this.#eventOf(change, now, brief), now, destiny);
    try {
      const owed = await commit(false).catch((error: unknown) => {
        // So much is held of it already that only a brief event fits into its item.
        if (faultOf(error) === 'record') return commit(true);
        throw error;
      });
      this.tally[owed === undefined ? 'conflicts' : change.kind] += 1;
      return owed;
    } catch (error) {
      if (!(error instanceof NotifierError)) throw error;
      this.failures += 1;
      this.#delivery.leave(idOf(change));
      journal.warn('commit failed', { certification: idOf(change), error });
      return 'failed';
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
