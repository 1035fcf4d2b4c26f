import type { OwedEvent } from '../events/owed-event.ts';
import type { Refusal } from '../ports/announcer.ts';
import type { Committed } from '../ports/ledger.ts';
import type { State, StateChanges } from '../ports/state.ts';
import { OwedDigest } from './owed-digest.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

/** What a death may cost subscribers to hear twice; to settle it before the mail costs a write more for each. */
const mostUnsettled = 50;

export interface DeliveryTally {
  readonly delivered: number;
  /** Committed, and not accepted by SNS yet: the next tick tries again. */
  readonly undelivered: number;
  /** Refused by SNS for good and set aside for ops. */
  readonly undeliverable: number;
}

/**
 * Takes events out of their outboxes: to the machines, then to the people. A crash between any two
 * steps tells somebody twice, with the same ids, and nobody never.
 *
 * The oldest go first. When something had to stay behind, whatever is newer stays behind it.
 */
export class Delivery {
  readonly #parts: TickParts;
  readonly #limit: TimeLimit;
  readonly #digest: OwedDigest;
  #delivered = 0;
  #undelivered = 0;
  #undeliverable = 0;
  #hasToldPeople = false;
  /** SNS takes nothing, or time ran out: what is owed waits for the next tick. */
  #isStopped = false;
  /** Certifications whose events this tick has sent; their outboxes may not say so yet. */
  readonly #sent = new Set<number>();
  /** Certifications of which an event was refused or had to wait in this tick. */
  readonly #waiting = new Set<number>();

  constructor(parts: TickParts, limit: TimeLimit) {
    this.#parts = parts;
    this.#limit = limit;
    this.#digest = new OwedDigest(parts, limit);
  }

  get tally(): DeliveryTally {
    return {
      delivered: this.#delivered,
      undelivered: this.#undelivered + this.#digest.undelivered,
      undeliverable: this.#undeliverable,
    };
  }

  /** What the next tick needs to know of the digest. */
  get changes(): Pick<StateChanges, 'digest'> {
    return this.#digest.changes;
  }

  /** What earlier ticks have left undelivered, as the state was when this one took the lease. */
  async inherit(state: State): Promise<void> {
    await this.#digest.inherit(state);
    if (state.dirtySince !== undefined) await this.#deliverLeftovers();
  }

  /** An event of it may have been committed, and the answer lost: what comes after that waits for the next tick. */
  leave(certificationId: number): void {
    this.#waiting.add(certificationId);
  }

  async deliver(committed: readonly Committed[]): Promise<void> {
    const free = committed.filter((one) => this.#isFree(one));
    this.#undelivered += committed.length - free.length;
    await this.#publish(free, free.length > mostUnsettled ? 'at-once' : 'with-the-mail');
  }

  /** The people's digest, at the end of the tick: once, whatever becomes of it. */
  async tellPeople(): Promise<void> {
    if (this.#hasToldPeople) return;
    this.#hasToldPeople = true;
    await this.#digest.send();
  }

  async #deliverLeftovers(): Promise<void> {
    for await (const { owed, unreadable } of this.#parts.ledger.leftovers('event')) {
      for (const error of unreadable) this.#parts.journal.warn('outbox unreadable', { error });
      this.#undelivered += unreadable.length;
      this.#digest.note(owed.filter(({ owes }) => owes === 'digest'));
      const pending = owed.filter(({ owes }) => owes === 'event-and-digest');
      await this.#limit.between(() => this.#publish(pending, 'at-once'));
      if (this.#limit.noteIfReached()) this.#isStopped = true;
      if (this.#isStopped) return;
    }
  }

  #isFree({ certificationId, behind }: Committed): boolean {
    const isNext = behind === undefined || this.#sent.has(certificationId);
    const isFree = isNext && !this.#isStopped && !this.#waiting.has(certificationId);
    if (!isFree) this.#waiting.add(certificationId);
    return isFree;
  }

  async #publish(owed: readonly OwedEvent[], settled: 'at-once' | 'with-the-mail'): Promise<void> {
    if (owed.length === 0) return;
    const { announcer, ledger } = this.#parts;
    const noted = new Set<OwedEvent>();
    const note = async (batch: readonly OwedEvent[]) => {
      for (const one of batch) noted.add(one);
      await this.#digest.addAtOnce(batch);
    };
    const outcome = await announcer.publish(
      owed,
      this.#limit.deadline,
      settled === 'at-once' ? note : undefined,
    );
    const { accepted, refused, isDown = false } = outcome;
    const forGood = refused.filter((one) => one.forGood);
    const forNow = refused.filter((one) => !one.forGood);
    this.#warn(refused);
    this.#delivered += accepted.length;
    this.#undelivered += forNow.length;
    this.#undeliverable += forGood.length;
    for (const { certificationId } of accepted) this.#sent.add(certificationId);
    for (const { owed } of forNow) this.#waiting.add(owed.certificationId);
    if (isDown) this.#isStopped = true;
    if (forGood.length > 0) await ledger.park(forGood);
    await this.#digest.add(accepted.filter((one) => !noted.has(one)));
  }

  /** A line for each code: an outage would have thousands of the same. */
  #warn(refused: readonly Refusal[]): void {
    const { journal } = this.#parts;
    for (const [code, alike] of Map.groupBy(refused, ({ code }) => code)) {
      const [first] = alike;
      const details = { code, events: alike.length, first: first?.owed.event.id };
      journal.warn(first?.forGood ? 'event undeliverable' : 'event refused', details);
    }
  }
}
