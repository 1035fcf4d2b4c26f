import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noticed } from '../../lambda/condition-table.ts';
import { Deployment, integration, queues } from '../scaffold/deployment.ts';
import { xml } from '../support/taken-away.ts';

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
  expect(output).not.toBe('');
  expect(output).not.toMatch(personal);
  expect(output).not.toContain(stage.sandbox.credentials.clientSecret);
  expect(output).not.toMatch(/access_token|Bearer |<html|<!doctype/i);
}

/** The last log line of a failed tick. */
function failureInTheLog() {
  const line = stage.output
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text))
    .findLast(({ message }) => message === 'tick failed');
  return line?.problem;
}

const secretOf = ({ clientId, clientSecret }: { clientId: string; clientSecret: string }) =>
  JSON.stringify({ client_id: clientId, client_secret: clientSecret });

describe('the credentials', () => {
  it('fail the tick while they are wrong, are told once, and are used again once they are mended', async () => {
    const { clientId, clientSecret } = stage.sandbox.credentials;
    for (const value of ['canary@example.org', '{"user": "canary@example.org"}']) {
      await stage.beginWithSecret(value);
      expect(await stage.tick()).toMatchObject({ errorType: 'CredentialsMalformedError' });
    }
    await stage.notices();
    await stage.beginWithSecret(secretOf({ clientId, clientSecret: 'canary@secret' }));
    const errorType = 'CredentialsRefusedError';
    for (let n = 0; n < 2; n++) {
      expect(await stage.tick()).toMatchObject({ outcome: 'failed', errorType });
      expect(failureInTheLog()).toMatchObject({
        code: 'credentials-refused',
        fault: 'partner',
        retryHelps: false,
        whatToDo: noticed['credentials-refused'].toDo,
      });
      expect(await stage.completedTick()).toMatchObject({ outcome: 'backing-off', requests: 0 });
      await stage.backOffEnds();
    }
    const [readable, notice, ...more] = await stage.notices();
    expect(readable?.subject).toBe(`${integration}: the stored credentials are readable`);
    expect(more).toEqual([]);
    expect(notice?.subject).toBe(`${integration}: the partner refuses the credentials`);
    expect(notice?.text).toContain('npx certification-notifier credentials set --stack ');
    expect(notice?.text).not.toContain(clientId);
    stage.fillSecret(secretOf({ clientId, clientSecret }));
    expect(await stage.completedTick()).toMatchObject({ outcome: 'baseline' });
    expect((await stage.notices()).map(({ subject }) => subject)).toContain(
      `${integration}: the partner accepts the credentials again`,
    );
    // The function is warm, and has the earlier ones in memory.
    stage.fillSecret(secretOf(stage.sandbox.rotateSecret()));
    stage.sandbox.world.add();
    expect(await stage.completedTick()).toMatchObject({ delivered: 1 });
    expectNothingSecretInTheOutput();
  });
});

describe('personal data', () => {
  it("reaches the subscribers, and is not in the log nor in the ledger's lasting items, with any failure", async () => {
    await stage.completedTick();
    const { world } = stage.sandbox;
    const { id } = world.add(canary);
    const { target } = stage.partner;
    stage.partner.target = 'http://127.0.0.1:9';
    expect(await stage.tick()).toMatchObject({ outcome: 'returned' });
    expect(failureInTheLog()).toMatchObject({ code: 'unavailable', retryHelps: true });
    stage.partner.target = target;

    stage.sandbox.injectFaults({ kind: 'html', times: 'always', status: 200 });
    expect(await stage.tick()).toMatchObject({ outcome: 'failed' });
    expect(failureInTheLog()).toMatchObject({ code: 'unexpected-response' });
    stage.sandbox.clearFaults();

    stage.sns.once('PublishBatch', async () => xml(403, 'KMSAccessDenied', 'canary@ no'));
    expect(await stage.completedTick()).toMatchObject({ delivered: 0, undelivered: 1 });
    expect(stage.output.join('\n')).toMatch(
      /AWS denies kms:GenerateDataKey and kms:Decrypt on the key of arn:aws:sns:\S+ \(KMSAccessDeniedException, /,
    );
    world.change(id, { ...canary, email: 'canary@example.com' });
    // A record without an id. The next read finds it repaired.
    for (let n = 0; n < 2; n++) world.add(canary);
    stage.sandbox.injectFaults({ kind: 'malformed-record' });
    expect(await stage.completedTick()).toMatchObject({ quarantined: 1 });
    await stage.completedTick();
    const events = await stage.events(queues.everything);
    expect(events).toHaveLength(4);
    expect(JSON.stringify(events)).toMatch(personal);
    expectNothingSecretInTheOutput();

    const [TableName] = stage.aws.tables;
    const client = new DynamoDBClient(stage.aws.clientConfig('dynamodb'));
    const { Items = [] } = await client.send(new ScanCommand({ TableName }));
    client.destroy();
    expect(Items.some(({ pk }) => pk?.S === `CERT#${integration}#${id}`)).toBe(true);
    expect(JSON.stringify(Items)).not.toMatch(personal);
  });
});
