import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveConsole } from '../../console/index.ts';
import { Integration } from '../scaffold/integration.ts';
import { IntegrationDoor } from './integration-door.ts';
import { Visitor } from './visitor.ts';

const story = new Integration();
const door = new IntegrationDoor(story);
let visitor: Visitor;
beforeAll(async () => {
  await story.baseline();
  visitor = await Visitor.before(door);
});
afterAll(() => visitor[Symbol.asyncDispose]());

const page = `i/${story.name}/now`;
const form = `i/${story.name}/commands/pause`;

/** Sends a request that fetch does not allow. @returns the status of the answer */
async function sent(options: RequestOptions, body?: string): Promise<number> {
  const { port } = new URL(visitor.origin);
  const asking = request({ host: '127.0.0.1', port, ...options }).end(body);
  const answers: IncomingMessage[] = await once(asking, 'response');
  return answers[0]?.resume().statusCode ?? 0;
}

const run = '00000000-0000-4000-8000-000000000001';
const post = (headers: Record<string, string>, body = { reason: 'because', run }) =>
  visitor.raw(visitor.at(form), { method: 'POST', headers, body: new URLSearchParams(body) });

it('another console says that the port is taken', async () => {
  const { port } = new URL(visitor.origin);
  const refusal = { code: 'port-taken', message: `The port ${port} is taken.`, exitCode: 2 };
  await expect(serveConsole(door, Number(port))).rejects.toMatchObject(refusal);
});

describe('the console lets in', () => {
  it('readers with the printed address, copied with its end or without', async () => {
    expect((await visitor.opens('')).path).toBe(visitor.at(page));
    const { headers } = await visitor.raw(visitor.at('').slice(0, -1));
    expect(headers.get('location')).toBe(visitor.at(''));
    expect((await visitor.opens(page)).status).toBe(200);
  });

  it.each(['/', `/${page}`, `/guessed/${page}`, '/live', '/style.css'])(
    'nobody without it: %s',
    async (path) => {
      const text = 'Refused. Open the address as it was printed when the console started.';
      expect(await visitor.raw(path)).toMatchObject({ status: 403, text });
    },
  );

  it('no page of another origin, and no other host name', async () => {
    const foreign = { headers: { origin: 'http://evil.example' } };
    expect((await visitor.raw(visitor.at(page), foreign)).status).toBe(403);
    const { port } = new URL(visitor.origin);
    const answers = ['evil.example', 'localhost', '127.0.0.1'].map((name) =>
      sent({ path: visitor.at(page), headers: { host: `${name}:${port}` } }),
    );
    expect(await Promise.all(answers)).toEqual([403, 403, 200]);
  });

  it('no form without the origin of its own pages', async () => {
    const { origin } = visitor;
    expect((await post({})).status).toBe(403);
    for (const other of ['null', 'http://evil.example'])
      expect((await post({ origin: other })).status).toBe(403);
    expect((await visitor.raw(visitor.at(page), { method: 'DELETE' })).status).toBe(403);
    const strange = await post({ origin }, { reason: 'because', run: '../../now' });
    const text = expect.stringContaining('This is no form of the console.');
    expect(strange).toMatchObject({ status: 400, text });
    expect(door.given).toEqual([]);
    // A form that is sent twice means one run.
    for (const _ of [1, 2]) expect((await post({ origin })).status).toBe(303);
    expect(door.given).toEqual([['pause', '--reason=because']]);
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
    expect((await post({ origin }, { reason: 'x'.repeat(100_000), run })).status).toBe(413);
    const headers = { origin, 'transfer-encoding': 'chunked' };
    for (const body of ['', 'run=1', 'x'.repeat(100_000)])
      expect(await sent({ path: visitor.at(form), method: 'POST', headers }, body)).toBe(413);
  });
});
