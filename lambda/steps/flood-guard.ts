import type { Change, Found } from '../detection/compare.ts';
import type { TickParts } from '../parts.ts';
import type { FloodMemory } from '../ports.ts';
import type { Conditions } from './conditions.ts';

/** More withdrawals than this in one tick are held, whatever `holdAbove` allows. */
const withdrawalsAtOnce = 25;

/** How changes were come by. */
export interface Circumstances {
  /** Withdrawals so many of one day that they are held whatever their number. */
  readonly doubtful?: boolean;
  /** By an audit: a mass edit that no total shows comes to light a few at a time. */
  readonly isAudit?: boolean;
  /** Kept with the revisions, for `explain`. */
  readonly found?: Found;
}

/** Decides whether what ticks find is news or a flood, which ops release or discard. */
export class FloodGuard {
  readonly #parts: TickParts;
  readonly #conditions: Conditions;
  #memory: FloodMemory = { isFlooded: false, edits: 0, since: 0, doubtfulUntil: 0 };
  #isFlooded = false;
  #hasGivenNotice = false;
  #found = 0;
  #withdrawals = 0;

  constructor(parts: TickParts, conditions: Conditions) {
    this.#parts = parts;
    this.#conditions = conditions;
  }

  /** What earlier ticks have found: a flood is held to its end, also when it takes many to find it. */
  recall(memory: FloodMemory): void {
    this.#memory = memory;
    this.#isFlooded = memory.isFlooded;
  }

  /** @param isEnd whether this tick has found everything that there was to find */
  memory(isEnd: boolean): FloodMemory {
    return { ...this.#memory, isFlooded: this.#isFlooded && !isEnd };
  }

  /** What the total says is coming, more than the tick may find of it. */
  expect(surplus: number): void {
    this.#isFlooded ||= surplus > this.#parts.settings.holdAbove || -surplus > withdrawalsAtOnce;
  }

  /** The total was not believed and is again: what has gone for good is not told without asking. */
  endCollapse(): void {
    const { clock, settings } = this.#parts;
    const doubtfulUntil = clock.now().epochMilliseconds + settings.audit.historyMs;
    this.#memory = { ...this.#memory, doubtfulUntil };
  }

  /** Whether these changes, with all that was found before, are a flood. */
  isFlood(changes: readonly Change[], { doubtful = false, isAudit = false }: Circumstances) {
    const { holdAbove } = this.#parts.settings;
    const now = this.#parts.clock.now().epochMilliseconds;
    const withdrawals = changes.filter(({ kind }) => kind === 'withdrawn').length;
    const created = changes.filter(({ kind }) => kind === 'created').length;
    this.#found += changes.length;
    this.#withdrawals += withdrawals;
    this.#isFlooded ||= this.#found > holdAbove || this.#withdrawals > withdrawalsAtOnce;
    this.#countEdits(changes.length - withdrawals - created, now);
    return (
      this.#isFlooded ||
      doubtful ||
      (isAudit && this.#memory.edits > holdAbove) ||
      (withdrawals > 0 && now < this.#memory.doubtfulUntil)
    );
  }

  /** Within the time that the audits take to come round once. */
  #countEdits(news: number, now: number): void {
    if (news === 0) return;
    const { edits, since } = this.#memory;
    const isOver = now - since >= this.#parts.settings.audit.historyMs;
    this.#memory = {
      ...this.#memory,
      ...(isOver ? { edits: news, since: now } : { edits: edits + news }),
    };
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
