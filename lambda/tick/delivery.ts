import type { Committed } from '../ports/ledger.ts';
import type { State } from '../ports/state.ts';
import {
  type DeliveryTally,
  deliver,
  inherit,
  leave,
  nothingDelivered,
  tallyOf,
  tellPeople,
} from './deliver.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

export type { DeliveryTally } from './deliver.ts';

/** The value, for steps that do not hand it on yet. */
export class Delivery {
  readonly #parts: TickParts;
  readonly #limit: TimeLimit;
  #delivery = nothingDelivered;

  constructor(parts: TickParts, limit: TimeLimit) {
    this.#parts = parts;
    this.#limit = limit;
  }

  get tally(): DeliveryTally {
    return tallyOf(this.#delivery);
  }

  get changes(): Pick<State, 'digest'> {
    return { digest: this.#delivery.schedule };
  }

  async inherit(state: State): Promise<void> {
    this.#delivery = await inherit(this.#parts, this.#limit, state);
  }

  leave(certificationId: number): void {
    this.#delivery = leave(this.#delivery, certificationId);
  }

  async deliver(committed: readonly Committed[]): Promise<void> {
    this.#delivery = await deliver(this.#parts, this.#limit, this.#delivery, committed);
  }

  async tellPeople(): Promise<void> {
    const delivery = this.#delivery;
    this.#delivery = { ...delivery, isMailDue: false };
    this.#delivery = await tellPeople(this.#parts, delivery);
  }
}
