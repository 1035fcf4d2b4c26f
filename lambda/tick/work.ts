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
  reading: Reading,
  list: Generator<WorkStep, End, StepAnswer>,
  start: WorkProgress,
  looksOf: (calendar: Calendar, done: Done) => readonly DueLook[] = () => [],
): Step<WorkProgress & { readonly end: End }> {
  let progress = start;
  let answer: StepAnswer = { ...progress, isTimeUp: false };
  let underWay: UnderWay = new Map();
  try {
    for (;;) {
      const next = list.next(answer);
      if (next.done) return { ...progress, end: next.value };
      const step = next.value;
      yield { is: 'boundary' };
      underWay = yield* beside(at, step, underWay);
      const result = yield* answered(at, reading, step, progress, underWay);
      underWay = new Map([...underWay].filter(([one]) => one !== step));
      const { calendar, cursor }: WorkProgress = { ...progress, ...result };
      progress = { calendar, cursor };
      const done = yield;
      const isTimeUp = done.time.isCutShort || result.isTimeUp === true;
      answer = { ...result, ...progress, looks: looksOf(calendar, done), isTimeUp };
    }
  } finally {
    // Nothing that asks outlives the tick.
    await Promise.allSettled(underWay.values());
  }
}

/**
 * Begins reads side by side. Where another batch, or another read, comes, the turn of those before
 * does not come any more: they are awaited, and the rows that they have shown count as shown.
 */
async function* beside(at: LeasedParts, step: WorkStep, underWay: UnderWay): Step<UnderWay> {
  const isTurn = step.kind === 'read' ? underWay.has(step) : step.kind !== 'together';
  if (isTurn || (yield).time.isCutShort) return underWay;
  for (const one of await Promise.allSettled(underWay.values()))
    if (one.status === 'fulfilled' && !('error' in one.value.read))
      yield { is: 'shown', ...one.value.read };
  const { time } = yield;
  const steps = step.kind === 'together' ? step.steps : [];
  return new Map(steps.map((one) => [one, beginRead(at, time, one)]));
}

/** The answer to a step; empty for one that only reports, and where time is up. */
async function* answered(
  at: LeasedParts,
  reading: Reading,
  step: WorkStep,
  before: WorkProgress,
  underWay: UnderWay,
): Step<Partial<StepAnswer>> {
  const { partner, clock } = at;
  const { time } = yield;
  if (step.kind === 'located')
    return { calendar: asking(before.calendar, step.days, clock.now().epochMilliseconds) };
  if (step.kind === 'reached') {
    // Another tick has the lease and goes on from its own place.
    const isLost = (await reading.keep?.(step.position)) === false;
    return { isTimeUp: isLost };
  }
  if (time.isCutShort || step.kind === 'together') return {};
  if (step.kind === 'read') {
    const read = underWay.get(step) ?? beginRead(at, time, step);
    const result = yield* perform(at, reading, step, before, read);
    return { ...result, atOnce: atOnceAfter(at, yield, result) };
  }
  const answer = await ask(time, async (deadline) =>
    step.kind === 'count'
      ? { count: await partner.count(step.range, deadline) }
      : { oldest: await partner.oldestDay(deadline) },
  );
  return answer === 'out-of-time' ? { isTimeUp: true } : answer;
}

function atOnceAfter({ partner, settings, clock }: LeasedParts, { time }: Done, read: Measured) {
  const nowMs = clock.now().epochMilliseconds;
  const leftMs = deadlineOf(time).epochMilliseconds - nowMs;
  const room = requestsLeft(partner.pace, nowMs);
  return rangesAtOnce(settings.baseline.atOnce, read, leftMs, room);
}
