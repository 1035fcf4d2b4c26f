import { type Measured, rangesAtOnce } from '../decisions/baseline.ts';
import type { Calendar } from '../decisions/calendar.ts';
import { asking } from '../decisions/day-entries.ts';
import type { DueLook } from '../decisions/due.ts';
import { requestsLeft } from '../decisions/pace.ts';
import type {
  ReadStep,
  StepAnswer,
  WorkProgress,
  Step as WorkStep,
} from '../decisions/worklist.ts';
import type { Done } from './done.ts';
import type { LeasedParts, Step } from './parts.ts';
import { beginRead, perform, type Reading, type ReadUnderWay } from './read.ts';
import { ask, deadlineOf } from './time.ts';

/** Reads that run side by side, until their turn comes. */
type UnderWay = ReadonlyMap<ReadStep, ReadUnderWay>;

/**
 * The only loop of a tick that reads days: one step after the other, until nothing is due or time
 * is up. The list of work is pure, so each answer has all that it follows from.
 *
 * @param looksOf the days that are due for a look, as it follows from the tick so far
 */
export async function* carryOut<End>(
  at: LeasedParts,
  done: Done,
  reading: Reading,
  list: Generator<WorkStep, End, StepAnswer>,
  start: WorkProgress,
  looksOf: (calendar: Calendar, done: Done) => readonly DueLook[] = () => [],
): Step<[Done, WorkProgress & { readonly end: End }]> {
  const { clock } = at;
  let now = done;
  let { calendar, cursor } = start;
  let answer: StepAnswer = { calendar, cursor, isTimeUp: false };
  let underWay: UnderWay = new Map();
  try {
    for (;;) {
      const next = list.next(answer);
      if (next.done) return [now, { calendar, cursor, end: next.value }];
      const step = next.value;
      now = yield { is: 'boundary' };
      // Another tick has the lease and goes on from its own place.
      const isLost = step.kind === 'reached' && (await reading.keep?.(step.position)) === false;
      if (step.kind === 'located')
        calendar = asking(calendar, step.days, clock.now().epochMilliseconds);
      let result: Partial<StepAnswer> = {};
      if (!now.time.isCutShort) {
        if (isPassed(step, underWay)) {
          now = yield* passed(now, underWay);
          underWay = new Map();
        }
        if (step.kind === 'together') underWay = begun(at, now, step.steps, calendar);
        [now, result] = yield* answered(at, now, reading, step, { calendar, cursor }, underWay);
      }
      ({ calendar, cursor } = { calendar, cursor, ...result });
      const isTimeUp = now.time.isCutShort || isLost || result.isTimeUp === true;
      answer = { ...result, calendar, cursor, looks: looksOf(calendar, now), isTimeUp };
      if (step.kind === 'read') underWay = without(underWay, step);
    }
  } finally {
    // Nothing that asks outlives the tick.
    await Promise.allSettled(underWay.values());
  }
}

const without = (underWay: UnderWay, step: ReadStep): UnderWay =>
  new Map([...underWay].filter(([one]) => one !== step));

/** Another batch, or another read, begins: the turn of these does not come any more. */
const isPassed = (step: WorkStep, underWay: UnderWay): boolean =>
  step.kind === 'together' || (step.kind === 'read' && !underWay.has(step));

async function* passed(done: Done, underWay: UnderWay): Step {
  let now = done;
  for (const one of await Promise.allSettled(underWay.values()))
    if (one.status === 'fulfilled' && typeof one.value.read === 'object')
      now = yield { is: 'shown', ...one.value.read };
  return now;
}

const begun = (
  at: LeasedParts,
  { time }: Done,
  steps: readonly ReadStep[],
  calendar: Calendar,
): UnderWay => new Map(steps.map((one) => [one, beginRead(at, time, one, calendar)]));

/** @returns the answer to the step; empty for a step that only reports */
async function* answered(
  at: LeasedParts,
  done: Done,
  reading: Reading,
  step: WorkStep,
  before: WorkProgress,
  underWay: UnderWay,
): Step<[Done, Partial<StepAnswer>]> {
  const { partner } = at;
  switch (step.kind) {
    case 'read': {
      const read = underWay.get(step) ?? beginRead(at, done.time, step, before.calendar);
      const [now, result] = yield* perform(at, done, reading, step, before, read);
      return [now, { ...result, atOnce: atOnceAfter(at, now, result) }];
    }
    case 'count': {
      const count = await ask(done.time, (deadline) => partner.count(step.range, deadline));
      return [done, count === 'out-of-time' ? { isTimeUp: true } : { count }];
    }
    case 'oldest': {
      const oldest = await ask(done.time, (deadline) => partner.oldestDay(deadline));
      return [done, oldest === 'out-of-time' ? { isTimeUp: true } : { oldest }];
    }
    default:
      return [done, {}];
  }
}

function atOnceAfter({ partner, settings, clock }: LeasedParts, { time }: Done, read: Measured) {
  const nowMs = clock.now().epochMilliseconds;
  const leftMs = deadlineOf(time).epochMilliseconds - nowMs;
  const room = requestsLeft(partner.pace, nowMs);
  return rangesAtOnce(settings.baseline.atOnce, read, leftMs, room);
}
