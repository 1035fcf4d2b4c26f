import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lambda/clock.ts';
import type { InvocationResult, LocalFunction } from './function.ts';
import type { SchedulePlan } from './interpret.ts';
import type { Json } from './template.ts';

export interface ScheduleRun {
  /** Milliseconds between two starts, in place of the template's rate. */
  readonly everyMs: number;
  readonly clock: Clock;
  /** Ends the schedule; a running invocation goes on. */
  readonly signal: AbortSignal;
}

/**
 * Invokes by a schedule, as EventBridge Scheduler does, but at another pace. Invocations never overlap: after one that
 * takes longer than the interval, the next one begins at the next multiple of the interval.
 */
export async function* runSchedule(
  schedule: SchedulePlan,
  target: Pick<LocalFunction, 'invoke'>,
  { everyMs, clock, signal }: ScheduleRun,
): AsyncGenerator<InvocationResult> {
  if (!schedule.enabled) return;
  while (!signal.aborted) {
    const began = clock.now();
    const result = await target.invoke(eventOf(schedule, began.toString()));
    if (signal.aborted) return;
    yield result;
    const tookMs = clock.now().epochMilliseconds - began.epochMilliseconds;
    try {
      await clock.sleep(everyMs - (tookMs % everyMs), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** The schedule's input, or EventBridge Scheduler's own event if it has none. */
function eventOf({ input, arn }: SchedulePlan, time: string): Json {
  if (input !== undefined) return JSON.parse(input);
  const [, , , region = '', account = ''] = arn.split(':');
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.scheduler',
    account,
    time,
    region,
    resources: [arn],
    detail: '{}',
  };
}
