import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import { nextRangeDays } from '../detection/baseline.ts';
import type { DayRange } from '../detection/days.ts';
import { reachOf } from '../errors.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';
import type { Stretch } from '../ports/stretch.ts';
import { isBackingOff } from '../tick/back-off.ts';
import { TimeLimit } from '../tick/time-limit.ts';
import type { FanOutParts, TaskRun } from './parts.ts';
import { takeShare } from './share.ts';

/**
 * Assessments of one stretch: a task of a minute at a host that takes a second a request, and little
 * to repeat when it fails.
 */
const stretchSize = 5_000;
/** Beyond so many, stretches grow instead: Step Functions hands 256 KB from state to state. */
const stretchesWanted = 500;
/** Counting begins before the stretches are read, so it stays below the cap for those. */
const countsAtOnce = 4;

export interface Plan {
  /**
   * `not-begun`: the ticks have not read the start day yet. `completed`: there is nothing to do.
   * `paused`, `backing-off`: the partner is to be left alone, or its pace has no room now.
   */
  readonly outcome: 'ready' | 'not-begun' | 'completed' | 'paused' | 'backing-off';
  /** Those that have not been read to their end. */
  readonly left: readonly Stretch[];
  readonly stretches: number;
}

/**
 * Divides the days before the baseline's start day into stretches, once; later executions are given
 * what is left of the same plan.
 */
export async function plan(parts: FanOutParts, run: TaskRun): Promise<Plan> {
  const state = await parts.ledger.recordedState();
  const idle = (outcome: Exclude<Plan['outcome'], 'ready'>) =>
    ({ outcome, left: [], stretches: 0 }) as const;
  if (state?.baseline.status === 'completed') return idle('completed');
  const { before, begunAt } = state?.baseline ?? {};
  if (state === undefined || before === undefined || begunAt === undefined)
    return idle('not-begun');
  const reason = whyLeftAlone(state, parts);
  if (reason !== undefined) return idle(reason);

  const { fanOut } = parts;
  takeShare(parts, state, 1);
  const { deadline } = new TimeLimit(run.deadline, parts.clock);
  const stretches =
    (await fanOut.plan(begunAt)) ?? (await divided(parts, { before, begunAt }, deadline));
  if (stretches === undefined) return idle('backing-off');
  const progress = await fanOut.progressOf(stretches);
  return {
    outcome: 'ready',
    left: stretches.filter((_, index) => !progress[index]?.isDone),
    stretches: stretches.length,
  };
}

/** @returns `undefined` where the pace has no room for so much as the total */
async function divided(
  { partner, fanOut }: FanOutParts,
  { before, begunAt }: { before: Temporal.PlainDate; begunAt: number },
  deadline: Temporal.Instant,
): Promise<readonly Stretch[] | undefined> {
  try {
    const parts = await divide(partner, before, deadline);
    return await fanOut.keepPlan(
      begunAt,
      parts.map((days) => ({ begunAt, ...days })),
    );
  } catch (error) {
    if (reachOf(error) === 'pace') return undefined;
    throw error;
  }
}

/** Why no request is to be made to the partner just now, if there is a reason. */
export function whyLeftAlone(
  state: State,
  parts: Pick<FanOutParts, 'clock'>,
): 'paused' | 'backing-off' | undefined {
  if (state.paused) return 'paused';
  return isBackingOff(state, parts) ? 'backing-off' : undefined;
}

interface Counted {
  readonly from: Temporal.PlainDate;
  readonly to: Temporal.PlainDate;
  readonly count: number;
}

/**
 * Halves what is too large, newest first: a request for each half, since the other is the rest. Where the time or
 * the pace for requests ends before that, the others stay large: their tasks only read them for longer.
 */
export async function divide(
  partner: Pick<PartnerReader, 'oldestDay' | 'count'>,
  before: Temporal.PlainDate,
  deadline: Temporal.Instant,
): Promise<Omit<Stretch, 'begunAt'>[]> {
  const to = before.subtract({ days: 1 });
  const oldest = (await partner.oldestDay(deadline)) ?? to;
  const from = Temporal.PlainDate.compare(oldest, to) < 0 ? oldest : to;
  const count = (range: DayRange) => partner.count(range, deadline);
  const all = await count({ to });
  const most = Math.max(stretchSize, Math.ceil(all / stretchesWanted));
  const isTooLarge = (one: Counted) => one.count > most && !one.from.equals(one.to);

  let counted: Counted[] = [{ from, to, count: all }];
  while (counted.some(isTooLarge)) {
    const halves = await pMap(
      counted,
      async (one) => {
        if (!isTooLarge(one)) return [one];
        const middle = one.from.add({ days: Math.floor(daysOf(one) / 2) });
        const newer = await inTime(() => count({ from: middle, to: one.to }));
        if (newer === undefined) return [one];
        return [
          { from: middle, to: one.to, count: newer },
          { ...one, to: middle.subtract({ days: 1 }), count: Math.max(0, one.count - newer) },
        ];
      },
      { concurrency: countsAtOnce },
    );
    if (halves.every(({ length }) => length === 1)) break;
    counted = halves.flat();
  }
  return joined(counted, most).map((one) => ({
    from: one.from,
    to: one.to,
    sliceDays: nextRangeDays(daysOf(one), one.count),
    ...(one.from.equals(from) && { isOldest: true as const }),
  }));
}

async function inTime<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask();
  } catch (error) {
    const reach = reachOf(error);
    if (reach === 'time' || reach === 'pace') return undefined;
    throw error;
  }
}

/** Neighbours that are one stretch together: so there are never more than two for each that is wanted. */
function joined(newestFirst: readonly Counted[], most: number): Counted[] {
  const stretches: Counted[] = [];
  for (const one of newestFirst) {
    const newer = stretches.at(-1);
    if (newer === undefined || newer.count + one.count > most) stretches.push(one);
    else stretches.splice(-1, 1, { ...one, to: newer.to, count: newer.count + one.count });
  }
  return stretches;
}

function daysOf({ from, to }: Pick<Counted, 'from' | 'to'>): number {
  return from.until(to, { largestUnit: 'days' }).days + 1;
}
