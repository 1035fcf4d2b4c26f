import { createHash } from 'node:crypto';
import { understood } from './resource-properties.ts';
import type { StackPlace } from './template.ts';

/** The values of `Ref` and `Fn::GetAtt` for a resource. */
export interface Identity {
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The types that exist locally, each with the property that gives it its physical name. */
export const nameProperties: ReadonlyMap<string, string | undefined> = new Map(
  Object.values(understood).map(({ type, named }) => [type, named]),
);

/**
 * Types that change nothing on one machine: permissions, observation, deployment. A `Ref` to one gives a recognisable
 * name, and `Arn` a recognisable ARN, but nothing answers there.
 */
const withoutLocalMeaning = [
  /^AWS::CDK::Metadata$/,
  // Chats: nothing subscribes to their topics.
  /^AWS::Chatbot::/,
  /^AWS::CloudWatch::/,
  /^AWS::IAM::/,
  // An archive: nothing arrives there.
  /^AWS::KinesisFirehose::/,
  /^AWS::S3::/,
  /^AWS::KMS::(?!Key$)/,
  /^AWS::Lambda::(Permission|EventInvokeConfig)$/,
  /^AWS::Logs::/,
  /^AWS::Scheduler::ScheduleGroup$/,
  /^AWS::SecretsManager::ResourcePolicy$/,
  /^AWS::SNS::TopicPolicy$/,
  /^AWS::SQS::QueuePolicy$/,
];

export function hasLocalMeaning(type: string): boolean {
  return !withoutLocalMeaning.some((pattern) => pattern.test(type));
}

/**
 * Names and ARNs are a pure function of the template and the place, so the order of resources does not matter.
 *
 * @param name the physical name: given in the template, or generated
 */
export function identify(type: string, name: string, place: StackPlace): Identity {
  const arn = (service: string, path: string) =>
    `arn:aws:${service}:${place.region}:${place.accountId}:${path}`;
  switch (type) {
    case 'AWS::DynamoDB::GlobalTable':
      return { ref: name, attributes: { Arn: arn('dynamodb', `table/${name}`) } };
    case 'AWS::SNS::Topic': {
      const topicArn = arn('sns', name);
      return { ref: topicArn, attributes: { TopicArn: topicArn, TopicName: name } };
    }
    case 'AWS::SQS::Queue': {
      const url = `${place.sqsEndpoint}/${place.accountId}/${name}`;
      return { ref: url, attributes: { Arn: arn('sqs', name), QueueName: name, QueueUrl: url } };
    }
    case 'AWS::SecretsManager::Secret': {
      const secretArn = arn('secretsmanager', `secret:${name}-${secretSuffix(name)}`);
      return { ref: secretArn, attributes: { Id: secretArn } };
    }
    case 'AWS::Lambda::Function':
      return { ref: name, attributes: { Arn: arn('lambda', `function:${name}`) } };
    case 'AWS::Lambda::Url':
      return { ref: name, attributes: { FunctionUrl: `${place.functionUrl}/` } };
    case 'AWS::Scheduler::Schedule':
      return { ref: name, attributes: { Arn: arn('scheduler', `schedule/default/${name}`) } };
    case 'AWS::Pipes::Pipe':
      return { ref: name, attributes: { Arn: arn('pipes', `pipe/${name}`) } };
    case 'AWS::KMS::Key':
      return { ref: name, attributes: { Arn: arn('kms', `key/${name}`), KeyId: name } };
    default: {
      const service = type.split('::')[1]?.toLowerCase() ?? 'unknown';
      return { ref: name, attributes: { Arn: arn(service, name) } };
    }
  }
}

/** Secrets Manager adds six characters to the end of a secret's ARN. */
export function secretSuffix(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 6);
}
