import pMap from 'p-map';
import type { Temporal } from 'temporal-polyfill';
import type { Clock } from './clock.ts';
import { type Change, compare } from './detection/compare.ts';
import { isLate, type RecentWindow, recentWindow } from './detection/days.ts';
import { NotifierError } from './errors.ts';
import { certificationEvent } from './events/event.ts';
import type { OwedEvent } from './events/owed-event.ts';
import { CommitsFailedError } from './ledger/errors.ts';
import type { Announcer, Lease, Ledger, PartnerReader, State } from './ports.ts';

export interface TickSettings {
  /** Name of the integration. */
  readonly name: string;
  /** IANA name of the platform's time zone. */
  readonly timeZone: string;
  /** Days before today that belong to the recent window. */
  readonly recentDays: number;
}

export interface TickParts {
  readonly settings: TickSettings;
  readonly clock: Clock;
  readonly partner: PartnerReader;
  readonly ledger: Ledger;
  readonly announcer: Announcer;
  readonly journal: Journal;
}

/** Where the tick tells of what it did not let stop it. */
export interface Journal {
  warn(what: string, details: Readonly<Record<string, unknown>>): void;
}

export interface TickRun {
  /** Unique; becomes the owner of the lease. */
  readonly id: string;
  /** When the invocation is killed. */
  readonly deadline: Temporal.Instant;
}

export interface TickReport {
  readonly integration: string;
  /** `busy`: another tick is at work. `baseline`: what was found was recorded, not announced. */
  readonly outcome: 'completed' | 'baseline' | 'busy';
  readonly created: number;
  readonly updated: number;
  /** Records without the documented shape. */
  readonly quarantined: number;
  /** Changes that another tick had committed first. */
  readonly conflicts: number;
  readonly delivered: number;
  /** Committed, and not accepted by SNS yet: the next tick tries again. */
  readonly undelivered: number;
  /** Stopped at a boundary because time was running out; the next tick goes on. */
  readonly cutShort: boolean;
}

/** Committed and delivered as one: the most that a digest tells of, and a boundary to stop at. */
const changesTogether = 500;
const commitConcurrency = 16;
/** What a boundary's worth of work and the end of the tick need, with room for retries. */
const marginSeconds = 10;
/** A lease outlives its invocation by a little, so that two never hold it at once. */
const leaseSlackSeconds = 5;

/**
 * One scheduled run for one integration:
 * lease, leftovers, read, compare, commit, deliver, state.
 *
 * A quiet tick takes no lease: it looks, finds nothing and writes its heartbeat.
 *
 * @throws NotifierError when the rest of the tick would make no sense (credentials, partner or
 * ledger unavailable); what was committed before stays, and the state stays dirty if need be.
 */
export async function tick(parts: TickParts, run: TickRun): Promise<TickReport> {
  return new Tick(parts, run).run();
}

