import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import pMap from 'p-map';
import { expect, it } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import type { Page } from '../../../lambda/partner/api.ts';
import { PartnerError } from '../../../lambda/partner/index.ts';
import { page, type Responder, record, rig } from './scripted-host.ts';

const RESPONSES = 1_000;
const CALL_MS = 1_000;
/** As many as the client has connections. */
const AT_ONCE = 8;

const meta = { count: 3, offset: 0, page: 50 };
const bytesOf = (text: string) => Buffer.from(text);
const pageOf = (data: readonly unknown[]) => JSON.stringify({ data, meta });

/** A record with some fields of any value. */
const odd = fc
  .tuple(
    fc.integer({ min: 1, max: 20 }), // Few ids, so that many are duplicates.
    fc.dictionary(fc.constantFrom(...Object.keys(record(1))), fc.jsonValue(), { maxKeys: 2 }),
    fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }),
  )
  .map(([id, wrong, unknown]) => ({ ...record(id), ...unknown, ...wrong }));

const oddPage = fc.array(fc.oneof({ weight: 5, arbitrary: odd }, fc.jsonValue())).map(pageOf);

const broken = fc
  .tuple(oddPage, fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([text, share]) => Buffer.from(text).subarray(0, Math.floor(text.length * share)));

const garbled = fc
  .tuple(oddPage, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 20 }))
  .map(([text, bytes]) => {
    const body = Buffer.from(text);
    for (const [at, byte] of bytes) body[at % body.length] = byte;
    return body;
  });

/** The largest that fits, and larger ones. They are made once, since making them is slow. */
const monsters = [0.5, 1, 3].flatMap((share) => {
  const n = Math.floor(24_000 * share);
  const keys = Array.from({ length: n }, (_, i) => `"${'k'.repeat(60)}${i.toString(36)}":0`).join();
  const extra = [
    ...[`${'['.repeat(n)}${']'.repeat(n)}`, `${'{"a":'.repeat(n)}0${'}'.repeat(n)}`, `{${keys}}`],
    ...[`[${'{},'.repeat(n / 2)}0]`, `"${'x'.repeat(80 * n)}"`, '9'.repeat(n)],
    `"${'\\u00e9'.repeat(10 * n)}"`,
  ].map((value) => `{"data":[{"id":1,"x":${value}}],"meta":${JSON.stringify(meta)}}`);
  const parts = `{"results":[${Array.from({ length: 99 }, () => '{}').join()}]}`;
  const rows = Array.from({ length: Math.floor(100 * share) }, () => parts).join();
  return [...extra, `{"data":[${rows}],"meta":${JSON.stringify(meta)}}`].map(bytesOf);
});

const weighted = <T>(...entries: [weight: number, arbitrary: fc.Arbitrary<T>][]) =>
  fc.oneof(...entries.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const body = weighted<Buffer>(
  [6, oddPage.map(bytesOf)],
  [4, broken],
  [4, garbled],
  [3, fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes))],
  [3, fc.constantFrom(...monsters)],
);

/**
 * Without 429: after it, the client sends nothing for a minute (pace.test.ts), which would end the
 * fuzzing.
 */
const status = weighted(
  [8, fc.constant(200)],
  [2, fc.integer({ min: 200, max: 599 }).filter((code) => code !== 204 && code !== 429)],
);

const oddHeaders = {
  'retry-after': fc.oneof(fc.integer().map(String), fc.constant('Sat, 21 Nov 2026 08:00:10 GMT')),
  'content-encoding': fc.constantFrom('gzip', 'identity', 'br'),
  'content-type': fc.constantFrom('text/html', 'application/json; charset=utf-16', 'x'),
  location: fc.webUrl(),
};
const headers = fc.option(fc.record(oddHeaders, { requiredKeys: [] }), { freq: 1, nil: {} });

type Delivery = (response: ServerResponse, bytes: Buffer) => void;

