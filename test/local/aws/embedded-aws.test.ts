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
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedAws, startEmbeddedAws } from '../../../local/aws/index.ts';
import { foreignQueueArn, synthesizeSmallStack } from './small-stack.ts';

let assembly: string;
let aws: EmbeddedAws;
let dynamodb: DynamoDBClient;
let sns: SNSClient;
let sqs: SQSClient;
let secretsManager: SecretsManagerClient;

beforeAll(async () => {
  assembly = synthesizeSmallStack();
  aws = await startEmbeddedAws(assembly);
  dynamodb = new DynamoDBClient(aws.clientConfig('dynamodb'));
  sns = new SNSClient(aws.clientConfig('sns'));
  sqs = new SQSClient(aws.clientConfig('sqs'));
  secretsManager = new SecretsManagerClient(aws.clientConfig('secretsManager'));
});
afterAll(async () => {
  await aws.close();
  await rm(assembly, { recursive: true });
});

async function received(queueArn: string) {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl: aws.queueUrl(queueArn), MaxNumberOfMessages: 10 }),
  );
  return Messages.map(({ Body = '' }) => JSON.parse(Body));
}

test('no service closes an idle connection, since a busy client would learn of it too late', async () => {
  for (const [name, endpoint] of Object.entries(aws.endpoints)) {
    // A service that closes it after a while says so there.
    const { headers } = await fetch(endpoint);
    expect([name, headers.get('keep-alive')]).toEqual([name, null]);
  }
});

describe('no service answers a web page', () => {
  /** Sends its own Host header, which fetch does not allow. */
  async function statusOf(endpoint: string, headers: Record<string, string>): Promise<number> {
    const asked = request(endpoint, { headers }).end();
    const [{ statusCode }] = await once(asked, 'response');
    return statusCode;
  }

  test('from another origin, or under another host name', async () => {
    for (const [name, endpoint] of Object.entries(aws.endpoints)) {
      const { port } = new URL(endpoint);
      const said = (headers: Record<string, string>) => statusOf(endpoint, headers);
      expect([name, await said({ origin: 'https://evil.example' })]).toEqual([name, 403]);
      expect([name, await said({ host: `evil.example:${port}` })]).toEqual([name, 403]);
      for (const host of ['localhost', 'sqs.us-east-1.localhost', 'host.docker.internal'])
        expect([name, await said({ host: `${host}:${port}` })]).not.toEqual([name, 403]);
    }
  });
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

describe('a published SNS message', () => {
  test("reaches the stack's own queue and a foreign one, each by its filter policy", async () => {
    const TopicArn = aws.output('EventsTopic');
    const publish = (type: string, organization: number) =>
      sns.send(
        new PublishCommand({
          TopicArn,
          Message: JSON.stringify({ type, organization }),
          MessageAttributes: { type: { DataType: 'String', StringValue: type } },
        }),
      );
    await publish('created', 7);
    await publish('created', 8);
    await publish('updated', 7);

    expect(await received(aws.output('CreatedQueue'))).toEqual([
      { type: 'created', organization: 7 },
      { type: 'created', organization: 8 },
    ]);
    const wrapped = await received(foreignQueueArn);
    expect(wrapped.map(({ Message }) => JSON.parse(Message))).toEqual([
      { type: 'created', organization: 7 },
      { type: 'updated', organization: 7 },
    ]);
  });
});

describe('the embedded Secrets Manager', () => {
  test('gives a new secret a generated value, as CloudFormation does', async () => {
    const { SecretString } = await secretsManager.send(
      new GetSecretValueCommand({ SecretId: aws.secretNames[0] }),
    );
    expect(SecretString?.length).toBeGreaterThan(20);
  });

  test('answers with the newest version, and with an older one by its id', async () => {
    const { Name } = await secretsManager.send(
      new CreateSecretCommand({ Name: 'rotated', SecretString: 'first' }),
    );
    const first = await secretsManager.send(new GetSecretValueCommand({ SecretId: Name }));
    const put = await secretsManager.send(
      new PutSecretValueCommand({ SecretId: first.ARN, SecretString: 'second' }),
    );
    const second = await secretsManager.send(new GetSecretValueCommand({ SecretId: first.ARN }));
    expect(second).toMatchObject({ SecretString: 'second', VersionId: put.VersionId });
    expect(second.VersionStages).toEqual(['AWSCURRENT']);
    const former = await secretsManager.send(
      new GetSecretValueCommand({ SecretId: Name, VersionId: first.VersionId }),
    );
    expect(former).toMatchObject({ SecretString: 'first', VersionStages: ['AWSPREVIOUS'] });
  });

  test('distinguishes a secret without a value from a missing one only by its text', async () => {
    await secretsManager.send(new CreateSecretCommand({ Name: 'empty' }));
    await expect(
      secretsManager.send(new GetSecretValueCommand({ SecretId: 'empty' })),
    ).rejects.toThrow(/staging label: AWSCURRENT/);
  });
});

test("the function's environment has the names of the created resources", () => {
  const [poll] = aws.functions.values();
  expect(poll?.environment).toMatchObject({
    TABLE_NAME: aws.tables[0],
    TOPIC_ARN: aws.topics[0],
    SECRET_ID: aws.secrets.find(aws.secretNames[0] ?? '').arn,
    AWS_ENDPOINT_URL_DYNAMODB: aws.endpoints.dynamodb,
  });
});

test('the schedule names its function, its input and its rate', () => {
  expect(aws.schedules).toMatchObject([
    {
      expression: 'rate(1 minute)',
      enabled: true,
      functionName: [...aws.functions.keys()][0],
      input: '{"tick":true}',
    },
  ]);
});

test('a further environment of a function runs beside the first one', async () => {
  const [poll] = aws.functions.values();
  const further = aws.startFunction(poll?.name ?? '');
  const results = await Promise.all([poll?.invoke(), further.invoke()]);
  expect(results).toMatchObject([
    { outcome: 'returned', coldStart: true },
    { outcome: 'returned', coldStart: true },
  ]);
});

test('a proxy can stand between the functions and a service', async () => {
  const proxied = await startEmbeddedAws(assembly, {
    endpointOverrides: ({ sns: real }) => ({ sns: `${real}/gate` }),
  });
  const [poll] = proxied.functions.values();
  expect(poll?.environment.AWS_ENDPOINT_URL_SNS).toBe(`${proxied.endpoints.sns}/gate`);
  expect(poll?.environment.AWS_ENDPOINT_URL_DYNAMODB).toBe(proxied.endpoints.dynamodb);
  await proxied.close();
});
