import { Temporal } from 'temporal-polyfill';
import {
  type Certification,
  compare,
  type Sighting,
  type Withdrawal,
  withdrawal,
} from '../detection/compare.ts';
import type { Assessment } from '../events/assessment.ts';
import { isLocalFailure } from './local-failure.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

/** Missing ones that a tick asks for by their ids, besides what its reads cost. */
const confirmations = 100;
/** Lookups that fail and say nothing about the endpoint; after more of them it is tried. */
const failuresBorne = 3;
/** Where no answer settles anything, others are asked for in each tick for so long; then all are left to the audits. */
const patienceMs = 10 * 60_000;

export interface ConfirmationContext {
  readonly parts: TickParts;
  readonly limit: TimeLimit;
  readonly salt: string;
  /** `false` while the total has collapsed: then nothing is called gone. */
  readonly infersRemovals: boolean;
  /** Some that the partner has just shown, readable or not: if none can be fetched by its id, nothing can. */
  readonly canaries: readonly number[];
  /** It shows nothing at all, and ops have called that right: there is nothing to try. */
  readonly isNothingRight: boolean;
}

export interface Confirmed {
  /** There, and changed or moved. */
  readonly sightings: readonly Sighting[];
  readonly withdrawals: readonly Withdrawal[];
  /** Not gone, as far as can be said, although the read of its day did not have it. */
  readonly standing: readonly Certification[];
  /** Not asked for yet. */
  readonly unasked: readonly Certification[];
}

/**
 * Asks for what is missing by its id: one that is there has moved or changed; one that is not has
 * been withdrawn, provided that a record which is there for certain can be fetched at all.
 */
export class Confirmation {
  readonly #context: ConfirmationContext;
  #left = confirmations;
  #failures = 0;
  singleRecords: 'untried' | 'work' | 'broken' = 'untried';

  constructor(context: ConfirmationContext) {
    this.#context = context;
  }

  /** @param triedMs for how long what is missing of these days has been asked for in vain */
  async confirm(missing: readonly Certification[], triedMs = 0): Promise<Confirmed> {
    const { parts, salt, limit, infersRemovals } = this.#context;
    const sightings: Sighting[] = [];
    const withdrawals: Withdrawal[] = [];
    const standing: Certification[] = [];
    const unasked: Certification[] = [];
    // What is found out is to be committed too.
    const until = limit.readingDeadline;
    for (const certification of this.#inTurn(missing)) {
      // Not to be believed, or nothing to try it with: it stands, and the audits come back to its day.
      if (!infersRemovals || this.singleRecords === 'broken' || this.#isWithoutCanary) {
        standing.push(certification);
        continue;
      }
      if (this.#left <= 0 || Temporal.Instant.compare(parts.clock.now(), until) >= 0) {
        unasked.push(certification);
        continue;
      }
      const found = await this.#get(certification.id);
      if (found === 'failed' && this.#failures > failuresBorne) await this.singleRecordsWork();
      if (found === undefined && (await this.singleRecordsWork()))
        withdrawals.push(withdrawal(certification));
      else if (found === 'out-of-time' || (found === undefined && this.singleRecords === 'untried'))
        unasked.push(certification);
      else if (found === undefined || found === 'unreadable' || found === 'failed')
        standing.push(certification);
      else {
        sightings.push(...compare([found], new Map([[found.id, certification]]), salt));
        if (found.certified_on === certification.day) standing.push(certification);
      }
    }
    const isInVain =
      triedMs >= patienceMs &&
      standing.length > failuresBorne &&
      sightings.length + withdrawals.length === 0;
    return isInVain
      ? { sightings, withdrawals, standing: [...standing, ...unasked], unasked: [] }
      : { sightings, withdrawals, standing, unasked };
  }

  /** Not the same first in every tick: those whose lookups fail would keep all others from being asked for. */
  #inTurn(missing: readonly Certification[]): readonly Certification[] {
    const minute = Math.floor(this.#context.parts.clock.now().epochMilliseconds / 60_000);
    const first = missing.length === 0 ? 0 : (minute * confirmations) % missing.length;
    return [...missing.slice(first), ...missing.slice(0, first)];
  }

  get #isWithoutCanary(): boolean {
    const { canaries, isNothingRight } = this.#context;
    return canaries.length === 0 && !isNothingRight;
  }

  /** The canaries: tried once a tick, when a record is about to be called gone. */
  async singleRecordsWork(): Promise<boolean> {
    const { parts, canaries } = this.#context;
    if (parts.rules.isNotFoundBelieved(this.#context)) return true;
    if (this.singleRecords !== 'untried') return this.singleRecords === 'work';
    for (const canary of canaries) {
      const found = await this.#get(canary);
      if (found === 'out-of-time') return false;
      if (found === undefined || found === 'failed') continue;
      this.singleRecords = 'work';
      return true;
    }
    if (canaries.length === 0) return false;
    this.singleRecords = 'broken';
    parts.journal.warn('single-record endpoint broken', {
      whatToDo:
        'Records that the list shows cannot be had by their ids. Nothing is withdrawn meanwhile; ask the operator.',
    });
    return false;
  }

  async #get(
    id: number,
  ): Promise<Assessment | 'unreadable' | 'out-of-time' | 'failed' | undefined> {
    const { parts, limit } = this.#context;
    this.#left -= 1;
    try {
      return await limit.ask((deadline) => parts.partner.get(id, deadline));
    } catch (error) {
      if (!isLocalFailure(error)) throw error;
      this.#failures += 1;
      parts.journal.warn('record not to be had by its id', { certification: id, error });
      return 'failed';
    }
  }
}
