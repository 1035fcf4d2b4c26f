import { isDeepStrictEqual } from 'node:util';
import pMap from 'p-map';
import type { Temporal } from 'temporal-polyfill';
import type { Change, Found, Sighting } from '../decisions/compare.ts';
import type { RecentWindow } from '../decisions/days.ts';
import {
  concludedGate,
  foretoldAfter,
  type GateMemory,
  judge,
  nothingFound,
  type Outlook,
  stillHolding,
} from '../decisions/gate.ts';
import type { FloodUntil } from '../delivery/notices.ts';
import { errorOf, faultOf, NotifierError } from '../errors.ts';
import { type CertificationEvent, certificationEvent } from '../events/event.ts';
import type { Committed } from '../ports/ledger.ts';
import type { LeasedState, State, StateChanges } from '../ports/state.ts';
import { writeEach } from '../write-each.ts';
import { type DeliveryState, deliver, inherit, nothingDelivered, tellPeople } from './deliver.ts';
import type { LeasedContext } from './parts.ts';

/** A batch is committed and delivered as a whole; a tick can stop only between batches. */
const changesTogether = 500;
const commitConcurrency = 16;

export interface AnnouncementTally {
  readonly created: number;
  readonly updated: number;
  readonly withdrawn: number;
  readonly restored: number;
  /** Recorded by the baseline, not announced. */
  readonly recorded: number;
  /** Changes that another tick had committed first. */
  readonly conflicts: number;
  readonly held: number;
}

/**
 * SNS refused the notice of a flood. Nothing is held without ops knowing, so the changes stay
 * uncommitted.
 */
export class FloodNotToldError extends errorOf('flood-not-told', 'aws', 'retry-helps') {
  readonly whatToDo =
    'Nothing, if the next tick succeeds. Otherwise find "notice refused" in the log, and check the operations topic, its key and the role of this function.';

  constructor() {
    super('Changes were not committed: SNS refused the notice that they would be held.');
  }
}

/** The tally of a tick's announcements, with the facts that the gate needs for the next batch. */
interface Announced {
  readonly tally: AnnouncementTally;
  /** Changes whose commit failed, or may have succeeded although its answer was lost. */
  readonly failures: number;
  /** The cause of the first failure. */
  readonly failure?: NotifierError;
  /** The gate's memory as it is now; `saved` is as the state has it. */
  readonly gate: GateMemory;
  readonly saved: GateMemory;
  readonly outlook: Omit<Outlook, 'rest'>;
  /** Held changes that have left by themselves: the next tick delivers them. */
  readonly letGo: number;
  /** Ids of certifications that this tick has changed, or may have changed. */
  readonly touched: ReadonlySet<number>;
  readonly delivery: DeliveryState;
}

export const nothingAnnounced: Announced = {
  tally: { created: 0, updated: 0, withdrawn: 0, restored: 0, recorded: 0, conflicts: 0, held: 0 },
  failures: 0,
  gate: nothingFound,
  saved: nothingFound,
  outlook: { known: 0, total: 0 },
  letGo: 0,
  touched: new Set(),
  delivery: nothingDelivered,
};

export interface AnnouncementContext extends LeasedContext {
  readonly window: RecentWindow;
  /**
   * @param until when new changes of these kinds are no longer held, in milliseconds since the
   * epoch. `leave`: these are held for the total alone, and may leave by themselves.
   * @returns whether ops know that these are about to be held
   */
  tellFlood(held: readonly Sighting[], until: FloodUntil): Promise<boolean>;
}

/** Commits changes, each with its event, and delivers the events. */
export class Announcement {
  readonly #context: AnnouncementContext;
  /** Replaced after each step, so that finished steps stay known when the next one fails. */
  #now = nothingAnnounced;

  constructor(context: AnnouncementContext) {
    this.#context = context;
  }

  get now(): Announced {
    return this.#now;
  }

  /** Delivers events that earlier ticks have left in the outboxes. */
  async inherit(state: State): Promise<void> {
    this.#now = { ...this.#now, delivery: await inherit(this.#context, state) };
  }

