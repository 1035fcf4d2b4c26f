import { DescribeKeyCommand, GetKeyPolicyCommand, KMSClient } from '@aws-sdk/client-kms';
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, it } from 'vitest';
import { queueKeyOf, topicKeyOf } from '../../../lambda/delivery/keys.ts';
import { subscribersOf, topicFindings } from '../../../lambda/delivery/topic-findings.ts';

const denied = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
const [kms, sns, sqs] = [new KMSClient(), new SNSClient(), new SQSClient()];
const arn = 'arn:aws:sqs:us-east-1:000000000000:payroll';
const looks = mockClient(kms)
  .rejects(denied)
  .on(DescribeKeyCommand, { KeyId: 'known' })
  .resolves({});
// Some stand-ins for AWS require the name, which AWS does not.
looks
  .on(GetKeyPolicyCommand)
  .rejects()
  .on(GetKeyPolicyCommand, { PolicyName: 'default' })
  .rejects(denied);
const topics = mockClient(sns).rejects(denied);
topics.on(ListSubscriptionsByTopicCommand, { TopicArn: 'busy' }).rejects();
const page = (SubscriptionArn: string) => ({
  Subscriptions: [{ Protocol: 'email', Endpoint: 'a@example.org', SubscriptionArn }],
});
topics
  .on(ListSubscriptionsByTopicCommand, { TopicArn: 'paged' })
  .resolves({ ...page('Deleted'), NextToken: '2' })
  .on(ListSubscriptionsByTopicCommand, { TopicArn: 'paged', NextToken: '2' })
  .resolves(page('PendingConfirmation'));
mockClient(sqs).on(GetQueueUrlCommand).resolves({}).on(GetQueueAttributesCommand).rejects(denied);

it.each([
  [() => topicKeyOf(kms, 'key'), 'kms:DescribeKey on key'],
  [() => topicKeyOf(kms, 'known'), 'kms:GetKeyPolicy on known'],
  [() => queueKeyOf(sqs, arn), `sqs:GetQueueAttributes on ${arn}`],
  [() => subscribersOf(sns, 'topic'), 'sns:ListSubscriptionsByTopic on topic'],
])('a look that AWS denies names its action and its resource: %s', async (look, named) => {
  await expect(look()).rejects.toThrow(`AWS denies ${named} (AccessDeniedException`);
});

it('a topic that cannot be looked at is a finding', async () => {
  const [finding] = await topicFindings(sns, { events: 'topic' });
  expect(JSON.stringify(finding)).toContain('AWS denies sns:GetTopicAttributes on topic');
  expect(await subscribersOf(sns, 'busy')).toMatchObject({ problem: 'Error', listed: [] });
});

it('an unconfirmed subscription is found on any page, and an ended one is none', async () => {
  const listed = [{ protocol: 'email', endpoint: 'a@example.org', isConfirmed: false }];
  expect(await subscribersOf(sns, 'paged')).toEqual({ listed });
});
