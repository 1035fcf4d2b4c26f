import { isOver } from '../tick/time.ts';
import { StalledError } from './errors.ts';
import type { Call, OperationParts } from './parts.ts';

/** The reserve for the answer of the call. */
const answerMs = 5_000;

/** A page of items of the ledger. */
interface Page<Item> {
  readonly items: readonly Item[];
  /** The cursor behind the whole page. */
  readonly end: string | undefined;
}

interface Portioning<Item, Of extends Page<Item>> {
  /** Where an earlier call stopped. */
  readonly after: string | undefined;
  /** Items that are done together. */
  readonly together: number;
  /** Events, on average. */
  readonly perSecond: number;
  /** @returns how many events it has sent */
  done(items: readonly Item[], page: Of): Promise<number>;
  /** The cursor behind an item; absent: the cursor moves by whole pages. */
  readonly cursorAt?: (item: Item) => string;
}

/** Where the next call resumes, and the failure that has ended this one early, if any. */
export interface Stop {
  readonly after: string | undefined;
  readonly failure?: unknown;
}

/**
 * Works through all items in portions, until all are done, or the time of the call is over. A
 * portion takes as long as its events may take. The wait comes after the portion, even after the
 * last of a call: the next call knows nothing of it, and begins at once.
 *
 * @returns undefined: everything was done
 */
export async function inPortions<Item, Of extends Page<Item>>(
  { clock, journal }: Pick<OperationParts, 'clock' | 'journal'>,
  { time }: Call,
  portioning: Portioning<Item, Of>,
  pages: AsyncIterable<Of>,
): Promise<Stop | undefined> {
  let { after } = portioning;
  let sent = 0;
  // Running out of time, even in the middle of a request, is a failure only if nothing was done at
  // all.
  const outOfTime = (failure: unknown): Stop =>
    sent > 0 || after !== portioning.after ? { after } : { after, failure };
  try {
    for await (const { portion, reached, page } of steps(pages, portioning)) {
      if (portion.length > 0) {
        if (isOver(time, clock.now())) return outOfTime(new StalledError());
        const began = clock.now().epochMilliseconds;
        const many = await portioning.done(portion, page);
        sent += many;
        const over = began + Math.ceil((many * 1_000) / portioning.perSecond);
        // If its events may take longer than the call has time, the wait takes the rest of the
        // call.
        const latest = time.killedAt.epochMilliseconds - answerMs;
        const waitMs = Math.min(over, latest) - clock.now().epochMilliseconds;
        await clock.sleep(Math.max(0, waitMs));
      }
      after = reached ?? after;
      // Checked for empty portions, too: looking through many items takes time by itself.
      if (isOver(time, clock.now())) return outOfTime(new StalledError());
    }
    return undefined;
  } catch (failure) {
    if (!isOver(time, clock.now())) return { after, failure };
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
