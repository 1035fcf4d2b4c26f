import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noticed } from '../../lambda/condition-table.ts';
import { Deployment, integration, queues } from '../scaffold/deployment.ts';

const stage = new Deployment();
beforeAll(() => stage.build());
afterAll(() => stage.dismantle());
beforeEach(() => stage.raise());
afterEach(() => stage.strike());

/** A person whose personal values can be recognized at any place. */
const canary = {
  first_name: 'Canarina',
  last_name: 'Featherstonehaugh',
  seid: 'CANARY-SEID-1',
  email: 'canary@example.org',
};
const personal = /Canarina|Featherstonehaugh|CANARY-SEID|canary@/;

function expectNothingSecretInTheOutput() {
  const output = stage.output.join('\n');
  const { clientSecret } = stage.sandbox.credentials;
  expect(output).not.toBe('');
  expect(output).not.toMatch(personal);
  expect(output).not.toContain(clientSecret);
  expect(output).not.toMatch(/access_token|Bearer /);
}

/** The log line of the failed tick. */
function failureInTheLog() {
  const line = stage.output
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text))
    .find(({ message }) => message === 'tick failed');
  return line?.problem;
}

describe('bad input', () => {
  it('a wrong secret fails the tick as refused credentials, after a second read of the secret', async () => {
    const { clientId } = stage.sandbox.credentials;
    await stage.beginWithSecret(
      JSON.stringify({ client_id: clientId, client_secret: 'canary@secret' }),
    );
    expect(await stage.tick()).toMatchObject({
      outcome: 'failed',
      errorType: 'CredentialsRefusedError',
    });
    expect(failureInTheLog()).toMatchObject({
      code: 'credentials-refused',
      fault: 'partner',
      retryHelps: false,
      whatToDo: noticed['credentials-refused'].toDo,
    });
    expectNothingSecretInTheOutput();
  });

  it('a corrected secret is used as soon as the back-off is over, without a deployment', async () => {
    const { clientId, clientSecret } = stage.sandbox.credentials;
    await stage.beginWithSecret(JSON.stringify({ client_id: clientId, client_secret: 'wrong' }));
    await stage.tick();
    stage.fillSecret(JSON.stringify({ client_id: clientId, client_secret: clientSecret }));
    expect(await stage.completedTick()).toMatchObject({ outcome: 'backing-off', requests: 0 });
    await stage.backOffEnds();
    expect(await stage.completedTick()).toMatchObject({ outcome: 'baseline' });
  });

  it('a secret that was rotated while the function was warm is used', async () => {
    await stage.completedTick();
    const rotated = stage.sandbox.rotateSecret();
    stage.fillSecret(
      JSON.stringify({ client_id: rotated.clientId, client_secret: rotated.clientSecret }),
    );
    stage.sandbox.world.add();
    expect(await stage.completedTick()).toMatchObject({ delivered: 1 });
  });

  it.each([
    ['no JSON at all', 'canary@example.org', 'CredentialsMalformedError'],
    ['JSON of another shape', '{"user": "canary@example.org"}', 'CredentialsMalformedError'],
  ])('a secret that is %s is reported as such, without its value', async (_, value, errorType) => {
    await stage.beginWithSecret(value);
    expect(await stage.tick()).toMatchObject({ outcome: 'failed', errorType });
    expectNothingSecretInTheOutput();
  });

  it('an untouched secret lets a new deployment wait quietly', async () => {
    await stage.beginWithSecret('{"client_id": "", "client_secret": ""}');
    expect(await stage.tick()).toMatchObject({
      outcome: 'returned',
      payload: { outcome: 'no-credentials', conditions: { 'credentials-not-set': 1 } },
    });
  });

  it('an unreachable host disturbs a tick, which logs it, and the next tick continues', async () => {
    await stage.completedTick();
    stage.sandbox.world.add(canary);
    const { target } = stage.partner;
    stage.partner.target = 'http://127.0.0.1:9';
    expect(await stage.tick()).toMatchObject({ outcome: 'returned' });
    expect(failureInTheLog()).toMatchObject({ code: 'unavailable', retryHelps: true });
    stage.partner.target = target;
    expect(await stage.completedTick()).toMatchObject({ delivered: 1 });
    expectNothingSecretInTheOutput();
  });

  it('an HTML page instead of JSON is a typed error that quotes nothing', async () => {
    await stage.completedTick();
    stage.sandbox.injectFaults({ kind: 'html', times: 'always', status: 200 });
    expect(await stage.tick()).toMatchObject({ outcome: 'failed' });
    expect(failureInTheLog()).toMatchObject({ code: 'unexpected-response' });
    expect(stage.output.join('\n')).not.toMatch(/<html|<!doctype/i);
  });

  it('a record without an id is quarantined, and the others are announced', async () => {
    await stage.completedTick();
    stage.sandbox.world.add(canary);
    stage.sandbox.world.add();
    stage.sandbox.world.add();
    stage.sandbox.injectFaults({ kind: 'malformed-record' });
    const { quarantined, delivered } = await stage.completedTick();
    expect(quarantined).toBe(1);
    expect(delivered).toBeGreaterThanOrEqual(2);
    // The next read finds it repaired: nothing was lost.
    const { delivered: rest } = await stage.completedTick();
    expect(delivered + rest).toBe(3);
    expect(await stage.events(queues.everything)).toHaveLength(3);
    expectNothingSecretInTheOutput();
  });
});

describe('personal data', () => {
  it("is in the events, and neither in the log nor in the ledger's lasting items", async () => {
    await stage.completedTick();
    const { id } = stage.sandbox.world.add(canary);
    await stage.completedTick();
    stage.sandbox.world.change(id, { ...canary, email: 'canary@example.com' });
    await stage.completedTick();
    expect(JSON.stringify(await stage.events(queues.everything))).toMatch(personal);
    expectNothingSecretInTheOutput();

    const [TableName] = stage.aws.tables;
    const client = new DynamoDBClient(stage.aws.clientConfig('dynamodb'));
    const { Items = [] } = await client.send(new ScanCommand({ TableName }));
    client.destroy();
    expect(Items.some(({ pk }) => pk?.S === `CERT#${integration}#${id}`)).toBe(true);
    expect(JSON.stringify(Items)).not.toMatch(personal);
  });

  it('waits in the outbox only as long as it is undelivered, and the log stays clean meanwhile', async () => {
    await stage.completedTick();
    stage.sandbox.world.add(canary);
    stage.sns.once('PublishBatch', async () => ({
      status: 403,
      type: 'text/xml',
      body: '<ErrorResponse><Error><Type>Sender</Type><Code>KMSAccessDenied</Code><Message>canary@ no</Message></Error></ErrorResponse>',
    }));
    expect(await stage.completedTick()).toMatchObject({ delivered: 0, undelivered: 1 });
    expect(await stage.completedTick()).toMatchObject({ delivered: 1, undelivered: 0 });
    expect(stage.output.join('\n')).toMatch(
      /AWS denies kms:GenerateDataKey and kms:Decrypt on the key of arn:aws:sns:\S+ \(KMSAccessDeniedException, /,
    );
    expectNothingSecretInTheOutput();
  });
});
