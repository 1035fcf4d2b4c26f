import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import { parseRetryAfter } from '../../../lambda/partner/api.ts';
import { withTimeLimit } from '../../../lambda/partner/transport.ts';
import { json, page, type Responder, rejection, rig, token } from './scripted-host.ts';

const reset: Responder = (response) => response.destroy();

const busy = (headers: Record<string, string>) => json(429, {}, headers);

describe('a retry', () => {
  it.each<[string, Responder]>([
    ['429', json(429, {})],
    ['408', json(408, {})],
    ['500', json(500, {})],
    ['502 in HTML', (response) => response.writeHead(502).end('<h1>Bad gateway</h1>')],
    ['503', json(503, {})],
    ['a reset', reset],
    [
      'a body that breaks off',
      (response) => {
        response.writeHead(200, { 'content-length': 1000 });
        response.write('{"data":', () => response.destroy());
      },
    ],
  ])('follows %s', async (_, failure) => {
    const { host, client, requests } = await rig();
    host.script('list', failure, page([]));
    await expect(client.list()).resolves.toMatchObject({ rows: 0 });
    expect(requests).toEqual(['token', 'list', 'list']);
  });

  it('follows a failure of the token endpoint', async () => {
    const { host, client } = await rig();
    host.script('token', json(503, {}), reset, token('at-last'));
    await expect(client.list()).resolves.toMatchObject({ rows: 0 });
    expect(host.of('token')).toHaveLength(3);
  });

  it.each([403, 404, 405, 410, 422, 501])('does not follow %s', async (status) => {
    const { host, client, clock } = await rig();
    host.script('list', json(status, { errors: [{ message: 'no' }] }));
    const error = await rejection(client.list());
    expect(error).toMatchObject({ code: 'request-refused' });
    expect(error).toMatchObject({
      retryHelps: false,
      message: expect.stringContaining(`status ${status}`),
    });
    expect(host.of('list')).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  });

  it('ends after the last attempt with the last error', async () => {
    const { host, client, clock } = await rig({ limits: { attempts: 3 } });
    host.script('list', json(503, {}), json(503, {}), json(500, {}));
    const error = await rejection(client.list());
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(String(error)).toContain('status 500');
    expect(host.of('list')).toHaveLength(3);
    expect(clock.sleeps).toHaveLength(2);
  });

  it('waits for a random part of a back-off that doubles up to its limit', async () => {
    const limits = { attempts: 7 };
    const most = await rig({ limits, random: () => 0.999_999 });
    most.host.script('list', json(503, {}));
    await rejection(most.client.list());
    expect(most.clock.sleeps).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000]);

    const least = await rig({ limits, random: () => 0 });
    least.host.script('list', json(503, {}));
    await rejection(least.client.list());
    expect(least.clock.sleeps).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('waits for at least the seconds of Retry-After', async () => {
    const { host, client, clock } = await rig();
    host.script('list', busy({ 'retry-after': '7' }), page([]));
    await client.list();
    expect(clock.sleeps).toEqual([7_250]);
  });

  it("waits for Retry-After as a date by the server's own clock", async () => {
    const { host, client, clock } = await rig();
    const skewed = { date: 'Sat, 21 Nov 2026 03:00:00 GMT' };
    host.script(
      'list',
      busy({ ...skewed, 'retry-after': 'Sat, 21 Nov 2026 03:00:20 GMT' }),
      page([]),
    );
    await client.list();
    expect(clock.sleeps).toEqual([20_250]);
  });

  it('is dropped if its wait would cross the deadline', async () => {
    const { host, client, clock } = await rig();
    host.script('list', busy({ 'retry-after': '30' }));
    const deadline = clock.now().add({ seconds: 30 });
    const error = await rejection(client.list({}, { deadline }));
    expect(error).toMatchObject({ code: 'rate-limited' });
    expect(error).toMatchObject({ retryAfterMs: 30_000 });
    expect(clock.sleeps).toEqual([]);
    expect(host.of('list')).toHaveLength(1);
  });

  it('never exceeds the default time of a call', async () => {
    const { host, client, clock } = await rig();
    host.script('list', busy({ 'retry-after': '999999999999999999999' }));
    expect(await rejection(client.list())).toMatchObject({ code: 'rate-limited' });
    expect(clock.sleeps).toEqual([]);
  });

  it('is abandoned when the caller aborts, with the given reason', async () => {
    const controller = new AbortController();
    const { host, client } = await rig();
    const reason = new Error('tick over');
    host.script('list', (response) => {
      controller.abort(reason);
      json(503, {})(response);
    });
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
    const { host, client, clock } = await rig();
    host.script('list', () => {});
    const deadline = clock.now().add({ milliseconds: 50 });
    // The clock stands still, so only the limit in real time can end the call.
    const call = client.list({}, { deadline });
    host.script('list', () => clock.advance(1000));
    expect(await rejection(call)).toMatchObject({ code: 'out-of-time' });
  });

  it('of one caller does not end the token request of another', async () => {
    const { host, client, clock, requests } = await rig();
    // The answer comes after the first caller has given up, even if the request was earlier.
    const { promise: isGivenUp, resolve: giveUp } = Promise.withResolvers<void>();
    host.script('token', (response) => {
      void isGivenUp.then(() => token('shared')(response));
    });
    const hasty = client.list({}, { deadline: clock.now().add({ milliseconds: 30 }) });
    const patient = client.list();
    hasty.catch(() => clock.advance(1000));
    expect(await rejection(hasty)).toMatchObject({ code: 'out-of-time' });
    giveUp();
    await expect(patient).resolves.toMatchObject({ rows: 0 });
    expect(host.of('token')).toHaveLength(1);
    expect(requests.filter((kind) => kind === 'list')).toHaveLength(1);
  });
});

