import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { request } from 'node:http';
import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedAws, startEmbeddedAws } from '../../../local/aws/index.ts';
import { synthesizeSmallStack } from './small-stack.ts';

let assembly: string;
let aws: EmbeddedAws;
let dynamodb: DynamoDBClient;
let secretsManager: SecretsManagerClient;

beforeAll(async () => {
  assembly = synthesizeSmallStack();
  aws = await startEmbeddedAws(assembly);
  dynamodb = new DynamoDBClient(aws.clientConfig('dynamodb'));
  secretsManager = new SecretsManagerClient(aws.clientConfig('secretsManager'));
});
afterAll(async () => {
  await aws.close();
  await rm(assembly, { recursive: true });
});

test('no service closes an idle connection, since a busy client would learn of it too late', async () => {
  for (const [name, endpoint] of Object.entries(aws.endpoints)) {
    // A service that closes it after a while says so there.
    const { headers } = await fetch(endpoint);
    expect([name, headers.get('keep-alive')]).toEqual([name, null]);
  }
});

test('no service answers a web page from another origin, or under another host name', async () => {
  for (const [name, endpoint] of Object.entries(aws.endpoints)) {
    const { port } = new URL(endpoint);
    /** fetch does not let its caller choose a Host. */
    const isRefused = async (headers: Record<string, string>) => {
      const [{ statusCode }] = await once(request(endpoint, { headers }).end(), 'response');
      return statusCode === 403;
    };
    expect([name, await isRefused({ origin: 'https://evil.example' })]).toEqual([name, true]);
    const hosts = ['evil.example', 'localhost', 'sqs.us-east-1.localhost', 'host.docker.internal'];
    const refused = [];
    for (const host of hosts) if (await isRefused({ host: `${host}:${port}` })) refused.push(host);
    expect([name, refused]).toEqual([name, ['evil.example']]);
  }
});

test('an index returns its projection only', async () => {
  const [TableName = ''] = aws.tables;
  const Item = {
    pk: { S: 'a' },
    day: { S: '2026-11-20' },
    number: { N: '1' },
    kept: { S: 'yes' },
    other: { S: 'no' },
  };
  await dynamodb.send(new PutItemCommand({ TableName, Item }));
  const { Items } = await dynamodb.send(
    new QueryCommand({
      TableName,
      IndexName: 'by-day',
      KeyConditionExpression: '#day = :day',
      ExpressionAttributeNames: { '#day': 'day' },
      ExpressionAttributeValues: { ':day': { S: '2026-11-20' } },
    }),
  );
  const { other: _, ...projected } = Item;
  expect(Items).toEqual([projected]);
});

describe('the embedded Secrets Manager', () => {
  const secretOf = (SecretId: string | undefined, VersionId?: string) =>
    secretsManager.send(new GetSecretValueCommand({ SecretId, VersionId }));

  test('gives a new secret a generated value, as CloudFormation does', async () => {
    const { SecretString } = await secretOf(aws.secretNames[0]);
    expect(SecretString?.length).toBeGreaterThan(20);
  });

  test('answers with the newest version, and with an older one by its id', async () => {
    const Name = 'rotated';
    await secretsManager.send(new CreateSecretCommand({ Name, SecretString: 'first' }));
    const first = await secretOf(Name);
    const put = await secretsManager.send(
      new PutSecretValueCommand({ SecretId: first.ARN, SecretString: 'second' }),
    );
    expect(await secretOf(first.ARN)).toMatchObject({
      SecretString: 'second',
      VersionId: put.VersionId,
      VersionStages: ['AWSCURRENT'],
    });
    expect(await secretOf(Name, first.VersionId)).toMatchObject({
      SecretString: 'first',
      VersionStages: ['AWSPREVIOUS'],
    });
  });

  test('distinguishes a secret without a value from a missing one only by its text', async () => {
    await secretsManager.send(new CreateSecretCommand({ Name: 'empty' }));
    await expect(secretOf('empty')).rejects.toThrow(/staging label: AWSCURRENT/);
  });
});
