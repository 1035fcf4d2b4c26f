import pMap from 'p-map';
import { type Change, idOf } from '../detection/compare.ts';
import { isLate, type RecentWindow } from '../detection/days.ts';
import { NotifierError } from '../errors.ts';
import { type CertificationEvent, sightingEvent, withdrawalEvent } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { TickParts } from '../parts.ts';
import { floodNotice } from './notices.ts';
import type { TimeLimit } from './time-limit.ts';

/** Committed and delivered as one: the most that a digest tells of, and a boundary to stop at. */
const changesTogether = 500;
const commitConcurrency = 16;
/** More withdrawals than this in one tick are held, whatever `holdAbove` allows. */
const withdrawalsAtOnce = 25;

export interface AnnouncementTally {
  created: number;
  updated: number;
  withdrawn: number;
  restored: number;
  /** Changes that another tick had committed first. */
  conflicts: number;
  /** Kept back by the flood guard. */
  held: number;
  delivered: number;
  /** Committed, and not accepted by SNS yet: the next tick tries again. */
  undelivered: number;
}

/** Commits changes and tells of them: the second half of a tick. */
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
    delivered: 0,
    undelivered: 0,
  };
  /** Changes that could not be committed, or may have been: the answer was lost. */
  failures = 0;
  /** Years that this tick has made known already. */
  readonly #years = new Set<number>();
  #isFlooded = false;
  #hasGivenNotice = false;
  #found = 0;
  #withdrawals = 0;

  constructor(parts: TickParts, window: RecentWindow, limit: TimeLimit) {
    this.#parts = parts;
    this.#window = window;
    this.#limit = limit;
  }

  /**
   * Makes sure that the calendar has these days, before anything of them is committed: otherwise a
   * crash right after could leave a certification on a day that nobody would ever look at.
   */
  async touch(days: Iterable<string>): Promise<void> {
    const { ledger } = this.#parts;
    const zeros = new Map([...days].map((day) => [day, 0]));
    if (zeros.size === 0) return;
    const years = new Set([...zeros.keys()].map((day) => Number(day.slice(0, 4))));
    const news = [...years].filter((year) => !this.#years.has(year));
    if (news.length > 0) await ledger.addYears(news);
    for (const year of news) this.#years.add(year);
    await ledger.addToDays(zeros);
  }

  /** Undelivered events of earlier ticks. */
  async deliverLeftovers(): Promise<void> {
    for await (const { owed, unreadable } of this.#parts.ledger.leftovers()) {
      for (const error of unreadable) this.#parts.journal.warn('outbox unreadable', { error });
      this.tally.undelivered += unreadable.length;
      await this.#deliver(owed);
      if (this.#limit.reached) return;
    }
  }

  /**
   * Commits these changes, each with its event, and delivers the events, or holds them when they
   * are too many.
   *
   * @param doubtful withdrawals so many that they are held whatever their number
   * @returns the changes that this tick committed: the others failed, were another tick's, or had to
   * wait because time ran out
   */
  async announce(changes: readonly Change[], { doubtful = false } = {}): Promise<Change[]> {
    await this.touch(
      changes.flatMap((change) =>
        change.kind === 'withdrawn' ? [] : change.assessment.certified_on,
      ),
    );
    const destiny = this.#isFlood(changes) || doubtful ? 'held' : 'pending';
    if (destiny === 'held' && changes.length > 0 && !(await this.#giveNotice(changes))) return [];
    const done: Change[] = [];
    for (let start = 0; start < changes.length; start += changesTogether) {
      if (this.#limit.reached) break;
      const batch = changes.slice(start, start + changesTogether);
      const committed = await this.#limit.between(() => this.#conclude(batch, destiny));
      done.push(...committed);
    }
    return done;
  }

  /**
   * What the total says is coming, more than the tick may find of it: a flood is held from its first
   * event on, also when it takes many ticks to find.
   */
  expect(surplus: number): void {
    this.#isFlooded = surplus > this.#parts.settings.holdAbove || -surplus > withdrawalsAtOnce;
  }

  #isFlood(changes: readonly Change[]): boolean {
    this.#found += changes.length;
    this.#withdrawals += changes.filter(({ kind }) => kind === 'withdrawn').length;
    this.#isFlooded ||=
      this.#found > this.#parts.settings.holdAbove || this.#withdrawals > withdrawalsAtOnce;
    return this.#isFlooded;
  }

  /**
   * Operations hear of a flood before anything of it is held, once a tick: a crash in between tells
   * them twice. What they cannot be told of is not committed, and found again by the next tick.
   */
  async #giveNotice(changes: readonly Change[]): Promise<boolean> {
    if (this.#hasGivenNotice) return true;
    const { announcer, journal, settings } = this.#parts;
    const told = await announcer.notify(floodNotice(settings.name, changes));
    this.#hasGivenNotice = told.accepted;
    if (!told.accepted) {
      journal.warn('notice refused', { code: told.code });
      this.failures += changes.length;
    }
    return told.accepted;
  }

  async #conclude(batch: readonly Change[], destiny: 'pending' | 'held'): Promise<Change[]> {
    const committed = await this.#commit(batch, destiny);
    const owed = committed.map(({ owed }) => owed);
    if (destiny === 'pending') await this.#deliver(owed);
    else this.tally.held += owed.length;
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
    try {
      const owed = await ledger.commit(change, this.#eventOf(change, now), now, destiny);
      this.tally[owed === undefined ? 'conflicts' : change.kind] += 1;
      return owed && { change, owed };
    } catch (error) {
      if (!(error instanceof NotifierError)) throw error;
      this.failures += 1;
      journal.warn('commit failed', { certification: idOf(change), error });
      return undefined;
    }
  }

  #eventOf(change: Change, time: { toString(): string }): CertificationEvent {
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
    const { fields } = this.#parts.settings;
    const type = `certification.${kind}` as const;
    return sightingEvent({ ...announced, type, assessment, fields, changed });
  }

  /**
   * To the machines, then to the people, then out of the outbox. A crash between any two of these
   * tells somebody twice, with the same ids, and nobody never.
   */
  async #deliver(owed: readonly OwedEvent[]): Promise<void> {
    if (owed.length === 0) return;
    const { announcer, ledger, journal } = this.#parts;
    const { accepted, refused } = await announcer.publish(
      owed.filter(({ owes }) => owes === 'event-and-digest'),
    );
    for (const { owed, code } of refused)
      journal.warn('event refused', { event: owed.event.id, code });
    this.tally.delivered += accepted.length;
    this.tally.undelivered += refused.length;

    const toTell = [...owed.filter(({ owes }) => owes === 'digest'), ...accepted];
    if (toTell.length === 0) return;
    const digest = await announcer.sendDigest(toTell);
    if (digest.accepted) return ledger.settle(toTell, 'nothing');
    journal.warn('digest refused', { code: digest.code });
    this.tally.undelivered += toTell.length;
    await ledger.settle(accepted, 'digest');
  }
}
