import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { at, listAt } from '../synthesized.ts';
import { alerts, events, only, operations, template } from './two-districts.ts';

describe('the topics', () => {
  it('are encrypted with the one key and signed with SHA-256', () => {
    const key = only('AWS::KMS::Key', { EnableKeyRotation: true });
    template.resourceCountIs('AWS::SNS::Topic', 3);
    template.allResourcesProperties('AWS::SNS::Topic', {
      KmsMasterKeyId: { 'Fn::GetAtt': [key.id, 'Arn'] },
      SignatureVersion: '2',
    });
  });

  it.each([
    ['events', events],
    ['alerts', alerts],
    ['operations', operations],
  ])('refuse publications without TLS: %s', (_name, topic) => {
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      Topics: [{ Ref: topic }],
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Action: 'sns:Publish',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            Principal: '*',
          }),
        ]),
      },
    });
  });

  it('let the alarms of this account publish, with the key', () => {
    const statement = {
      Effect: 'Allow',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    };
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      Topics: [{ Ref: operations }],
      PolicyDocument: {
        Statement: Match.arrayWith([Match.objectLike({ ...statement, Action: 'sns:Publish' })]),
      },
    });
    template.hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({ ...statement, Action: ['kms:Decrypt', 'kms:GenerateDataKey*'] }),
        ]),
      },
    });
  });

  it('let the named accounts subscribe to events only', () => {
    const policies = Object.values(template.findResources('AWS::SNS::TopicPolicy'));
    const open = policies.filter((policy) => JSON.stringify(policy).includes('444455556666'));
    expect(open.map((policy) => listAt(policy, 'Properties', 'Topics'))).toEqual([
      [{ Ref: events }],
    ]);
  });

  it.each(['444455556666', '555566667777'])(
    'let the account %s subscribe its own queues and functions only',
    (account) => {
      const allowed = Object.values(template.findResources('AWS::SNS::TopicPolicy'))
        .flatMap((policy) => listAt(policy, 'Properties', 'PolicyDocument', 'Statement'))
        .filter((statement) => JSON.stringify(at(statement, 'Principal')).includes(account));
      expect(allowed).toMatchObject([
        {
          Effect: 'Allow',
          Action: 'sns:Subscribe',
          Condition: {
            StringEquals: { 'sns:Protocol': ['sqs', 'lambda'] },
            StringLike: { 'sns:Endpoint': `arn:*:*:*:${account}:*` },
          },
        },
      ]);
    },
  );
});
