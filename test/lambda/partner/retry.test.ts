import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import { parseRetryAfter, toRefusal } from '../../../lambda/partner/api.ts';
import { PartnerError } from '../../../lambda/partner/index.ts';
import { nextAttempt } from '../../../lambda/partner/retry.ts';
import { withTimeLimit } from '../../../lambda/partner/transport.ts';
import { json, page, type Responder, rejection, rig, token } from './scripted-host.ts';

const reset: Responder = (response) => response.destroy();
const busy = (headers: Record<string, string>) => json(429, {}, headers);
const html =
  (status: number, body: string): Responder =>
  (response) =>
    response.writeHead(status).end(body);
const brokenOff =
  (status: number): Responder =>
  (response) => {
    response.writeHead(status, { 'content-length': 1000 });
    response.write('{"data":', () => response.destroy());
  };

describe('a retry', () => {
  it.each<[string, Responder]>([
    ['503', json(503, {})],
    ['a reset', reset],
    ['a body that breaks off', brokenOff(200)],
  ])('follows %s, from either endpoint', async (_, failure) => {
    const answers = { token: [failure, token('t')], list: [failure, page([])] };
    const { client, requests } = await rig({ answers });
    await expect(client.list()).resolves.toMatchObject({ rows: 0 });
    expect(requests).toEqual(['token', 'token', 'list', 'list']);
  });

  it('ends after the last attempt with the last error', async () => {
    const list = [json(503, {}), json(503, {}), json(500, {})];
    const { host, client, clock } = await rig({ limits: { attempts: 3 }, answers: { list } });
    const message = expect.stringContaining('status 500');
    expect(await rejection(client.list())).toMatchObject({ code: 'unavailable', message });
    expect([host.of('list').length, clock.sleeps]).toEqual([3, [250, 500]]);
  });

  const unavailable = new PartnerError('unavailable', 'list');
  const rateLimited = (retryAfterMs?: number) =>
    new PartnerError('rate-limited', 'list', [], { retryAfterMs });
  const paceSpent = new PartnerError('pace-spent', 'list', [], { retryAfterMs: 900 });

  it.each<[string, unknown, failures: number, leftMs: number, waits: number[]]>([
    ['the first failure', unavailable, 0, 60_000, [0, 500]],
    ['the fifth failure', unavailable, 4, 60_000, [0, 8_000]],
    ['the sixth failure', unavailable, 5, 60_000, [0, 8_000]],
    ['the last failure', unavailable, 6, 60_000, []],
    ['Retry-After', rateLimited(7_000), 0, 60_000, [7_000, 7_500]],
    ['Retry-After at the deadline', rateLimited(7_000), 0, 7_000, []],
    ['a refusal that names no time', rateLimited(), 0, 60_000, [0, 500]],
    ['another one', rateLimited(), 1, 60_000, []],
    ['a spent pace', paceSpent, 6, 60_000, [900, 900]],
    ['a spent pace at the deadline', paceSpent, 0, 900, []],
    ['refused access', new PartnerError('token-refused-twice', 'list'), 0, 60_000, []],
    ['no error of the client', new Error('unavailable'), 0, 60_000, []],
  ])('after %s waits for a random part of its back-off, or not at all', (_, error, ...rest) => {
    const [before, leftMs, waits] = rest;
    const most = [0, 0.999_999].map((random) =>
      nextAttempt(error, before, 7, leftMs, () => random),
    );
    const failures = error === paceSpent ? before : before + 1;
    const [low, high] = waits;
    const expected = [low, high].map((waitMs) =>
      waitMs === undefined ? undefined : { failures, waitMs },
    );
    expect(most).toEqual(expected);
  });

  it('is dropped if its wait would cross the default time of a call', async () => {
    const { client, clock } = await rig({ answers: { list: busy({ 'retry-after': '61' }) } });
    const refusal = { code: 'rate-limited', retryAfterMs: 61_000 };
    expect(await rejection(client.list())).toMatchObject(refusal);
    expect(clock.sleeps).toEqual([]);
  });

  it('is abandoned when the caller aborts, with the given reason', async () => {
    const controller = new AbortController();
    const reason = new Error('tick over');
    const list: Responder = (response) => {
      controller.abort(reason);
      json(503, {})(response);
    };
    const { host, client } = await rig({ answers: { list } });
    expect(await rejection(client.list({}, { signal: controller.signal }))).toBe(reason);
    expect(host.of('list')).toHaveLength(1);
  });
});

describe('a deadline', () => {
  it('that has passed sends nothing', async () => {
    const { host, client, clock } = await rig();
    const error = await rejection(client.list({}, { deadline: clock.now() }));
    expect(error).toMatchObject({ code: 'out-of-time' });
    expect(host.received).toEqual([]);
  });

  it('cuts off a request that is under way', async () => {
    const { host, client, clock } = await rig({ answers: { list: () => {} } });
    const deadline = clock.now().add({ milliseconds: 50 });
    // The clock stands still, so only the limit in real time can end the call.
    const call = client.list({}, { deadline });
    host.script('list', () => clock.advance({ seconds: 1 }));
    expect(await rejection(call)).toMatchObject({ code: 'out-of-time' });
  });

  it('of one caller does not end the token request of another', async () => {
    // The answer comes after the first caller has given up, even if the request was earlier.
    const { promise: isGivenUp, resolve: giveUp } = Promise.withResolvers<void>();
    const shared: Responder = (response) => void isGivenUp.then(() => token('shared')(response));
    const { client, clock, requests } = await rig({ answers: { token: shared } });
    const hasty = client.list({}, { deadline: clock.now().add({ milliseconds: 30 }) });
    const patient = client.list();
    hasty.catch(() => clock.advance({ seconds: 1 }));
    expect(await rejection(hasty)).toMatchObject({ code: 'out-of-time' });
    giveUp();
    await expect(patient).resolves.toMatchObject({ rows: 0 });
    expect(requests).toEqual(['token', 'list']);
  });
});