  /** Sends the digest once: after a failure it is unknown whether the digest went out. */
  async tellPeople(): Promise<void> {
    const { delivery } = this.#now;
    this.#now = { ...this.#now, delivery: { ...delivery, isMailDue: false } };
    this.#now = { ...this.#now, delivery: await tellPeople(this.#context.parts, delivery) };
  }

  /**
   * Tells the gate which total to expect, before anything is announced.
   *
   * @param total the partner's count; undefined: as many as are known
   */
  expect({ gate, expected, missing }: LeasedState, total?: number): void {
    const known = expected + (missing?.total ?? 0);
    this.#now = { ...this.#now, gate, saved: gate, outlook: { known, total: total ?? known } };
  }

  /**
   * Commits changes, each with its event. Delivers the events, or holds those that are part of a
   * flood.
   *
   * @param found how the changes were found; stored with the revisions, for `explain`
   * @returns the changes that this tick committed; the others failed, were committed by another
   * tick, or wait because time ran out
   */
  async announce(changes: readonly Change[], found: Found): Promise<Change[]> {
    const { parts, limit } = this.#context;
    const days = changes.flatMap((change) =>
      change.kind === 'withdrawn' ? [] : change.assessment.certified_on,
    );
    if (days.length > 0) await parts.ledger.touch(days);
    const all = changes.map((change) => ({ ...change, found }));
    const done: Change[] = [];
    for (let start = 0; start < all.length; start += changesTogether) {
      if (limit.noteIfReached()) break;
      const batch = all.slice(start, start + changesTogether);
      const rest = all.slice(start + changesTogether);
      done.push(...(await limit.between(() => this.#pass(batch, rest))));
    }
    return done;
  }

  /**
   * At the end of a tick that has looked at the total: changes that were held for the total alone
   * may leave. They are decided before the state's end forgets them. A crash in between repeats
   * that, which changes nothing.
   *
   * @param agrees the pulse's total equals the calendar's sum
   * @param isInterrupted an earlier tick has not come to its end
   */
  async concludeForetold(
    agrees: boolean,
    isInterrupted: boolean,
  ): Promise<Pick<StateChanges, 'gateLook'>> {
    const { parts, lease } = this.#context;
    const { ledger, settings, clock } = parts;
    const now = clock.now();
    const { memory, leaving, look } = foretoldAfter(
      this.#now.gate,
      { agrees, isInterrupted },
      settings.withdrawAfterMs,
      now.epochMilliseconds,
    );
    // Only the holder of the lease knows that no other tick has seen another total.
    if (leaving.length > 0 && !(await ledger.saveState({ gate: this.#now.gate }, lease))) return {};
    await writeEach(leaving, ({ id, revision }) =>
      ledger.decide(id, 'held', 'released', (event) => event.revision === revision, now),
    );
    this.#now = { ...this.#now, gate: memory, letGo: leaving.length };
    return { gateLook: look };
  }

  /** Records the baseline's sightings without announcing them. */
  async record(sightings: readonly Sighting[]): Promise<void> {
    const { parts, lease } = this.#context;
    const { ledger, clock } = parts;
    await ledger.touch(sightings.map(({ assessment }) => assessment.certified_on));
    await ledger.recordSilently(sightings, clock.now(), lease);
    const { tally } = this.#now;
    const recorded = tally.recorded + sightings.length;
    this.#now = { ...this.#now, tally: { ...tally, recorded } };
  }

  /**
   * The gate's memory is written before anything that it allows, so a crash cannot reset it.
   * @returns the committed changes
   */
  async #pass(batch: readonly Change[], rest: readonly Change[]): Promise<readonly Change[]> {
    const { parts, lease } = this.#context;
    const { settings, clock, ledger, journal } = parts;
    const { outlook, saved } = this.#now;
    const now = clock.now();
    const { memory, held, mayLeave, free } = judge(
      this.#now.gate,
      batch,
      { ...outlook, rest },
      { holdAbove: settings.holdAbove, roundMs: settings.audit.historyMs },
      now.epochMilliseconds,
    );
    if (!isDeepStrictEqual(memory, saved) && !(await ledger.saveState({ gate: memory }, lease))) {
      // Another tick has the lease and counts now, so this one announces nothing more.
      journal.warn('lease lost', { owner: lease.owner });
      this.#now = { ...this.#now, gate: memory, failures: this.#now.failures + batch.length };
      return [];
    }
    const news = batch.filter(({ kind }) => kind === 'created' || kind === 'restored').length;
    const known = outlook.known + news;
    this.#now = { ...this.#now, gate: memory, saved: memory, outlook: { ...outlook, known } };
    // Without an accepted notice nothing is committed: the next tick finds the changes again.
    const nowMs = now.epochMilliseconds;
    const until = stillHolding(memory, settings.holdAbove, nowMs)?.until;
    const isTold =
      held.length === 0 || (await this.#context.tellFlood(held, mayLeave ? 'leave' : until));
    if (!isTold) {
      const failures = this.#now.failures + held.length;
      this.#now = { failure: new FloodNotToldError(), ...this.#now, failures };
    }
    return [
      ...(isTold ? await this.#conclude(held, 'held', now) : []),
      ...(await this.#conclude(free, 'pending', now)),
    ];
  }

  /** Commits a batch. Delivers its events, except held ones and those behind a held event. */
  async #conclude(
    batch: readonly Change[],
    destiny: 'pending' | 'held',
    now: Temporal.Instant,
  ): Promise<readonly Change[]> {
    const touched = new Set([...this.#now.touched, ...batch.map(({ id }) => id)]);
    this.#now = { ...this.#now, touched };
    const outcomes = await pMap(
      batch,
      async (change) => ({ change, owed: await this.#commit(change, destiny, now) }),
      { concurrency: commitConcurrency },
    );
    const failed = outcomes.flatMap(({ change, owed }) => (owed === 'failed' ? change : []));
    const conflicts = outcomes.filter(({ owed }) => owed === undefined).length;
    const committed = outcomes.flatMap(({ change, owed }) =>
      owed === undefined || owed === 'failed' ? [] : change,
    );
    const owed = outcomes.flatMap((one) => (typeof one.owed === 'object' ? one.owed : []));
    const free = owed.filter(({ behind }) => destiny === 'pending' && behind !== 'held');
    const { tally, failures, gate } = this.#now;
    const numbers = { ...tally };
    for (const { kind } of committed) numbers[kind] += 1;
    this.#now = {
      ...this.#now,
      tally: {
        ...numbers,
        conflicts: tally.conflicts + conflicts,
        held: tally.held + owed.length - free.length,
      },
      failures: failures + failed.length,
      gate: concludedGate(gate, committed, failed),
    };
    const unsure = failed.map(({ id }) => id);
    const delivered = await deliver(this.#context, this.#now.delivery, free, unsure);
    this.#now = { ...this.#now, delivery: delivered };
    return committed;
  }

  /**
   * One record's error never stops the others; the tick fails at its end.
   *
   * @returns `undefined` if another tick committed first
   */
  async #commit(
    change: Change,
    destiny: 'pending' | 'held',
    now: Temporal.Instant,
    isBrief = false,
  ): Promise<Committed | 'undone' | 'failed' | undefined> {
    const { ledger, journal } = this.#context.parts;
    try {
      return await ledger.commit(change, this.#eventOf(change, now, isBrief), now, destiny);
    } catch (error) {
      // The item holds so many events already that only a brief one fits.
      if (!isBrief && faultOf(error) === 'record') return this.#commit(change, destiny, now, true);
      if (!(error instanceof NotifierError)) throw error;
      journal.warn('commit failed', { certification: change.id, error });
      this.#now = { failure: error, ...this.#now };
      return 'failed';
    }
  }

  #eventOf(change: Change, time: Temporal.Instant, brief: boolean): CertificationEvent {
    const { name: integration, fields } = this.#context.parts.settings;
    const { id, kind, revision } = change;
    const assessment =
      change.kind === 'withdrawn'
        ? { ...change.before, id, certified_on: change.before.day }
        : change.assessment;
    return certificationEvent({
      integration,
      revision,
      time,
      assessment,
      fields,
      brief,
      type: `certification.${kind}`,
      changed: change.kind === 'withdrawn' ? [] : change.changed,
      late: assessment.certified_on < this.#context.window.from,
    });
  }
}
