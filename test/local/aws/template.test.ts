import { describe, expect, test } from 'vitest';
import { TemplateNotUnderstoodError } from '../../../local/aws/errors.ts';
import { interpret } from '../../../local/aws/interpret.ts';
import { Resolver } from '../../../local/aws/intrinsics.ts';
import { type Json, templateSchema } from '../../../local/aws/template.ts';

const place = {
  stackName: 'Small',
  region: 'eu-west-1',
  accountId: '000000000000',
  sqsEndpoint: 'http://127.0.0.1:1',
};
const resources: Record<string, Json> = {
  Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
  Named: { Type: 'AWS::SQS::Queue', Properties: { QueueName: { 'Fn::Sub': `\${AWS::Region}-q` } } },
  Role: { Type: 'AWS::IAM::Role', Properties: {} },
};

const planOf = (Resources: Record<string, Json>, rest: Record<string, Json> = {}) =>
  interpret(templateSchema.parse({ Resources, ...rest }), place);

function resolve(value: Json): Json | undefined {
  const template = templateSchema.parse({
    Resources: resources,
    Parameters: { Given: { Type: 'String', Default: 'yes' }, Open: { Type: 'String' } },
  });
  return new Resolver(template, place).resolve(value, 'here');
}

describe('an intrinsic function', () => {
  const topicArn = 'arn:aws:sns:eu-west-1:000000000000:Small-Topic';
  test.each<[string, Json, Json]>([
    ['Ref of a topic', { Ref: 'Topic' }, topicArn],
    ['Ref of a queue', { Ref: 'Named' }, 'http://127.0.0.1:1/000000000000/eu-west-1-q'],
    ['Ref of a pseudo parameter', { Ref: 'AWS::AccountId' }, '000000000000'],
    ['Ref of a parameter with a default', { Ref: 'Given' }, 'yes'],
    ['GetAtt as a list', { 'Fn::GetAtt': ['Topic', 'TopicName'] }, 'Small-Topic'],
    ['GetAtt as a text', { 'Fn::GetAtt': 'Topic.TopicName' }, 'Small-Topic'],
    [
      'GetAtt of an attribute without a local meaning',
      { 'Fn::GetAtt': ['Role', 'Arn'] },
      'arn:aws:iam:eu-west-1:000000000000:Small-Role',
    ],
    ['Join', { 'Fn::Join': ['/', ['a', { Ref: 'AWS::Partition' }, 'b']] }, 'a/aws/b'],
    ['Split', { 'Fn::Split': ['-', 'a-b'] }, ['a', 'b']],
    [
      'Select of a Split',
      { 'Fn::Select': [5, { 'Fn::Split': [':', { Ref: 'Topic' }] }] },
      'Small-Topic',
    ],
    [
      'Sub with variables and a literal',
      { 'Fn::Sub': [`\${Topic.TopicName} \${own} \${!kept} \${AWS::StackName}`, { own: 'mine' }] },
      `Small-Topic mine \${kept} Small`,
    ],
    ['NoValue, which is left out', { kept: 1, gone: { Ref: 'AWS::NoValue' } }, { kept: 1 }],
  ])('%s is resolved', (_, value, expected) => {
    expect(resolve(value)).toEqual(expected);
  });

  test.each<[string, Json, RegExp]>([
    ['an unknown function', { 'Fn::ImportValue': 'x' }, /^here\.Fn::ImportValue: intrinsic/],
    ['an unknown logical id', { Ref: 'Nobody' }, /Nobody/],
    ['an unknown attribute', { 'Fn::GetAtt': ['Topic', 'Colour'] }, /Colour of a AWS::SNS::Topic/],
    ['a parameter without a default', { Ref: 'Open' }, /parameter Open/],
    ['a dynamic reference', 'x{{resolve:ssm:y}}', /dynamic reference/],
  ])('%s is an error that names it', (_, value, message) => {
    expect(() => resolve(value)).toThrow(TemplateNotUnderstoodError);
    expect(() => resolve(value)).toThrow(message);
  });
});

describe('a template', () => {
  const schedule = { ScheduleExpression: 'rate(1 minute)', Target: { Arn: 'arn:elsewhere' } };
  const ofCondition = { TopicName: { 'Fn::If': ['IsProd', 'big', 'small'] } };
  test.each<[string, Json, string]>([
    ['a resource type', { Type: 'AWS::Kinesis::Stream' }, 'T: resource type AWS::Kinesis::Stream'],
    [
      'a property',
      { Type: 'AWS::DynamoDB::GlobalTable', Properties: { StreamSpecification: {} } },
      'T.StreamSpecification: this property',
    ],
    ['a condition', { Type: 'AWS::SNS::Topic', Condition: 'IsProd' }, 'T: the condition IsProd'],
    [
      'a name that depends on a condition',
      { Type: 'AWS::SNS::Topic', Properties: ofCondition },
      'condition IsProd',
    ],
    [
      'the target of a schedule',
      { Type: 'AWS::Scheduler::Schedule', Properties: schedule },
      'T.Target: a target that is no function of this stack',
    ],
  ])('with %s that is not understood is refused by its place', (_, resource, message) => {
    expect(() => planOf({ T: resource })).toThrow(message);
  });

  test("separates two foreign queues of one name by their owners' accounts", () => {
    const subscription = (Endpoint: string) => ({
      Type: 'AWS::SNS::Subscription',
      Properties: { TopicArn: { Ref: 'T' }, Protocol: 'sqs', Endpoint },
    });
    const plan = planOf({
      T: { Type: 'AWS::SNS::Topic' },
      A: subscription('arn:aws:sqs:eu-west-1:111111111111:inbox'),
      B: subscription('arn:aws:sqs:eu-west-1:222222222222:inbox'),
    });
    expect(plan.queues.map(({ name }) => name)).toEqual(['inbox', '222222222222-inbox']);
    expect(plan.subscriptions.map(({ endpoint }) => endpoint)).toEqual([
      'arn:aws:sqs:eu-west-1:000000000000:inbox',
      'arn:aws:sqs:eu-west-1:000000000000:222222222222-inbox',
    ]);
  });
});