describe('Retry-After', () => {
  const clockOfTheHost = 'Sat, 21 Nov 2026 03:00';
  const now = Temporal.Instant.from('2026-11-21T08:00:00Z');

  const inTen = 'Sat, 21 Nov 2026 08:00:10 GMT';
  const odd = 'Retry-After';

  it.each<[Record<string, string>, number | undefined, ...string[]]>([
    [{}, undefined],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': ' 12 ' }, 12_000],
    [{ 'retry-after': '86400' }, 86_400_000],
    [{ 'retry-after': '86401' }, undefined, odd],
    [{ 'retry-after': '1000000000000' }, undefined, odd],
    [{ 'retry-after': '-5' }, undefined, odd],
    [{ 'retry-after': '1.5' }, undefined, odd],
    [{ 'retry-after': '' }, undefined, odd],
    [{ 'retry-after': inTen }, 10_000],
    [{ 'retry-after': inTen, date: 'yesterday' }, 10_000, 'Date'],
    [{ 'retry-after': inTen, date: 'Sat, 21 Nov 2037 08:00:00 GMT' }, 10_000, 'Date'],
    [{ 'retry-after': `${clockOfTheHost}:20 GMT`, date: `${clockOfTheHost}:00 GMT` }, 20_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 07:00:00 GMT' }, 0],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, undefined, odd],
    [{ 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, undefined, odd],
    [{ 'retry-after': 'Sat, 99 Nov 2026 08:00:10 GMT' }, undefined, odd],
    [{ 'retry-after': 'Saturday, 21-Nov-26 08:00:10 GMT' }, 10_000],
    [{ 'retry-after': 'Sat Nov 21 08:00:10 2026' }, undefined, odd],
  ])('of %j means %j milliseconds, and %s', (headers, retryAfterMs, ...odd) => {
    expect(parseRetryAfter(headers, now.epochMilliseconds)).toEqual({ retryAfterMs, odd });
  });

  it('that is not believed is noted, once an hour', async () => {
    const list = busy({ 'retry-after': '-5' });
    const { client, clock } = await rig({ answers: { list } });
    await rejection(client.list());
    expect(client.pace.value.odd).toEqual({ [odd]: clock.now().epochMilliseconds - 250 });
  });
});

describe('a status', () => {
  it.each([
    ...[301, 302, 303, 307, 308].map((status) => [status, 'redirect-refused', false] as const),
    ...[408, 500, 503].map((status) => [status, 'unavailable', true] as const),
    ...[403, 404, 405, 410, 422, 501].map((status) => [status, 'request-refused', false] as const),
    [429, 'rate-limited', true] as const,
  ])('of %s is %s', (status, code, retryHelps) => {
    const error = toRefusal('list', { status, headers: {}, body: Buffer.alloc(0) }, '/x');
    const message = expect.stringContaining(`status ${status}`);
    expect(error).toMatchObject({ code, retryHelps, message });
  });

  const refusal = json(400, { errors: [{ message: 'Invalid or missing tenant ids' }] });

  it.each<[string, Responder]>([
    ['the documented words', refusal],
    ['HTML', html(400, '<p>Bad request</p>')],
    ['an endless body', html(400, 'Invalid or missing tenant ids '.repeat(40_000))],
    ['a body that breaks off', brokenOff(400)],
  ])('of 400 to the list without a filter means no provisioning, with %s', async (_, list) => {
    const { client, requests } = await rig({ answers: { list } });
    const error = await rejection(client.list({ sort: 'certified_on', order: 'DESC', page: 100 }));
    expect(error).toMatchObject({ code: 'not-provisioned', retryHelps: false });
    expect(requests).toEqual(['token', 'list']);
  });

  it('of 400 to a filter or to a single record does not mean that', async () => {
    const { client } = await rig({ answers: { list: refusal, get: refusal } });
    const filter = { start_date: '2026-11-02' };
    for (const call of [client.list({ filter }), client.list({ offset: 900 }), client.get(1)])
      expect(await rejection(call)).toMatchObject({ code: 'request-refused' });
  });
});

it('a time limit leaves nothing behind after work in time, even if a listener holds its signal', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const signals: WeakRef<AbortSignal>[] = [];
  const work = async (signal: AbortSignal) => {
    signal.addEventListener('abort', () => signals.length);
    signals.push(new WeakRef(signal));
  };
  const late = () => new Error('late');
  for (let n = 0; n < 50; n++) await withTimeLimit(systemClock, 60_000, late, undefined, work);
  // Observations of a turn last to its end.
  await nextTurn();
  collect();
  const kept = signals.filter((signal) => signal.deref() !== undefined);
  expect(kept.length).toBeLessThan(5);
});
