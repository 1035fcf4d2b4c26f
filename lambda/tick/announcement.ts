import { isDeepStrictEqual } from 'node:util';
import pMap from 'p-map';
import type { Temporal } from 'temporal-polyfill';
import type { Change, Found, Sighting } from '../detection/compare.ts';
import type { RecentWindow } from '../detection/days.ts';
import { concluded, type GateMemory, nothingFound, type Outlook } from '../detection/gate.ts';
import { errorOf, faultOf, NotifierError } from '../errors.ts';
import { type CertificationEvent, certificationEvent } from '../events/event.ts';
import type { Committed } from '../ports/ledger.ts';
import type { Lease, LeasedState, State } from '../ports/state.ts';
import { type DeliveryState, deliver, inherit, nothingDelivered, tellPeople } from './deliver.ts';
import type { StepContext } from './parts.ts';

/** Committed and delivered as one, and a boundary to stop at. */
const changesTogether = 500;
const commitConcurrency = 16;

export interface AnnouncementTally {
  readonly created: number;
  readonly updated: number;
  readonly withdrawn: number;
  readonly restored: number;
  /** By the first reading, and not announced. */
  readonly recorded: number;
  /** Changes that another tick had committed first. */
  readonly conflicts: number;
  /** Kept back by the gate. */
  readonly held: number;
}

/** Operations could not be told of a flood, and nothing is held that nobody knows of. */
export class FloodNotToldError extends errorOf('flood-not-told', 'aws', 'retry-helps') {
  readonly whatToDo =
    'Nothing, if the next tick succeeds. Otherwise look for "notice refused" in the log: the operations topic, its key or the role of this function.';

  constructor() {
    super('Operations could not be told that so much is to be held.');
  }
}

/** What a tick has announced, and what it goes by. */
interface Announced {
  readonly tally: AnnouncementTally;
  /** Changes that could not be committed, or may have been: the answer was lost. */
  readonly failures: number;
  /** Why the first of them could not. */
  readonly failure?: NotifierError;
  /** What the gate remembers, and as much of it as the state has. */
  readonly gate: GateMemory;
  readonly saved: GateMemory;
  readonly outlook: Omit<Outlook, 'rest'>;
  /** Ids of certifications that it has changed, or may have. */
  readonly touched: ReadonlySet<number>;
  readonly delivery: DeliveryState;
}

export const nothingAnnounced: Announced = {
  tally: { created: 0, updated: 0, withdrawn: 0, restored: 0, recorded: 0, conflicts: 0, held: 0 },
  failures: 0,
  gate: nothingFound,
  saved: nothingFound,
  outlook: { known: 0, total: 0 },
  touched: new Set(),
  delivery: nothingDelivered,
};

export interface AnnouncementContext extends StepContext {
  readonly window: RecentWindow;
  readonly lease: Lease;
  /** @returns whether ops have been told that these are about to be held */
  tellFlood(held: readonly Sighting[]): Promise<boolean>;
}

/** Commits changes, each with its event, and delivers the events. */
export class Announcement {
  readonly #context: AnnouncementContext;
  /** Replaced after each step: what was done stays known when the next one fails. */
  #now = nothingAnnounced;

  constructor(context: AnnouncementContext) {
    this.#context = context;
  }

  get now(): Announced {
    return this.#now;
  }

  /** Delivers what earlier ticks have left. */
  async inherit(state: State): Promise<void> {
    this.#now = { ...this.#now, delivery: await inherit(this.#context, state) };
  }

  /** The people's mail, once: what a mail that fails has told is not known. */
  async tellPeople(): Promise<void> {
    const { delivery } = this.#now;
    this.#now = { ...this.#now, delivery: { ...delivery, isMailDue: false } };
    this.#now = { ...this.#now, delivery: await tellPeople(this.#context.parts, delivery) };
  }

  /**
   * What the gate has to know before anything is announced.
   *
   * @param total what the partner counts; undefined: no more than is known
   */
  expect({ gate, expected, missing }: LeasedState, total?: number): void {
    const known = expected + (missing?.total ?? 0);
    this.#now = { ...this.#now, gate, saved: gate, outlook: { known, total: total ?? known } };
  }

  /**
   * Commits these changes, each with its event, and delivers the events, or holds those that are part
   * of a flood.
   *
   * @param found how they were found; kept with the revisions, for `explain`
   * @returns the changes that this tick committed: the others failed, were another tick's, or had to
   * wait because time ran out
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

  /** Records what the first reading found, and announces nothing. */
  async record(sightings: readonly Sighting[]): Promise<void> {
    const { ledger, clock } = this.#context.parts;
    await ledger.touch(sightings.map(({ assessment }) => assessment.certified_on));
    await ledger.recordSilently(sightings, clock.now());
    const { tally } = this.#now;
    const recorded = tally.recorded + sightings.length;
    this.#now = { ...this.#now, tally: { ...tally, recorded } };
  }

  /** Through the gate, whose memory is written before anything that it allows. @returns what was committed */
  async #pass(batch: readonly Change[], rest: readonly Change[]): Promise<readonly Change[]> {
    const { parts, lease } = this.#context;
    const { rules, settings, clock, ledger, journal } = parts;
    const { outlook, saved } = this.#now;
    const now = clock.now();
    const { memory, held, free } = rules.judge(
      this.#now.gate,
      batch,
      { ...outlook, rest },
      { holdAbove: settings.holdAbove, roundMs: settings.audit.historyMs },
      now.epochMilliseconds,
    );
    if (!isDeepStrictEqual(memory, saved) && !(await ledger.saveState({ gate: memory }, lease))) {
      // Another tick counts by now, and this one announces nothing more.
      journal.warn('lease lost', { owner: lease.owner });
      this.#now = { ...this.#now, gate: memory, failures: this.#now.failures + batch.length };
      return [];
    }
    const news = batch.filter(({ kind }) => kind === 'created' || kind === 'restored').length;
    const known = outlook.known + news;
    this.#now = { ...this.#now, gate: memory, saved: memory, outlook: { ...outlook, known } };
    // What operations cannot be told of is not committed, and found again by the next tick.
    const isTold = held.length === 0 || (await this.#context.tellFlood(held));
    if (!isTold) {
      const failures = this.#now.failures + held.length;
      this.#now = { failure: new FloodNotToldError(), ...this.#now, failures };
    }
    return [
      ...(isTold ? await this.#conclude(held, 'held', now) : []),
      ...(await this.#conclude(free, 'pending', now)),
    ];
  }

  /** Commits, and delivers what is not held and not behind anything that is. */
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
      gate: concluded(gate, committed, failed),
    };
    const unsure = failed.map(({ id }) => id);
    const delivered = await deliver(this.#context, this.#now.delivery, free, unsure);
    this.#now = { ...this.#now, delivery: delivered };
    return committed;
  }

  /**
   * An error of one record never stops the others: the tick fails at its end.
   *
   * @returns `undefined`: another tick was first
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
      // So much is held of it already that only a brief event fits into its item.
      if (!isBrief && faultOf(error) === 'record') return this.#commit(change, destiny, now, true);
      if (!(error instanceof NotifierError)) throw error;
      journal.warn('commit failed', { certification: change.id, error });
      this.#now = { failure: error, ...this.#now };
      return 'failed';
    }
  }

  #eventOf(change: Change, time: { toString(): string }, brief: boolean): CertificationEvent {
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
