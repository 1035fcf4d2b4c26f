import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import { nextRangeDays } from '../detection/baseline.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';
import type { PlannedRange } from '../ports/planned-range.ts';
import type { TickRun } from '../tick/tick.ts';
import { TimeLimit } from '../tick/time-limit.ts';
import type { FanOutLedger, FanOutParts } from './parts.ts';
import { takeShare } from './share.ts';

/**
 * Assessments of one range: a task of a minute at a host that takes a second a request, and little
 * to repeat after a failure.
 */
const rangeSize = 5_000;
/** Beyond this number, ranges grow instead: Step Functions passes 256 KB from state to state. */
const rangesWanted = 500;
/** Counting begins before the ranges are read, so it stays below the cap for those. */
const countsAtOnce = 4;

export interface FanOutPlan {
  /**
   * `not-begun`: the ticks have not read the start day yet. `completed`: there is nothing to do.
   * `paused`, `backing-off`: the partner must not be asked, or its pace has no room now.
   */
  readonly outcome: 'ready' | 'not-begun' | 'completed' | 'paused' | 'backing-off';
  /** Ranges that are not completely read. */
  readonly left: readonly PlannedRange[];
  readonly ranges: number;
}

/**
 * Divides the days before the baseline's start day into ranges, once. Later executions get the
 * remaining ranges of the same plan.
 */
export async function plan(parts: FanOutParts, run: TickRun): Promise<FanOutPlan> {
  const { ledger, fanOut, partner, clock } = parts;
  const idle = (outcome: FanOutPlan['outcome']) => ({ outcome, left: [], ranges: 0 });
  const state = await ledger.recordedState();
  const { status, before, begunAt } = state?.baseline ?? {};
  if (status === 'completed') return idle('completed');
  if (state === undefined || before === undefined || begunAt === undefined)
    return idle('not-begun');
  const reason = takeShare(parts, state, 1);
  if (reason !== undefined) return idle(reason);
  let ranges = await fanOut.plan(begunAt);
  if (ranges === undefined) {
    const divided = await divide(partner, before, new TimeLimit(run.deadline, clock));
    if (divided === undefined) return idle('backing-off');
    ranges = await fanOut.keepPlan(
      begunAt,
      divided.map((days) => ({ begunAt, ...days })),
    );
  }
  return { outcome: 'ready', left: await leftOf(fanOut, ranges), ranges: ranges.length };
}

export async function leftOf(
  fanOut: FanOutLedger,
  ranges: readonly PlannedRange[],
): Promise<readonly PlannedRange[]> {
  const progress = await fanOut.progressOf(ranges);
  return ranges.filter((_, index) => !progress[index]?.isDone);
}

interface Counted {
  readonly from: Temporal.PlainDate;
  readonly to: Temporal.PlainDate;
  readonly count: number;
}

/**
 * Halves ranges that are too large, newest first. It counts one half by a request, and the other is
 * the rest. If time or pace ends first, the remaining ranges stay large; their tasks only take
 * longer.
 *
 * @returns `undefined` if there is no room even for the total
 */
export async function divide(
  partner: Pick<PartnerReader, 'oldestDay' | 'count'>,
  before: Temporal.PlainDate,
  limit: TimeLimit,
): Promise<Omit<PlannedRange, 'begunAt'>[] | undefined> {
  const to = before.subtract({ days: 1 });
  const oldest = await limit.ask((deadline) => partner.oldestDay(deadline));
  const all = await limit.ask((deadline) => partner.count({ to }, deadline));
  if (oldest === 'out-of-time' || all === 'out-of-time') return undefined;
  const from = oldest && Temporal.PlainDate.compare(oldest, to) < 0 ? oldest : to;
  const most = Math.max(rangeSize, Math.ceil(all / rangesWanted));
  const halved = async (whole: Counted): Promise<Counted[]> => {
    if (whole.count <= most || whole.from.equals(whole.to)) return [whole];
    const from = whole.from.add({ days: Math.floor(daysOf(whole) / 2) });
    const { to } = whole;
    const count = await limit.ask((deadline) => partner.count({ from, to }, deadline));
    if (count === 'out-of-time') return [whole];
    const rest = Math.max(0, whole.count - count);
    return [
      { from, to, count },
      { from: whole.from, to: from.subtract({ days: 1 }), count: rest },
    ];
  };

  let counted: Counted[] = [{ from, to, count: all }];
  for (let before = 0; counted.length > before; ) {
    before = counted.length;
    counted = (await pMap(counted, halved, { concurrency: countsAtOnce })).flat();
  }
  return joined(counted, most).map((one) => ({
    from: one.from,
    to: one.to,
    sliceDays: nextRangeDays(daysOf(one), one.count),
    ...(one.from.equals(from) && { isOldest: true as const }),
  }));
}

/**
 * Joins neighbours that fit into one range, so that there are at most two for each one that is
 * wanted.
 */
function joined(newestFirst: readonly Counted[], most: number): Counted[] {
  const ranges: Counted[] = [];
  for (const one of newestFirst) {
    const newer = ranges.at(-1);
    if (newer === undefined || newer.count + one.count > most) ranges.push(one);
    else ranges.splice(-1, 1, { ...one, to: newer.to, count: newer.count + one.count });
  }
  return ranges;
}

const daysOf = ({ from, to }: Counted) => from.until(to).days + 1;
