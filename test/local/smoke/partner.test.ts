import { createServer } from 'node:http';
import { Temporal } from 'temporal-polyfill';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import { close, listenOnLoopback } from '../../../local/aws/loopback-server.ts';
import { DemoPartner } from '../../../local/smoke/partner.ts';

const noon = Date.parse('2026-11-20T12:00:00Z');
const second = 1_000;
/** The partner's clock at its answer. Its header's `Date` lags by some seconds, as a busy server's does. */
let partnersNow = noon;
const staleDate = { date: new Date(noon - 3 * second).toUTCString() };
const server = createServer((_, response) => {
  const timetable = { seed: 1, since: noon - 60 * second, everySeconds: 1, records: 40 };
  const body = { ...timetable, timeZone: 'UTC', until: '2026-11-18', now: partnersNow };
  response.writeHead(200, staleDate).end(JSON.stringify(body));
});
let url: string;

beforeEach(async () => {
  url = await listenOnLoopback(server);
});
afterEach(() => close(server));

/** A clock with these readings, the last of which stays. */
function clockAt(...moments: number[]) {
  const last = moments.at(-1) ?? 0;
  return {
    ...systemClock,
    now: () => Temporal.Instant.fromEpochMilliseconds(moments.shift() ?? last),
  };
}

it.each([
  ['by our own clock, while the answer is as fast', noon, noon],
  ['by our own clock, for any delay of the answer', noon - second, noon + 9 * second],
])("the partner's changes so far are counted %s", async (_, asked, answered) => {
  partnersNow = noon;
  const partner = await DemoPartner.ask(url, clockAt(asked, answered));
  expect(partner.now()).toBe(answered);
  partner.catchUp();
  expect(partner.happened.at(-1)?.at).toBe(answered);
});

it.each([
  ['behind', noon + 3_600 * second],
  ['ahead of it', noon - 3_600 * second],
])("the demo partner has the partner's time if our own clock is %s", async (_, now) => {
  partnersNow = now;
  const partner = await DemoPartner.ask(url, clockAt(noon, noon + second));
  const doubt = Math.abs(partner.now() - now);
  expect(doubt).toBeLessThanOrEqual(second);
});