describe('Retry-After', () => {
  const now = Temporal.Instant.from('2026-11-21T08:00:00Z');

  it.each([
    [undefined, undefined],
    ['0', 0],
    [' 12 ', 12_000],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['2026-11-21T08:00:10Z', undefined],
    ['Sat, 21 Nov 2026 08:00:10 GMT', 10_000],
    ['Sat, 21 Nov 2026 07:00:00 GMT', 0],
    ['Sat, 99 Nov 2026 08:00:10 GMT', undefined],
    ['Saturday, 21-Nov-26 08:00:10 GMT', 10_000],
    ['Sat Nov 21 08:00:10 2026', undefined],
    ['Sat Nov 21 08:00:10 2026 +0100', undefined],
  ])('of %j means %j milliseconds', (header, ms) => {
    expect(parseRetryAfter(header === undefined ? {} : { 'retry-after': header }, now)).toBe(ms);
  });

  it('falls back to our clock if the Date header cannot be read', () => {
    expect(
      parseRetryAfter({ 'retry-after': 'Sat, 21 Nov 2026 08:00:10 GMT', date: 'yesterday' }, now),
    ).toBe(10_000);
  });

  it('is never negative nor an exception', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (header, date) => {
        const ms = parseRetryAfter({ 'retry-after': header, date }, now);
        expect(ms === undefined || ms >= 0).toBe(true);
      }),
    );
  });
});

describe('missing provisioning', () => {
  it.each<[string, Responder]>([
    ['the documented words', json(400, { errors: [{ message: 'Invalid or missing tenant ids' }] })],
    ['other words', json(400, { errors: [{ message: 'Kein Mandant zugewiesen' }] })],
    ['another shape', json(400, { errors: 'no products' })],
    ['HTML', (response) => response.writeHead(400).end('<p>Bad request</p>')],
    [
      'an endless body',
      (response) => {
        response.writeHead(400);
        response.end('Invalid or missing tenant ids '.repeat(40_000));
      },
    ],
    [
      'a body that breaks off',
      (response) => {
        response.writeHead(400, { 'content-length': 100 });
        response.write('{', () => response.destroy());
      },
    ],
  ])('is recognized when the list without a filter answers 400 with %s', async (_, responder) => {
    const { host, client } = await rig();
    host.script('list', responder);
    const error = await rejection(client.list({ sort: 'certified_on', order: 'DESC', page: 100 }));
    expect(error).toMatchObject({ code: 'not-provisioned' });
    expect(error).toMatchObject({ retryHelps: false });
    expect(host.of('list')).toHaveLength(1);
  });

  it('is not inferred from a 400 to a filter or to a single record', async () => {
    const { host, client } = await rig();
    const refusal = json(400, { errors: [{ message: 'Invalid or missing tenant ids' }] });
    host.script('list', refusal);
    host.script('get', refusal);
    const filter = { start_date: '2026-11-02' };
    for (const call of [client.list({ filter }), client.list({ offset: 900 }), client.get(1)]) {
      const error = await rejection(call);
      expect(error).toMatchObject({ code: 'request-refused' });
      expect(error).toMatchObject({ message: expect.stringContaining('status 400') });
    }
  });
});

describe('a time limit', () => {
  it('leaves nothing behind after work in time, even if a listener holds its signal', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const signals: WeakRef<AbortSignal>[] = [];
    for (let n = 0; n < 50; n++)
      await withTimeLimit(
        systemClock,
        60_000,
        () => new Error('late'),
        undefined,
        async (signal) => {
          signal.addEventListener('abort', () => signals.length);
          signals.push(new WeakRef(signal));
        },
      );
    // Observations of a turn last to its end.
    await nextTurn();
    collect();
    const kept = signals.filter((signal) => signal.deref() !== undefined);
    expect(kept.length).toBeLessThan(5);
  });
});
