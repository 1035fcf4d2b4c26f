import { isDeepStrictEqual } from 'node:util';
import pMap from 'p-map';
import type { Temporal } from 'temporal-polyfill';
import { type Change, type Found, idOf, remembering, type Sighting } from '../detection/compare.ts';
import { isLate, type RecentWindow } from '../detection/days.ts';
import { concluded, type GateMemory, nothingFound, type Outlook } from '../detection/gate.ts';
import { faultOf, NotifierError } from '../errors.ts';
import { type CertificationEvent, sightingEvent, withdrawalEvent } from '../events/event.ts';
import type { Committed } from '../ports/ledger.ts';
import type { Lease, LeasedState, State } from '../ports/state.ts';
import {
  type DeliveryState,
  deliver,
  inherit,
  leave,
  nothingDelivered,
  tellPeople,
} from './deliver.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

/** Committed and delivered as one, and a boundary to stop at. */
const changesTogether = 500;
const commitConcurrency = 16;

export interface AnnouncementTally {
  readonly created: number;
  readonly updated: number;
  readonly withdrawn: number;
  readonly restored: number;
  /** Changes that another tick had committed first. */
  readonly conflicts: number;
  /** Kept back by the gate. */
  readonly held: number;
}

/** What a tick has announced, and what it goes by. */
interface Announced {
  readonly tally: AnnouncementTally;
  /** Changes that could not be committed, or may have been: the answer was lost. */
  readonly failures: number;
  /** What the gate remembers, and as much of it as the state has. */
  readonly gate: GateMemory;
  readonly saved: GateMemory;
  readonly outlook: Omit<Outlook, 'rest'>;
  readonly delivery: DeliveryState;
}

export const nothingAnnounced: Announced = {
  tally: { created: 0, updated: 0, withdrawn: 0, restored: 0, conflicts: 0, held: 0 },
  failures: 0,
  gate: nothingFound,
  saved: nothingFound,
  outlook: { known: 0, total: 0 },
  delivery: nothingDelivered,
};

export interface AnnouncementContext {
  readonly parts: TickParts;
  readonly window: RecentWindow;
  readonly limit: TimeLimit;
  readonly lease: Lease;
  /** @returns whether ops have been told that these are about to be held */
  tellFlood(held: readonly Sighting[]): Promise<boolean>;
}

/** Commits changes, each with its event, and delivers the events. What it has done stays known when a step after it fails. */
export class Announcement {
  readonly #context: AnnouncementContext;
  #now = nothingAnnounced;

  constructor(context: AnnouncementContext) {
    this.#context = context;
  }

  get now(): Pick<Announced, 'tally' | 'failures' | 'delivery'> {
    return this.#now;
  }

