import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { close, listenOnLoopback } from '../../../local/aws/loopback-server.ts';
import { toJson, toText } from '../../../local/conformance/report.ts';
import type { ConformanceReport } from '../../../local/conformance/suite.ts';
import {
  type Credentials,
  deviationNames,
  type PartnerSandbox,
  type SandboxOptions,
} from '../../../local/partner-sandbox/index.ts';
import { check, sandboxWith, sectionsThat } from './stage.ts';

const canary = 'canary.person@example.org';

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
  onTestFinished(() => close(server));
  return { url: await listenOnLoopback(server), credentials: sandbox.credentials };
}

/** Replaces texts in a body, by the names of their fields. */
function overwritten(value: unknown, isReplaced: (name: string) => boolean, name = ''): unknown {
  if (typeof value === 'string') return isReplaced(name) ? canary : value;
  if (Array.isArray(value)) return value.map((each) => overwritten(each, isReplaced, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, overwritten(each, isReplaced, key)]),
  );
}

function expectDiscretion(report: ConformanceReport, { clientId, clientSecret }: Credentials) {
  const printed = toText(report) + toJson('http://127.0.0.1', report);
  for (const secret of ['canary', clientId, clientSecret]) expect(printed).not.toContain(secret);
}

const ofPeople = (name: string) => /^((first_|last_|proctor_)?name|email|seid)$/.test(name);
const oddRecord = {
  certified_on: 'canary-day',
  seid: ['canary-seid'],
  results: { canary: 'canary-results' },
  [canary]: 'canary-value',
};

it.each<[string, SandboxOptions, (name: string) => boolean]>([
  ['everywhere', {}, (name) => name !== 'access_token'],
  [
    'everywhere except in the first checked fields',
    {},
    (name) => !['access_token', 'token_type', 'certified_on'].includes(name),
  ],
  [
    'in the fields of people, while all else is wrong',
    { deviations: deviationNames, malformed: 0.2 },
    ofPeople,
  ],
])(
  'a host with a person’s address in place of each text, %s, is not quoted',
  async (_, options, isReplaced) => {
    const sandbox = await sandboxWith({ records: 150, ...options });
    for (let n = 0; n < 15; n++) sandbox.world.spoil(sandbox.world.add().id, { set: oddRecord });
    const host = await behind(sandbox, (body) => overwritten(body, isReplaced));
    const report = await check(host);
    expect(sectionsThat(report, 'fail')).toContain('2.2');
    expectDiscretion(report, host.credentials);
  },
);

it('a host that returns another record than the requested one is caught, and neither is quoted', async () => {
  const sandbox = await sandboxWith({ records: 150 });
  const { id } = sandbox.world.add({ last_name: 'Canaryson', email: canary, seid: 'canary-seid' });
  const other = sandbox.world.get(id);
  const host = await behind(sandbox, (body, path) => (/\/\d+$/.test(path) ? other : body));
  const report = await check(host);
  expect(sectionsThat(report, 'fail')).toContain('4.3');
  expectDiscretion(report, host.credentials);
});
