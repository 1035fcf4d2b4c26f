import type { Change } from '../detection/compare.ts';
import type { TickParts } from '../parts.ts';
import type { Conditions } from './conditions.ts';

/** More withdrawals than this in one tick are held, whatever `holdAbove` allows. */
const withdrawalsAtOnce = 25;

/** Decides whether what one tick finds is news or a flood, which ops release or discard. */
export class FloodGuard {
  readonly #parts: TickParts;
  readonly #conditions: Conditions;
  #isFlooded = false;
  #hasGivenNotice = false;
  #found = 0;
  #withdrawals = 0;

  constructor(parts: TickParts, conditions: Conditions) {
    this.#parts = parts;
    this.#conditions = conditions;
  }

  /**
   * What the total says is coming, more than the tick may find of it: a flood is held from its first
   * event on, also when it takes many ticks to find.
   */
  expect(surplus: number): void {
    this.#isFlooded = surplus > this.#parts.settings.holdAbove || -surplus > withdrawalsAtOnce;
  }

  /** Whether these changes, with all that the tick has found before, are a flood. */
  isFlood(changes: readonly Change[]): boolean {
    this.#found += changes.length;
    this.#withdrawals += changes.filter(({ kind }) => kind === 'withdrawn').length;
    this.#isFlooded ||=
      this.#found > this.#parts.settings.holdAbove || this.#withdrawals > withdrawalsAtOnce;
    return this.#isFlooded;
  }

  /**
   * Operations hear of a flood before anything of it is held.
   * @returns whether they have been told
   */
  async giveNotice(changes: readonly Change[]): Promise<boolean> {
    this.#hasGivenNotice ||= await this.#conditions.flood(changes);
    return this.#hasGivenNotice;
  }
}
