import {
  GetSecretValueCommand,
  InvalidRequestException,
  ResourceNotFoundException,
  SecretsManagerClient,
  SecretsManagerServiceException,
} from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, it } from 'vitest';
import { secretCredentials, secretsManagerReader } from '../../../lambda/partner/secret.ts';
import { rejection } from './scripted-host.ts';

/** An editor and a form leave such blanks and such a byte order mark. */
const SECRET =
  '\uFEFF\n{"client_id":" id-1","client_secret":"s3cret\\n","note":"kept by ops"}\u00A0';

describe('credentials in a secret', () => {
  it('are read once, and again on request', async () => {
    const values = [SECRET, SECRET.replace('s3cret', 'rotated')];
    let reads = 0;
    const source = secretCredentials('secret-1', async (id) => {
      expect(id).toBe('secret-1');
      reads += 1;
      return values[reads - 1];
    });
    expect(await source()).toEqual({ clientId: 'id-1', clientSecret: 's3cret' });
    await source();
    expect(reads).toBe(1);
    expect(await source({ afresh: true })).toEqual({ clientId: 'id-1', clientSecret: 'rotated' });
    expect(await source()).toMatchObject({ clientSecret: 'rotated' });
    expect(reads).toBe(2);
  });

  it('that are not set are named so, and looked for again next time', async () => {
    let value: string | undefined;
    const source = secretCredentials('secret-1', async () => value);
    const blanks = ['\u00A0', 'x'].map((client_id) =>
      JSON.stringify({ client_id, client_secret: '' }),
    );
    for (value of [undefined, ' ', ...blanks])
      expect(await rejection(source())).toMatchObject({ code: 'credentials-not-set' });
    value = SECRET;
    expect(await source()).toMatchObject({ clientId: 'id-1' });
  });

  it.each([
    ['not JSON', 's3cret', 'credentials: not JSON.'],
    ['a plain string', '"s3cret"', 'expected object'],
    ['without a secret', '{"client_id":"s3cret"}', 'credentials: client_secret: '],
    ['numbers', '{"client_id":1,"client_secret":"s3cret"}', 'credentials: client_id: '],
  ])('that are %s are refused by path, never by value', async (_, text, problem) => {
    const error = await rejection(secretCredentials('secret-1', async () => text)());
    const message = expect.stringContaining(problem);
    expect(error).toMatchObject({ code: 'credentials-malformed', message, retryHelps: false });
    expect(`${error}${JSON.stringify(error)}`).not.toContain('s3cret');
    expect(error).not.toHaveProperty('cause');
  });
});

describe('Secrets Manager', () => {
  const client = new SecretsManagerClient({ region: 'us-east-1' });
  const mock = mockClient(client);
  const read = () => secretsManagerReader(client)('secret-1');
  const failing = (name: string, message = '') => {
    const error = new SecretsManagerServiceException({
      ...{ name, message, $fault: 'client', $metadata: { requestId: '0b3a' } },
    });
    mock.reset();
    mock.on(GetSecretValueCommand).rejects(error);
    return error;
  };

  it('has the current value, or one that is no text', async () => {
    mock.reset();
    mock.on(GetSecretValueCommand, { SecretId: 'secret-1' }).resolves({ SecretString: SECRET });
    expect(await read()).toBe(SECRET);
    mock.on(GetSecretValueCommand).resolves({});
    expect(await read()).toBeUndefined();
  });

  it.each([ResourceNotFoundException, InvalidRequestException])(
    'that has no such secret any more, or only until its deletion, says so: %o',
    async (Absent) => {
      mock.reset();
      mock.on(GetSecretValueCommand).rejects(new Absent({ message: '', $metadata: {} }));
      const whatToDo = expect.stringMatching(/restore-secret.*revert-drift.*store the credentials/);
      const told = { code: 'secret-gone', reach: 'access', retryHelps: false, whatToDo };
      expect(await rejection(read())).toMatchObject(told);
    },
  );

  it('that fails may answer later, unless only people repair it', async () => {
    const cause = failing('InternalServiceError');
    const message = 'The secret secret-1 could not be read.';
    expect(await rejection(read())).toMatchObject({ retryHelps: true, message, cause });
    failing('DecryptionFailure');
    expect(await rejection(read())).toMatchObject({ retryHelps: false });
  });

  it('that denies it names the permission to grant', async () => {
    const cause = failing('AccessDeniedException', 'Access to KMS is not allowed');
    const right = 'kms:Decrypt on the key of the secret secret-1';
    const message = `The secret secret-1 could not be read: AWS denies ${right} (AccessDeniedException, request 0b3a).`;
    const whatToDo = expect.stringContaining(right);
    const told = { code: 'secret-unreadable', cause, retryHelps: false, message, whatToDo };
    expect(await rejection(read())).toMatchObject(told);
  });
});