class Tick {
  readonly #parts: TickParts;
  readonly #deadline: Temporal.Instant;
  readonly #lease: Lease;
  #holdsLease = false;
  readonly #tally = {
    created: 0,
    updated: 0,
    quarantined: 0,
    conflicts: 0,
    delivered: 0,
    undelivered: 0,
  };
  readonly #failedCommits: unknown[] = [];
  #cutShort = false;

  constructor(parts: TickParts, run: TickRun) {
    this.#parts = parts;
    this.#deadline = run.deadline.subtract({ seconds: marginSeconds });
    this.#lease = { owner: run.id, until: run.deadline.add({ seconds: leaseSlackSeconds }) };
  }

  async run(): Promise<TickReport> {
    try {
      return await this.#story();
    } catch (error) {
      if (this.#holdsLease) await this.#giveBackLease();
      throw error;
    }
  }

  /** `dirty` stays, so that the next tick, which need not wait for the lease to run out, cleans up. */
  async #giveBackLease(): Promise<void> {
    const { ledger, journal } = this.#parts;
    try {
      await ledger.giveBackLease(this.#lease);
    } catch (error) {
      journal.warn('lease not given back', { error });
    }
  }

  async #story(): Promise<TickReport> {
    let state = await this.#parts.ledger.state();

    if (state.dirty || !state.baselineCompleted) {
      const leased = await this.#takeLease();
      if (leased === undefined) return this.#report('busy');
      state = leased;
      if (this.#cutShort) return this.#finish();
    }

    const window = this.#recentWindow();
    const changes = await this.#look(window, state);

    if (!state.baselineCompleted) return this.#finishBaseline(changes);

    if (changes.length > 0) {
      if (!this.#holdsLease && (await this.#takeLease()) === undefined) return this.#report('busy');
      await this.#announce(changes, window);
    }
    return this.#finish();
  }

  /** The lease, and with it the duty to deliver what an earlier tick left behind. */
  async #takeLease(): Promise<State | undefined> {
    const { ledger, clock } = this.#parts;
    const state = await ledger.takeLease(this.#lease, clock.now());
    if (state === undefined) return undefined;
    this.#holdsLease = true;
    if (state.dirty) await this.#deliverLeftovers();
    return state;
  }

  async #deliverLeftovers(): Promise<void> {
    for await (const { owed, unreadable } of this.#parts.ledger.leftovers()) {
      for (const error of unreadable) this.#parts.journal.warn('outbox unreadable', { error });
      this.#tally.undelivered += unreadable.length;
      await this.#deliver(owed);
      if (this.#timeIsUp()) return;
    }
  }

  #recentWindow(): RecentWindow {
    const { clock, settings } = this.#parts;
    return recentWindow(clock.now(), settings.timeZone, settings.recentDays);
  }

  async #look(window: RecentWindow, state: State): Promise<Change[]> {
    const { partner, ledger, journal } = this.#parts;
    const { assessments, quarantined } = await partner.readWindow(window, this.#deadline);
    for (const record of quarantined) journal.warn('record quarantined', { ...record });
    this.#tally.quarantined = quarantined.length;
    const known = await ledger.known(assessments.map(({ id }) => id));
    return compare(assessments, known, state.salt);
  }

  async #finishBaseline(changes: readonly Change[]): Promise<TickReport> {
    const { ledger, clock } = this.#parts;
    // A baseline that was cut off by a crash finds some recorded already: they are known by now.
    const created = changes.filter(({ kind }) => kind === 'created');
    await ledger.recordSilently(created, clock.now());
    this.#tally.created = created.length;
    return this.#finish({ baseline: true });
  }

  async #announce(changes: readonly Change[], window: RecentWindow): Promise<void> {
    for (let start = 0; start < changes.length; start += changesTogether) {
      if (this.#timeIsUp()) return;
      const owed = await this.#commit(changes.slice(start, start + changesTogether), window);
      await this.#deliver(owed);
    }
  }

  async #commit(changes: readonly Change[], window: RecentWindow): Promise<OwedEvent[]> {
    const owed = await pMap(changes, (change) => this.#commitOne(change, window), {
      concurrency: commitConcurrency,
    });
    return owed.filter((event) => event !== undefined);
  }

  /** An error of one record never stops the others: the tick fails at its end. */
  async #commitOne(change: Change, window: RecentWindow): Promise<OwedEvent | undefined> {
    const { ledger, clock, settings } = this.#parts;
    const { kind, assessment, revision, changed } = change;
    const now = clock.now();
    const event = certificationEvent({
      integration: settings.name,
      type: `certification.${kind}`,
      assessment,
      revision,
      changed,
      late: isLate(assessment.certified_on, window),
      time: now,
    });
    try {
      const owed = await ledger.commit(change, event, now);
      this.#tally[owed === undefined ? 'conflicts' : kind] += 1;
      return owed;
    } catch (error) {
      if (!(error instanceof NotifierError)) throw error;
      this.#failedCommits.push(error);
      return undefined;
    }
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
    this.#tally.delivered += accepted.length;
    this.#tally.undelivered += refused.length;

    const toTell = [...owed.filter(({ owes }) => owes === 'digest'), ...accepted];
    if (toTell.length === 0) return;
    const digest = await announcer.sendDigest(toTell);
    if (digest.accepted) return ledger.settle(toTell, 'nothing');
    journal.warn('digest refused', { code: digest.code });
    this.#tally.undelivered += toTell.length;
    await ledger.settle(accepted, 'digest');
  }

  async #finish({ baseline = false } = {}): Promise<TickReport> {
    const { ledger, clock } = this.#parts;
    const now = clock.now();
    if (!this.#holdsLease) await ledger.completeQuietly(now);
    else {
      this.#holdsLease = false;
      const kept = await ledger.complete(this.#lease, now, {
        allDelivered: this.#tally.undelivered === 0 && !this.#cutShort,
        baselineCompleted: baseline,
      });
      if (!kept) this.#parts.journal.warn('lease lost', { owner: this.#lease.owner });
    }
    const [firstFailure] = this.#failedCommits;
    if (firstFailure !== undefined) {
      const failed = this.#failedCommits.length;
      throw new CommitsFailedError(failed, { cause: firstFailure });
    }
    return this.#report(baseline ? 'baseline' : 'completed');
  }

  #timeIsUp(): boolean {
    this.#cutShort ||=
      this.#parts.clock.now().epochMilliseconds >= this.#deadline.epochMilliseconds;
    return this.#cutShort;
  }

  #report(outcome: TickReport['outcome']): TickReport {
    return {
      integration: this.#parts.settings.name,
      outcome,
      ...this.#tally,
      cutShort: this.#cutShort,
    };
  }
}
