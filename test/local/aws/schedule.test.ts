import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../lambda/clock.ts';
import type { LocalFunction } from '../../../local/aws/function.ts';
import { runSchedule } from '../../../local/aws/schedule.ts';

const arn = 'arn:aws:scheduler:eu-west-1:000000000000:schedule/default/S';
const schedule = {
  name: 'S',
  arn,
  expression: 'rate(1 minute)',
  enabled: true,
  functionName: 'F',
  input: undefined,
};
const echo: Pick<LocalFunction, 'invoke'> = {
  invoke: async (payload = {}) => ({
    outcome: 'returned',
    requestId: 'r',
    coldStart: false,
    payload,
  }),
};

/** Each reading of the clock is `stepMs` after the one before. Sleeps take no time and are noted. */
function steppingClock(stepMs: number) {
  let now = Temporal.Instant.from('2026-11-21T12:00:00Z');
  const slept: number[] = [];
  const clock: Clock = {
    ...systemClock,
    now: () => {
      now = now.add({ milliseconds: stepMs });
      return now;
    },
    sleep: async (ms) => {
      slept.push(ms);
    },
  };
  return { clock, slept };
}

async function payloads(count: number, options: { stepMs: number; input?: string }) {
  const { clock, slept } = steppingClock(options.stepMs);
  const stop = new AbortController();
  const seen: unknown[] = [];
  const run = { everyMs: 3000, clock, signal: stop.signal };
  for await (const result of runSchedule({ ...schedule, input: options.input }, echo, run)) {
    seen.push(result.outcome === 'returned' ? result.payload : result);
    if (seen.length === count) stop.abort();
  }
  return { seen, slept };
}

test.each([
  ['the rest of the interval', 400, 2600],
  ['the time until a later multiple of it, if it has passed', 7000, 2000],
])('the pause is %s', async (_, stepMs, expected) => {
  expect((await payloads(2, { stepMs })).slept).toEqual([expected, expected]);
});

test("the function gets the input of the schedule, or EventBridge Scheduler's own event", async () => {
  expect((await payloads(1, { stepMs: 1, input: '{"tick":true}' })).seen).toEqual([{ tick: true }]);
  expect((await payloads(1, { stepMs: 1 })).seen).toMatchObject([
    { source: 'aws.scheduler', 'detail-type': 'Scheduled Event', resources: [arn] },
  ]);
});

test('a disabled schedule starts nothing', async () => {
  const { clock } = steppingClock(1);
  const run = { everyMs: 1, clock, signal: new AbortController().signal };
  const results = await Array.fromAsync(runSchedule({ ...schedule, enabled: false }, echo, run));
  expect(results).toEqual([]);
});
