import { Match } from 'aws-cdk-lib/assertions';
import * as find from '../synthesized.ts';
import { type Json, synthesized } from '../synthesized.ts';

/** Two integrations with all possible differences, a queue and an address that subscribe. */
export const template = synthesized({
  integrations: [
    { name: 'district-a', baseUrl: 'https://partner.example.org', timeZone: 'America/Chicago' },
    {
      name: 'district-b',
      baseUrl: 'https://other.example.org',
      timeZone: 'UTC',
      every: 15,
      recentDays: 7,
      tokenRequest: 'basic',
      secretName: 'partner/district-b',
      secretKeyArn: 'arn:aws:kms:us-east-1:111122223333:key/mrk-0123456789abcdef0123456789abcdef',
      fields: ['seid', 'results'],
    },
  ],
  subscriptions: [
    {
      topic: 'events',
      protocol: 'sqs',
      endpoint: 'arn:aws:sqs:us-east-1:111122223333:certifications',
      filter: {
        types: ['created', 'withdrawn'],
        organizations: [7, 8],
        assessments: ['Rope Bridge Safety'],
        integrations: ['district-a'],
        late: false,
      },
    },
    { topic: 'alerts', protocol: 'email', endpoint: 'office@district-a.example.org' },
  ],
  subscriberAccounts: ['444455556666', '555566667777'],
  tags: { team: 'certification' },
});

export const only = (type: string, properties?: Json) => find.only(template, type, properties);
export const roleOf = (service: string, mentions: string) =>
  find.roleOf(template, service, mentions);

export const table = only('AWS::DynamoDB::GlobalTable');
const topicId = (displayName: string) => only('AWS::SNS::Topic', { DisplayName: displayName }).id;
export const events = topicId('Certification events');
export const alerts = topicId('Certification alerts');
export const operations = topicId('Certification notifier operations');
export const pollOf = (name: string) =>
  only('AWS::Lambda::Function', { Description: Match.stringLikeRegexp(`${name}$`) });
