import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { close, listenOnLoopback } from '../../../local/aws/loopback-server.ts';
import { SecretStore } from '../../../local/aws/secret-store.ts';
import { services } from '../../../local/aws/services.ts';
import type { handler } from '../../../local/partner-sandbox/function.ts';

const secrets = new SecretStore('us-east-1', '000000000000');
const server = services({ secrets });
const clientSecret = 'of-the-demo';
secrets.create('demo');
secrets.put('demo', JSON.stringify({ client_id: 'demo', client_secret: clientSecret }));

beforeEach(async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', await listenOnLoopback(server));
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  const world = {
    seed: 1,
    since: Date.parse('2026-11-01T00:00:00Z'),
    everySeconds: 3600,
    records: 40,
    timeZone: 'UTC',
    until: '2026-10-31',
  };
  vi.stubEnv('SANDBOX', JSON.stringify(world));
  vi.stubEnv('SANDBOX_SECRET', 'demo');
});
afterEach(() => close(server));

let environments = 0;

/** A fresh execution environment of the function: Node loads a module once for each URL. */
async function environment() {
  environments += 1;
  const url = `../../../local/partner-sandbox/function.ts?environment=${environments}`;
  const fresh: { handler: typeof handler } = await import(url);
  return (method: string, rawPath: string, more: object = {}) =>
    fresh.handler({
      rawPath,
      rawQueryString: '',
      headers: {},
      isBase64Encoded: false,
      requestContext: { http: { method } },
      ...more,
    });
}

const tokenRequest = (secret: string) => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: Buffer.from(
    `grant_type=client_credentials&client_id=demo&client_secret=${secret}`,
  ).toString('base64'),
  isBase64Encoded: true,
});

it('the sandbox function requires the secret, and its tokens are valid in all execution environments', async () => {
  const [one, other] = [await environment(), await environment()];
  const list = '/api/v1/ax/assessments';
  expect((await one('GET', list)).statusCode).toBe(401);
  expect((await one('POST', '/oauth/token', tokenRequest('guessed'))).statusCode).toBe(401);
  const { statusCode, body } = await one('POST', '/oauth/token', tokenRequest(clientSecret));
  expect(statusCode).toBe(200);
  const headers = { authorization: `Bearer ${JSON.parse(body).access_token}` };
  const answers = [await one('GET', list, { headers }), await other('GET', list, { headers })];
  expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200]);
  expect(answers[0]?.body).toBe(answers[1]?.body);
  const forged = {
    authorization: headers.authorization.replace(/.$/, (end) => (end === 'A' ? 'B' : 'A')),
  };
  expect((await other('GET', list, { headers: forged })).statusCode).toBe(401);
});

it('the sandbox function shows its timetable to anybody, and its secret to nobody', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-20T08:00:00.250Z') });
  onTestFinished(() => void vi.useRealTimers());
  const { statusCode, body } = await (await environment())('GET', '/timetable');
  expect(statusCode).toBe(200);
  expect(JSON.parse(body)).toMatchObject({ seed: 1, everySeconds: 3600, now: Date.now() });
  expect(body).not.toContain(clientSecret);
});

it('the sandbox function starts again with the next request after its secret could not be read', async () => {
  const ask = await environment();
  vi.stubEnv('SANDBOX_SECRET', 'another');
  await expect(ask('GET', '/timetable')).rejects.toThrow();
  vi.stubEnv('SANDBOX_SECRET', 'demo');
  expect((await ask('GET', '/timetable')).statusCode).toBe(200);
});
