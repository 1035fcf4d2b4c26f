import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { toJson, toText } from '../../../local/conformance/report.ts';
import type { ConformanceReport } from '../../../local/conformance/suite.ts';
import { type PartnerSandbox, startPartnerSandbox } from '../../../local/partner-sandbox/index.ts';
import { check, sectionsThat } from './stage.ts';

const canary = 'canary.person@example.org';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** The sandbox behind a server that rewrites each JSON answer. */
async function behind(sandbox: PartnerSandbox, rewrite: (body: unknown, path: string) => unknown) {
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const { authorization = '', 'content-type': type = 'text/plain' } = headers;
    const body = method === 'POST' ? await text(request) : null;
    const answer = await fetch(sandbox.url + url, {
      method,
      headers: { authorization, 'content-type': type },
      body,
    });
    const rewritten = JSON.stringify(rewrite(JSON.parse(await answer.text()), url));
    response.writeHead(answer.status, { 'retry-after': canary, 'x-ratelimit-limit': canary });
    response.end(rewritten);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
    return sandbox.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, credentials: sandbox.credentials };
}

/** Replaces each text in a body, except the token and the fields in `keep`. */
function overwritten(value: unknown, keep: readonly string[], name = ''): unknown {
  if (typeof value === 'string') return keep.includes(name) ? value : canary;
  if (Array.isArray(value)) return value.map((each) => overwritten(each, keep, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, overwritten(each, keep, key)]),
  );
}

function expectDiscretion(report: ConformanceReport) {
  expect(toText(report)).not.toContain('canary');
  expect(toJson('http://127.0.0.1', report)).not.toContain('canary');
}

it.each([
  ['everywhere', ['access_token']],
  ['everywhere except in the first checked fields', ['access_token', 'token_type', 'certified_on']],
])('a host with a person’s address in place of each text, %s, is not quoted', async (_, keep) => {
  const sandbox = await startPartnerSandbox({ records: 150 });
  const report = await check(await behind(sandbox, (body) => overwritten(body, keep)));
  expect(sectionsThat(report, 'fail')).toContain('7');
  expectDiscretion(report);
});

it('a host that returns another record than the requested one is caught, and neither is quoted', async () => {
  const sandbox = await startPartnerSandbox({ records: 150 });
  const { id } = sandbox.world.add({ last_name: 'Canaryson', email: canary, seid: 'canary-seid' });
  const other = sandbox.world.get(id);
  const host = await behind(sandbox, (body, path) => (/\/\d+$/.test(path) ? other : body));
  const report = await check(host);
  expect(sectionsThat(report, 'fail')).toContain('4.3');
  expectDiscretion(report);
});
