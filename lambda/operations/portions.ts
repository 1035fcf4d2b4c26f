import { StalledError } from './errors.ts';
import type { Call, OperationParts } from './parts.ts';

/** Kept free of the call for its answer. */
const answerMs = 5_000;

/** Of what the ledger gives page by page. */
interface Page<Item> {
  readonly items: readonly Item[];
  /** The cursor behind all of it. */
  readonly end: string | undefined;
}

interface Portioning<Item, Of extends Page<Item>> {
  /** Where an earlier call stopped. */
  readonly after: string | undefined;
  /** Items that are done together. */
  readonly together: number;
  /** Events, on average. */
  readonly perSecond: number;
  /** @returns how many events it has sent on their way */
  done(items: readonly Item[], page: Of): Promise<number>;
  /** The cursor behind an item; absent: only whole pages are left behind. */
  readonly cursorAt?: (item: Item) => string;
}

/** Where it goes on, and what has ended it before its time was over, if anything. */
export interface Stop {
  readonly after: string | undefined;
  readonly failure?: unknown;
}

/**
 * Does something to all items, in portions: until all are done, or the time of the call is over. A portion
 * takes as long as so many events may take. The time is spent afterwards, and by the last of a call, too:
 * the next call knows nothing of them, and begins at once.
 *
 * @returns undefined: everything was done
 */
export async function inPortions<Item, Of extends Page<Item>>(
  { clock, journal }: Pick<OperationParts, 'clock' | 'journal'>,
  { limit, killedAt }: Call,
  portioning: Portioning<Item, Of>,
  pages: AsyncIterable<Of>,
): Promise<Stop | undefined> {
  let { after } = portioning;
  let sent = 0;
  // Out of time, if only in the middle of a request, is no failure, unless nothing was done at all.
  const outOfTime = (failure: unknown): Stop =>
    sent > 0 || after !== portioning.after ? { after } : { after, failure };
  try {
    for await (const { portion, reached, page } of steps(pages, portioning)) {
      if (portion.length > 0) {
        if (limit.noteIfReached()) return outOfTime(new StalledError());
        const began = clock.now().epochMilliseconds;
        const many = await portioning.done(portion, page);
        sent += many;
        const over = began + Math.ceil((many * 1_000) / portioning.perSecond);
        // Should they be more than the call has time for, they take the rest of it.
        const latest = killedAt.epochMilliseconds - answerMs;
        const waitMs = Math.min(over, latest) - clock.now().epochMilliseconds;
        await clock.sleep(Math.max(0, waitMs));
      }
      after = reached ?? after;
      // Also where nothing is selected: to look through many takes time by itself.
      if (limit.noteIfReached()) return outOfTime(new StalledError());
    }
    return undefined;
  } catch (failure) {
    if (!limit.noteIfReached()) return { after, failure };
    journal.warn('out of time amid a portion', { error: failure });
    return outOfTime(failure);
  }
}

/** The portions of each page, and its end. */
async function* steps<Item, Of extends Page<Item>>(
  pages: AsyncIterable<Of>,
  { together, cursorAt }: Portioning<Item, Of>,
) {
  for await (const page of pages) {
    for (let from = 0; from < page.items.length; from += together) {
      const portion = page.items.slice(from, from + together);
      yield { portion, reached: portion.map((item) => cursorAt?.(item)).at(-1), page };
    }
    yield { portion: [], reached: page.end, page };
  }
}
