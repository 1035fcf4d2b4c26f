import type { Change, Found, Sighting } from '../detection/compare.ts';
import type { FloodMemory, PassedEdits } from '../ports/state.ts';
import type { Conditions } from './conditions.ts';
import type { TickParts } from './parts.ts';

/** Edits that went out are counted in so many pieces of the time that the audits take to come round once. */
const pieces = 4;

/** How changes were come by. */
export interface Circumstances {
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
  #memory: FloodMemory = { isFlooded: false, edits: [] };
  #isFlooded = false;
  #hasGivenNotice = false;
  #found = 0;

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
  }

  /** @param isEnd whether this tick has found everything that there was to find */
  memory(isEnd: boolean): FloodMemory {
    return { ...this.#memory, isFlooded: this.#isFlooded && !isEnd };
  }

  /** What the total says is coming, more than the tick may find of it. */
  expect(surplus: number): void {
    this.#isFlooded ||= surplus > this.#parts.settings.holdAbove;
  }

  /**
   * Which of these changes, with all that was found before, are part of a flood. A mass edit, which no
   * total shows, comes to light little by little where days are read: so edits that are found there are
   * held once `holdAbove` of them have gone out lately. What is new meanwhile is none of it, nor is what
   * the newest page shows: that is never more than a page. Withdrawals are never held: too many
   * are not withdrawn in the first place (detection/missing.ts).
   */
  flooding(
    changes: readonly Change[],
    { found }: Circumstances = {},
  ): (change: Change) => change is Sighting {
    const { holdAbove } = this.#parts.settings;
    this.#found += changes.filter(({ kind }) => kind !== 'withdrawn').length;
    this.#isFlooded ||= this.#found > holdAbove;
    const lately = this.#memory.edits.reduce((sum, { number }) => sum + number, 0);
    const edits = editsAmong(changes, found);
    const isMassEdit = edits > 0 && lately + edits > holdAbove;
    return (change): change is Sighting =>
      change.kind !== 'withdrawn' && (this.#isFlooded || (isMassEdit && change.kind === 'updated'));
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
  async giveNotice(changes: readonly Sighting[]): Promise<boolean> {
    this.#hasGivenNotice ||= await this.#conditions.flood(changes);
    return this.#hasGivenNotice;
  }
}

/** Those that reading days has found. */
function editsAmong(changes: readonly Change[], found: Found | undefined): number {
  return found?.in === 'page' ? 0 : changes.filter(({ kind }) => kind === 'updated').length;
}