const whole: Delivery = (response, bytes) => response.end(bytes);
const inPieces: Delivery = (response, bytes) => {
  for (let at = 0; at < bytes.length; at += 7_919) response.write(bytes.subarray(at, at + 7_919));
  response.end();
};
const cutOff: Delivery = (response, bytes) => response.write(bytes, () => response.destroy());
const neverEnding: Delivery = (response, bytes) => response.write(bytes);
const silent: Delivery = () => {};

const deliveries = weighted<Delivery>(
  [60, fc.constantFrom(whole, inPieces)],
  [10, fc.constant(cutOff)],
  [2, fc.constantFrom(neverEnding, silent)],
);

const responder = fc.tuple(deliveries, status, headers, body).map(
  ([deliver, code, head, bytes]): Responder =>
    (response) => {
      const length = deliver === cutOff && { 'content-length': bytes.length + 10 };
      if (deliver !== silent) response.writeHead(code, { ...head, ...length });
      deliver(response, bytes);
    },
);

/**
 * The longest turn of the event loop, in milliseconds: the shorter of wall time and processor time.
 * A busy machine lengthens the first, and some kernels' coarse accounting the second.
 */
function watchEventLoop() {
  let longest = 0;
  let cpu = process.threadCpuUsage();
  let wall = performance.now();
  let watching = true;
  const turn = () => {
    const { user, system } = process.threadCpuUsage(cpu);
    longest = Math.max(longest, Math.min((user + system) / 1000, performance.now() - wall));
    cpu = process.threadCpuUsage();
    wall = performance.now();
    if (watching) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    watching = false;
    return longest;
  };
}

it(`returns or throws an error of its own, in time, for ${RESPONSES} fuzzed responses`, async () => {
  const [seed = 0] = fc.sample(fc.integer(), 1);
  const responders = fc.sample(responder, { numRuns: RESPONSES, seed });
  const limits = { attempts: 2, attemptMs: 150 };
  const { host, client } = await rig({ limits, clock: systemClock, random: () => 0 });
  host.script('list', (response, request) => {
    responders[Number(request.url.searchParams.get('filter[search]'))]?.(response, request);
  });
  const outcomes = new Map<string, number>();
  const before = await memoryInUse();
  const longestTurn = watchEventLoop();

  async function judge(index: number) {
    const startedAt = performance.now();
    const deadline = systemClock.now().add({ milliseconds: CALL_MS });
    const call = client.list({ filter: { search: String(index) } }, { deadline });
    const seen = ({ assessments, quarantined, copies = [], rows }: Page) => {
      expect(assessments.length + quarantined.length + copies.length).toBe(rows);
      return 'page';
    };
    const outcome = await call.then(seen, (error: unknown) => {
      if (error instanceof PartnerError) return error.code;
      throw new Error(`seed ${seed}`, { cause: error });
    });
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    expect(performance.now() - startedAt, `seed ${seed}`).toBeLessThan(2 * CALL_MS);
  }

  await pMap(responders.keys(), judge, { concurrency: AT_ONCE });
  expect(longestTurn(), `seed ${seed}`).toBeLessThan(200);
  expect((await memoryInUse()) - before, `seed ${seed}`).toBeLessThan(40 * 1024 ** 2);
  // The fuzz reaches each branch that matters, and the client works normally afterwards.
  for (const outcome of ['page', 'unexpected-response', 'response-too-large', 'timed-out'])
    expect(outcomes.get(outcome), `${outcome}, seed ${seed}`).toBeGreaterThan(0);
  host.script('list', page([record(1)]));
  await expect(client.list()).resolves.toMatchObject({ rows: 1, quarantined: [] });
}, 60_000);

/** In bytes, without garbage; also that of sockets and of earlier tests, which end in turns of their own. */
async function memoryInUse(): Promise<number> {
  setFlagsFromString('--expose-gc');
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate();
    runInNewContext('gc')();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
