import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Duty, raisedOnce } from '../ops/duty.ts';
import { Visitor } from './visitor.ts';

const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
raisedOnce(duty, () => duty.stage.completedTick());
let visitor: Visitor;
beforeAll(async () => {
  visitor = await Visitor.at(duty);
});
afterAll(() => visitor[Symbol.asyncDispose]());

const page = 'i/district-a/now';
const form = 'i/district-a/commands/pause';

/** Sends its own Host header, which fetch does not allow. */
function withHost(host: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const { port } = new URL(visitor.origin);
  const path = visitor.at(page);
  request({ host: '127.0.0.1', port, path, headers: { host } }, ({ statusCode = 0 }) =>
    resolve(statusCode),
  )
    .on('error', reject)
    .end();
  return promise;
}

/** Sends a form without its length. */
function inChunks(body: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const { origin, port } = new URL(visitor.origin);
  const headers = { origin, 'transfer-encoding': 'chunked' };
  const options = { host: '127.0.0.1', port, path: visitor.at(form), method: 'POST', headers };
  const sent = request(options, (answer) => {
    answer.resume();
    resolve(answer.statusCode ?? 0);
  }).on('error', reject);
  sent.end(body);
  return promise;
}

const post = (
  headers: Record<string, string>,
  body = 'reason=because&run=00000000-0000-4000-8000-000000000001',
) =>
  visitor.raw(visitor.at(form), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body,
  });

const paused = async () => (await duty.json('status')).result;

describe('the console lets in', () => {
  it('readers with the printed address, copied with its end or without', async () => {
    expect((await visitor.opens('')).path).toBe(visitor.at(page));
    const { headers } = await visitor.raw(visitor.at('').slice(0, -1));
    expect(headers.get('location')).toBe(visitor.at(''));
    expect((await visitor.opens(page)).status).toBe(200);
  });

  it.each(['/', '/i/district-a/now', '/guessed/i/district-a/now', '/live', '/style.css'])(
    'nobody without it: %s',
    async (path) => {
      const { status, text } = await visitor.raw(path);
      expect(status).toBe(403);
      expect(text).toBe('Refused. Open the address as it was printed when the console started.');
    },
  );

  it('no page of another origin, and no other host name', async () => {
    const foreign = { headers: { origin: 'http://evil.example' } };
    expect((await visitor.raw(visitor.at(page), foreign)).status).toBe(403);
    const { host, port } = new URL(visitor.origin);
    expect(await withHost(`evil.example:${port}`)).toBe(403);
    expect(await withHost(`localhost:${port}`)).toBe(403);
    expect(await withHost(host)).toBe(200);
  });

  it('no form without the origin of its own pages', async () => {
    const { origin } = visitor;
    for (const said of [{}, { origin: 'null' }, { origin: 'http://evil.example' }])
      expect((await post({ ...said })).status).toBe(403);
    expect((await visitor.raw(visitor.at(page), { method: 'DELETE' })).status).toBe(403);
    expect(JSON.stringify(await paused())).not.toContain('because');
    expect((await post({ origin })).status).toBe(303);
    await visitor.sees(page, /paused since .*because/);
  });

  it('readers to the content of the same address, with its filters', async () => {
    const { text } = await visitor.opens('i/district-a/events?type=created&late=yes');
    const [, href = ''] = /<a class="skip" href="([^"]+)"/.exec(text) ?? [];
    expect(href).toBe(`${visitor.at('i/district-a/events')}?type=created&amp;late=yes#content`);
  });

  it('no foreign content, no frame around it, and nothing into a cache', async () => {
    const { headers } = await visitor.opens(page);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'self'",
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('same-origin');
  });

  it('no form larger than any of its own, and none without its length', async () => {
    const { origin } = visitor;
    expect((await post({ origin }, `reason=${'x'.repeat(100_000)}`)).status).toBe(413);
    for (const sent of ['', 'run=1', 'x'.repeat(100_000)]) expect(await inChunks(sent)).toBe(413);
  });
});
