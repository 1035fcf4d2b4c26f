import { GetTopicAttributesCommand, type SNSClient } from '@aws-sdk/client-sns';
import { denialOf } from '../access-denied.ts';
import type { TopicFinding } from '../operations/parts.ts';
import { codeOf } from './refusals.ts';

/** What SNS says about the topics. A topic that it does not tell of is a finding, too. */
export function topicFindings(
  client: SNSClient,
  topics: Readonly<Record<TopicFinding['topic'], string>>,
): Promise<TopicFinding[]> {
  return Promise.all(
    (['events', 'alerts', 'operations'] as const).map(async (topic) => {
      try {
        const command = new GetTopicAttributesCommand({ TopicArn: topics[topic] });
        const { Attributes = {} } = await client.send(command);
        const { SubscriptionsConfirmed = 0, SubscriptionsPending = 0 } = Attributes;
        const confirmed = Number(SubscriptionsConfirmed);
        return { topic, confirmed, pending: Number(SubscriptionsPending) };
      } catch (error) {
        const asked = { action: 'sns:GetTopicAttributes', resource: topics[topic] };
        const problem = denialOf(error, asked)?.message ?? codeOf(error);
        return { topic, problem, confirmed: 0, pending: 0 };
      }
    }),
  );
}