  #set(changed: Partial<Announced>): void {
    this.#now = { ...this.#now, ...changed };
  }

  /** Delivers what earlier ticks have left. */
  async inherit(state: State): Promise<void> {
    this.#set({ delivery: await inherit(this.#context, state) });
  }

  /** The people's mail, once: what a mail that fails has told is not known. */
  async tellPeople(): Promise<void> {
    const { delivery } = this.#now;
    this.#set({ delivery: { ...delivery, isMailDue: false } });
    this.#set({ delivery: await tellPeople(this.#context.parts, delivery) });
  }

  /**
   * What the gate has to know before anything is announced.
   *
   * @param total what the partner counts; undefined: no more than is known
   */
  expect({ gate, expected, missing }: LeasedState, total?: number): void {
    const known = expected + (missing?.total ?? 0);
    this.#set({ gate, saved: gate, outlook: { known, total: total ?? known } });
  }

  /** What the gate remembers now, if the state does not yet, and when the next mail is due. */
  get changes(): Partial<Pick<LeasedState, 'gate' | 'digest'>> {
    const { gate, saved, delivery } = this.#now;
    const digest = { digest: delivery.schedule };
    return isDeepStrictEqual(gate, saved) ? digest : { ...digest, gate };
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
    if (changes.length === 0) return [];
    await this.#context.parts.ledger.touch(
      changes.flatMap((change) =>
        change.kind === 'withdrawn' ? [] : change.assessment.certified_on,
      ),
    );
    const all = changes.map((change) => ({ ...change, found }));
    const done: Change[] = [];
    for (let start = 0; start < all.length; start += changesTogether) {
      if (this.#context.limit.noteIfReached()) break;
      const batch = all.slice(start, start + changesTogether);
      const rest = all.slice(start + changesTogether);
      done.push(...(await this.#context.limit.between(() => this.#pass(batch, rest))));
    }
    return done;
  }

  /** Through the gate, whose memory is written before anything that it allows. */
  async #pass(batch: readonly Change[], rest: readonly Change[]): Promise<Change[]> {
    const { rules, settings, clock } = this.#context.parts;
    const now = clock.now();
    const { memory, held, free } = rules.judge(
      this.#now.gate,
      batch,
      { ...this.#now.outlook, rest },
      { holdAbove: settings.holdAbove, roundMs: settings.audit.historyMs },
      now.epochMilliseconds,
    );
    if (!(await this.#remember(memory))) {
      this.#set({ failures: this.#now.failures + batch.length });
      return [];
    }
    const { known, total } = this.#now.outlook;
    const news = batch.filter(({ kind }) => kind === 'created' || kind === 'restored').length;
    this.#set({ outlook: { known: known + news, total } });
    // What operations cannot be told of is not committed, and found again by the next tick.
    const isTold = held.length === 0 || (await this.#context.tellFlood(held));
    if (!isTold) this.#set({ failures: this.#now.failures + held.length });
    return [
      ...(isTold ? await this.#conclude(held, 'held', now) : []),
      ...(await this.#conclude(free, 'pending', now)),
    ];
  }

  /** @returns `false` when the lease is lost: another tick counts by now, and this one announces nothing more */
  async #remember(gate: GateMemory): Promise<boolean> {
    this.#set({ gate });
    if (isDeepStrictEqual(gate, this.#now.saved)) return true;
    const { ledger, journal } = this.#context.parts;
    const isKept = await ledger.saveState({ gate }, this.#context.lease);
    if (isKept) this.#set({ saved: gate });
    else journal.warn('lease lost', { owner: this.#context.lease.owner });
    return isKept;
  }

  async #conclude(
    batch: readonly Change[],
    destiny: 'pending' | 'held',
    now: Temporal.Instant,
  ): Promise<readonly Change[]> {
    const outcomes = await pMap(
      batch,
      async (change) => ({ change, owed: await this.#commit(change, destiny, now) }),
      { concurrency: commitConcurrency },
    );
    const { announced, committed, free } = afterCommits(this.#now, outcomes, destiny);
    this.#set(announced);
    this.#set({
      delivery: await deliver(this.#context, this.#now.delivery, free),
    });
    return committed;
  }

  /** An error of one record never stops the others: the tick fails at its end. */
  async #commit(
    change: Change,
    destiny: 'pending' | 'held',
    now: Temporal.Instant,
  ): Promise<Outcome['owed']> {
    const { ledger, journal, settings } = this.#context.parts;
    const nowMs = now.epochMilliseconds;
    const remembered = remembering(change, nowMs, nowMs + settings.withdrawAfterMs);
    const commit = (brief: boolean) =>
      ledger.commit(remembered, this.#eventOf(change, now, brief), now, destiny);
    try {
      return await commit(false).catch((error: unknown) => {
        // So much is held of it already that only a brief event fits into its item.
        if (faultOf(error) === 'record') return commit(true);
        throw error;
      });
    } catch (error) {
      if (!(error instanceof NotifierError)) throw error;
      journal.warn('commit failed', { certification: idOf(change), error });
      return 'failed';
    }
  }

  #eventOf(change: Change, time: { toString(): string }, brief: boolean): CertificationEvent {
    const { revision } = change;
    const day = change.kind === 'withdrawn' ? change.before.day : change.assessment.certified_on;
    const announced = {
      integration: this.#context.parts.settings.name,
      revision,
      late: isLate(day, this.#context.window),
      time,
    };
    if (change.kind === 'withdrawn') {
      const { organization_id, assessment_name } = change.before;
      const assessment = { id: idOf(change), organization_id, assessment_name, certified_on: day };
      return withdrawalEvent({ ...announced, assessment });
    }
    const { kind, assessment, changed } = change;
    const type = `certification.${kind}` as const;
    const { fields } = this.#context.parts.settings;
    return sightingEvent({ ...announced, type, assessment, fields, changed, brief });
  }
}

interface Outcome {
  readonly change: Change;
  /** `undefined`: another tick was first. */
  readonly owed: Committed | 'undone' | 'failed' | undefined;
}

/** What has come of a batch, and which of its events are to be delivered. */
function afterCommits(
  { tally, failures, gate, delivery }: Announced,
  outcomes: readonly Outcome[],
  destiny: 'pending' | 'held',
) {
  const changesOf = (some: readonly Outcome[]) => some.map(({ change }) => change);
  const failed = changesOf(outcomes.filter(({ owed }) => owed === 'failed'));
  const lost = outcomes.filter(({ owed }) => owed === undefined);
  const committed = changesOf(
    outcomes.filter(({ owed }) => owed !== undefined && owed !== 'failed'),
  );
  const owed = outcomes.flatMap((one) => (typeof one.owed === 'object' ? one.owed : []));
  const free = owed.filter(({ behind }) => destiny === 'pending' && behind !== 'held');
  const number = (kind: Change['kind']) => committed.filter((one) => one.kind === kind).length;
  const announced: Partial<Announced> = {
    tally: {
      created: tally.created + number('created'),
      updated: tally.updated + number('updated'),
      withdrawn: tally.withdrawn + number('withdrawn'),
      restored: tally.restored + number('restored'),
      conflicts: tally.conflicts + lost.length,
      held: tally.held + owed.length - free.length,
    },
    failures: failures + failed.length,
    gate: concluded(gate, committed, failed),
    delivery: failed.reduce((left, change) => leave(left, idOf(change)), delivery),
  };
  return { announced, committed, free };
}
