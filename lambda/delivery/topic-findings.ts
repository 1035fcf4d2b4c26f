import {
  GetTopicAttributesCommand,
  ListSubscriptionsByTopicCommand,
  type SNSClient,
} from '@aws-sdk/client-sns';
import { AccessDeniedError, denialOf } from '../access-denied.ts';
import type { Subscribers, TopicFinding } from '../commands/parts.ts';
import { type TopicName, topicNames } from '../names.ts';
import { codeOf } from './refusals.ts';

/** SNS's facts about the topics. A topic without an answer is a finding, too. */
export function topicFindings(
  client: SNSClient,
  topics: Readonly<Partial<Record<TopicName, string | undefined>>>,
): Promise<TopicFinding[]> {
  const there = topicNames.flatMap((topic) => {
    const arn = topics[topic];
    return arn === undefined ? [] : [[topic, arn] as const];
  });
  return Promise.all(
    there.map(async ([topic, TopicArn]) => {
      try {
        const command = new GetTopicAttributesCommand({ TopicArn });
        const { Attributes = {} } = await client.send(command);
        const { SubscriptionsConfirmed = 0, SubscriptionsPending = 0, KmsMasterKeyId } = Attributes;
        const confirmed = Number(SubscriptionsConfirmed);
        return { topic, confirmed, pending: Number(SubscriptionsPending), key: KmsMasterKeyId };
      } catch (error) {
        const asked = { action: 'sns:GetTopicAttributes', resource: TopicArn };
        const problem = denialOf(error, asked)?.message ?? codeOf(error);
        return { topic, problem, confirmed: 0, pending: 0 };
      }
    }),
  );
}

/** Pages of a hundred. */
const maxPages = 50;
/** SNS's texts in place of a subscription's ARN: nobody has confirmed it; somebody has ended it. */
const pending = 'PendingConfirmation';
const ended = 'Deleted';

/** All subscriptions of a topic. @throws AccessDeniedError */
export async function subscribersOf(client: SNSClient, TopicArn: string): Promise<Subscribers> {
  const listed: Subscribers['listed'][number][] = [];
  let NextToken: string | undefined;
  try {
    for (let pages = 0; pages < maxPages; pages++) {
      const command = new ListSubscriptionsByTopicCommand({ TopicArn, NextToken });
      const page = await client.send(command);
      for (const { Protocol = '', Endpoint = '', SubscriptionArn } of page.Subscriptions ?? [])
        if (SubscriptionArn !== ended)
          listed.push({
            protocol: Protocol,
            endpoint: Endpoint,
            isConfirmed: SubscriptionArn !== pending,
          });
      NextToken = page.NextToken;
      if (NextToken === undefined) return { listed };
    }
    return { problem: `more than ${listed.length} subscriptions`, listed };
  } catch (error) {
    const denial = denialOf(error, {
      action: 'sns:ListSubscriptionsByTopic',
      resource: TopicArn,
    });
    // A topic that is gone is reported by the findings about topics.
    if (denial instanceof AccessDeniedError) throw denial;
    return { problem: codeOf(error), listed };
  }
}
