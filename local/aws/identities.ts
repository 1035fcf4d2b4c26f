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

/** The part of an ARN before the name. */
const pathsOfArns: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::GlobalTable': 'table/',
  'AWS::KMS::Key': 'key/',
  'AWS::Lambda::Function': 'function:',
  'AWS::Pipes::Pipe': 'pipe/',
  'AWS::Scheduler::Schedule': 'schedule/default/',
  'AWS::SecretsManager::Secret': 'secret:',
};

/**
 * Names and ARNs are a pure function of the template and the place, so the order of resources does not matter.
 *
 * @param name the physical name: given in the template, or generated
 */
export function identify(type: string, name: string, place: StackPlace): Identity {
  const service = type.split('::')[1]?.toLowerCase();
  const path = pathsOfArns[type] ?? '';
  const Arn = `arn:aws:${service}:${place.region}:${place.accountId}:${path}${name}`;
  switch (type) {
    case 'AWS::SNS::Topic':
      return { ref: Arn, attributes: { TopicArn: Arn, TopicName: name } };
    case 'AWS::SQS::Queue': {
      const QueueUrl = `${place.sqsEndpoint}/${place.accountId}/${name}`;
      return { ref: QueueUrl, attributes: { Arn, QueueName: name, QueueUrl } };
    }
    case 'AWS::SecretsManager::Secret': {
      const Id = `${Arn}-${secretSuffix(name)}`;
      return { ref: Id, attributes: { Id } };
    }
    case 'AWS::Lambda::Url':
      return { ref: name, attributes: { FunctionUrl: `${place.functionUrl}/` } };
    case 'AWS::KMS::Key':
      return { ref: name, attributes: { Arn, KeyId: name } };
    default:
      return { ref: name, attributes: { Arn } };
  }
}

/** Secrets Manager adds six characters to the end of a secret's ARN. */
export function secretSuffix(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 6);
}
