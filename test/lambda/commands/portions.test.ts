import { expect, it } from 'vitest';
import { StalledError } from '../../../lambda/commands/errors.ts';
import { inPortions } from '../../../lambda/commands/portions.ts';
import { timeUntil } from '../../../lambda/tick/time.ts';
import { ManualClock } from '../../scaffold/clock.ts';

const refusal = new Error('refused');

interface Work {
  /** Numbers of each page. The cursor behind a page is its position: `p1`. */
  readonly pages: readonly (readonly number[])[];
  /** The seconds that the ledger takes for a page, and that the work takes for a portion. */
  readonly pageSeconds?: number;
  readonly portionSeconds?: number;
  readonly perSecond?: number;
  /** The number whose portion is refused, after its time. */
  readonly refused?: number;
  /** The events that each number has. */
  readonly eventsEach?: number;
  readonly after?: string;
  /** The cursor is that of a number: `n7`. */
  readonly isByItem?: boolean;
}

/** Does the work of one call, which is killed after 55 seconds, two numbers at a time. */
async function worked(work: Work) {
  const { after, perSecond = Number.POSITIVE_INFINITY, eventsEach = 1, isByItem } = work;
  const { pageSeconds = 0, portionSeconds = 0 } = work;
  const clock = new ManualClock();
  const began = clock.now();
  const killedAt = began.add({ seconds: 55 });
  const warnings: string[] = [];
  const done: number[] = [];
  async function* pages() {
    for (const [position, items] of work.pages.entries()) {
      clock.advance({ seconds: pageSeconds });
      yield { items, end: `p${position + 1}` };
    }
  }
  const portioning = {
    ...{ after, perSecond, together: 2 },
    ...(isByItem && { cursorAt: (item: number) => `n${item}` }),
    done: async (items: readonly number[]) => {
      clock.advance({ milliseconds: portionSeconds * 1_000 });
      if (items.some((item) => item === work.refused)) throw refusal;
      done.push(...items);
      return items.length * eventsEach;
    },
  };
  const call = { id: 'a', time: timeUntil(killedAt), operation: undefined };
  const parts = { clock, journal: { warn: (what: string) => void warnings.push(what), info() {} } };
  const stop = await inPortions(parts, call, portioning, pages());
  return { stop, done, seconds: began.until(clock.now()).total('seconds'), warnings };
}

const failure = expect.any(StalledError);
const pages = [
  [1, 2, 3],
  [4, 5],
];
const pairs = [1, 3, 5].map((first) => [first, first + 1]);

it.each<[string, Work, object]>([
  ['is done as fast as possible', { pages }, { done: [1, 2, 3, 4, 5], seconds: 0 }],
  ['takes its time for each portion', { pages, perSecond: 2 }, { seconds: 2.5 }],
  ['is part of that time', { pages, perSecond: 2, portionSeconds: 0.5 }, { seconds: 2.5 }],
  ['may take longer', { pages, perSecond: 2, portionSeconds: 1 }, { seconds: 3 }],
  ['has a pace of events', { pages, perSecond: 2, eventsEach: 4 }, { seconds: 10 }],
])('work that has time enough %s', async (_, work, expected) => {
  expect(await worked(work)).toMatchObject({ stop: undefined, warnings: [], ...expected });
});

const slow = { pages: pairs, perSecond: 0.08 };
const endless = { pages: pairs, perSecond: 0.01 };
const refusedLate = { pages: pairs, refused: 4, portionSeconds: 30 };
const firstRefused = { pages: pairs, refused: 1, portionSeconds: 50 };

it.each<[string, Work, object, number[]]>([
  ['behind the last page', slow, { after: 'p1' }, [1, 2, 3, 4]],
  ['behind the last item', { ...slow, isByItem: true }, { after: 'n4' }, [1, 2, 3, 4]],
  ['at the start of its first page', endless, {}, [1, 2]],
  ['amid its first page', { ...endless, isByItem: true }, { after: 'n2' }, [1, 2]],
  ['behind empty pages', { pages: [[], [], [], []], pageSeconds: 20 }, { after: 'p3' }, []],
  ['with nothing done', { pages, pageSeconds: 46 }, { failure }, []],
  ['with no more done', { pages, pageSeconds: 46, after: 'p9' }, { after: 'p9', failure }, []],
  ['at a refusal', { pages, refused: 4 }, { after: 'p1', failure: refusal }, [1, 2, 3]],
  ['when it is refused too late', refusedLate, { after: 'p1' }, [1, 2]],
  ['and had only that', firstRefused, { failure: refusal }, []],
])('a call stops %s', async (_, work, stop, done) => {
  const outcome = await worked(work);
  expect(outcome).toMatchObject({ done });
  expect(outcome.stop).toEqual(stop);
  expect(outcome.warnings).toHaveLength(work.portionSeconds === undefined ? 0 : 1);
  // It waits until a pace that is slower than it ends in time, and no longer.
  if (work.perSecond !== undefined) expect(outcome.seconds).toBe(50);
});
