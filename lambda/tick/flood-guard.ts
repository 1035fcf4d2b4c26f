import type { Change, Found } from '../detection/compare.ts';
import type { FloodMemory, PassedEdits } from '../ports/state.ts';
import type { Conditions } from './conditions.ts';
import type { TickParts } from './parts.ts';

/** More withdrawals than this in one tick are held, whatever `holdAbove` allows. */
const withdrawalsAtOnce = 25;
/** Edits that went out are counted in so many pieces of the time that the audits take to come round once. */
const pieces = 4;

/** How changes were come by. */
export interface Circumstances {
  /** Withdrawals so many of one day that they are held whatever their number. */
  readonly doubtful?: boolean;
  /** Kept with the revisions, too, for `explain`. */
  readonly found?: Found;
}

type FloodGuardParts = Pick<TickParts, 'clock'> & {
  readonly settings: Pick<TickParts['settings'], 'holdAbove'> & {
    readonly audit: Pick<TickParts['settings']['audit'], 'historyMs'>;
  };
};

/** Decides whether what ticks find is news or a flood, which ops release or discard. */
export class FloodGuard {
  readonly #parts: FloodGuardParts;
  readonly #conditions: Pick<Conditions, 'flood'>;
  #memory: FloodMemory = { isFlooded: false, isDraining: false, edits: [], doubtfulUntil: 0 };
  #isFlooded = false;
  /** A flood of withdrawals, which holds nothing else. */
  #isDraining = false;
  #hasGivenNotice = false;
  #found = 0;
  #withdrawals = 0;

  constructor(parts: FloodGuardParts, conditions: Pick<Conditions, 'flood'>) {
    this.#parts = parts;
    this.#conditions = conditions;
  }

  /** What earlier ticks have found: a flood is held to its end, also when it takes many to find it. */
  recall(memory: FloodMemory): void {
    const now = this.#parts.clock.now().epochMilliseconds;
    const { historyMs } = this.#parts.settings.audit;
    const lately = ({ since }: PassedEdits) => now - since < historyMs + historyMs / pieces;
    this.#memory = { ...memory, edits: memory.edits.filter(lately) };
    this.#isFlooded = memory.isFlooded;
    this.#isDraining = memory.isDraining;
  }

  /**
   * @param isEnd whether this tick has found everything that there was to find
   * @param isWhole whether all of it could be committed: the rest of many withdrawals may look like few
   */
  memory(isEnd: boolean, isWhole = true): FloodMemory {
    if (isEnd && !isWhole && this.#isDraining) this.doubtWithdrawals();
    return {
      ...this.#memory,
      isFlooded: this.#isFlooded && !isEnd,
      isDraining: this.#isDraining && !isEnd,
    };
  }

  /** What the total says is coming, more than the tick may find of it. */
  expect(surplus: number): void {
    this.#isFlooded ||= surplus > this.#parts.settings.holdAbove;
    this.#isDraining ||= -surplus > withdrawalsAtOnce;
  }

  /**
   * The total was not believed and is again, or some of what was doubtful is still to be found out: until
   * the audits have come round, what has gone is not told without asking.
   */
  doubtWithdrawals(): void {
    const { clock, settings } = this.#parts;
    const { historyMs } = settings.audit;
    const doubtfulUntil = clock.now().epochMilliseconds + historyMs + historyMs / pieces;
    this.#memory = { ...this.#memory, doubtfulUntil };
  }

  /**
   * Which of these changes, with all that was found before, are part of a flood. A mass edit, which no
   * total shows, comes to light little by little where days are read: so edits that are found there are
   * held once `holdAbove` of them have gone out lately. What is new meanwhile is none of it, nor is what
   * the newest page shows: that is never more than a page.
   */
  flooding(
    changes: readonly Change[],
    { doubtful = false, found }: Circumstances = {},
  ): (change: Change) => boolean {
    const { holdAbove } = this.#parts.settings;
    const withdrawals = changes.filter(({ kind }) => kind === 'withdrawn').length;
    this.#withdrawals += withdrawals;
    this.#isDraining ||= this.#withdrawals > withdrawalsAtOnce;
    this.#found += this.#isDraining ? changes.length - withdrawals : changes.length;
    this.#isFlooded ||= this.#found > holdAbove;
    const lately = this.#memory.edits.reduce((sum, { number }) => sum + number, 0);
    const edits = editsAmong(changes, found);
    const isMassEdit = edits > 0 && lately + edits > holdAbove;
    const isUnsure = this.#parts.clock.now().epochMilliseconds < this.#memory.doubtfulUntil;
    return ({ kind }) =>
      this.#isFlooded ||
      doubtful ||
      (isMassEdit && kind === 'updated') ||
      (kind === 'withdrawn' && (this.#isDraining || isUnsure));
  }

  /** These were committed and are not held. */
  passed(changes: readonly Change[], found: Found | undefined): void {
    const edits = editsAmong(changes, found);
    if (edits === 0) return;
    const now = this.#parts.clock.now().epochMilliseconds;
    const { edits: before } = this.#memory;
    const last = before.at(-1);
    const isOfLast =
      last !== undefined && now - last.since < this.#parts.settings.audit.historyMs / pieces;
    this.#memory = {
      ...this.#memory,
      edits: isOfLast
        ? [...before.slice(0, -1), { ...last, number: last.number + edits }]
        : [...before, { since: now, number: edits }],
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

/** Those that reading days has found. */
function editsAmong(changes: readonly Change[], found: Found | undefined): number {
  return found?.in === 'page' ? 0 : changes.filter(({ kind }) => kind === 'updated').length;
}
