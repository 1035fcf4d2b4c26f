import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
  SecretsManagerServiceException,
} from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, it } from 'vitest';
import {
  CredentialsMalformedError,
  CredentialsNotSetError,
  SecretUnreadableError,
  secretCredentials,
  secretsManagerReader,
} from '../../../lambda/partner/secret.ts';
import { rejection } from './scripted-host.ts';

const SECRET = JSON.stringify({ client_id: 'id-1', client_secret: 's3cret', note: 'kept by ops' });

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
    expect(await rejection(source())).toBeInstanceOf(CredentialsNotSetError);
    for (value of [
      ' ',
      '{"client_id":"","client_secret":""}',
      '{"client_id":"x","client_secret":""}',
    ]) {
      expect(await rejection(source())).toBeInstanceOf(CredentialsNotSetError);
    }
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
    expect(error).toBeInstanceOf(CredentialsMalformedError);
    expect(error).toMatchObject({ message: expect.stringContaining(problem), retryHelps: false });
    expect(`${error}${JSON.stringify(error)}`).not.toContain('s3cret');
    expect(error).not.toHaveProperty('cause');
  });
});

describe('Secrets Manager', () => {
  const client = new SecretsManagerClient({ region: 'us-east-1' });
  const mock = mockClient(client);
  const read = secretsManagerReader(client);
  const meta = { $metadata: {} };

  it('returns the current value', async () => {
    mock.reset();
    mock.on(GetSecretValueCommand, { SecretId: 'secret-1' }).resolves({ SecretString: SECRET });
    expect(await read('secret-1')).toBe(SECRET);
  });

  it('gives the same error for a missing secret and for one without a value', async () => {
    mock.reset();
    const absent = new ResourceNotFoundException({ message: 'no such value', ...meta });
    mock.on(GetSecretValueCommand).rejects(absent);
    expect(await read('secret-1')).toBeUndefined();
  });

  it('that fails may answer later, which is no denial', async () => {
    mock.reset();
    const cause = new SecretsManagerServiceException({
      name: 'InternalServiceError',
      $fault: 'server',
      ...meta,
    });
    mock.on(GetSecretValueCommand).rejects(cause);
    expect(await rejection(read('secret-1'))).toMatchObject({
      retryHelps: true,
      message: 'The secret secret-1 could not be read.',
      cause,
    });
  });

  it('is the cause of our error on any other failure, and a denial names the secret', async () => {
    mock.reset();
    const denied = new SecretsManagerServiceException({
      name: 'AccessDeniedException',
      $fault: 'client',
      message: 'Access to KMS is not allowed',
      $metadata: { requestId: '0b3a1c52' },
    });
    mock.on(GetSecretValueCommand).rejects(denied);
    const error = await rejection(read('secret-1'));
    expect(error).toBeInstanceOf(SecretUnreadableError);
    expect(error).toHaveProperty('cause', denied);
    expect(error).toMatchObject({
      retryHelps: false,
      message:
        'The secret secret-1 could not be read: AWS denies kms:Decrypt on the key of the secret secret-1 (AccessDeniedException, request 0b3a1c52).',
      whatToDo: expect.stringContaining('kms:Decrypt on the key of the secret secret-1'),
    });
  });

  it('has a key that cannot be used, which only people repair', async () => {
    mock.reset();
    const name = 'DecryptionFailure';
    mock
      .on(GetSecretValueCommand)
      .rejects(new SecretsManagerServiceException({ name, $fault: 'client', $metadata: {} }));
    expect(await rejection(read('secret-1'))).toMatchObject({ retryHelps: false });
  });
});
