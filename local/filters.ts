import {
  GetSubscriptionAttributesCommand,
  ListSubscriptionsByTopicCommand,
  SNSClient,
} from '@aws-sdk/client-sns';
import type { EmbeddedAws } from './aws/index.ts';

/** A subscriber that the template has at a topic, and its filter. */
export interface Filter {
  /** Protocol and end of the ARN, or address. */
  readonly name: string;
  /** Those that decide which events it gets. */
  readonly attributes: Readonly<Record<string, string>>;
}

const deciding = ['FilterPolicy', 'FilterPolicyScope'] as const;

/** Of the subscriptions that the topic has now. */
export async function filtersOf(aws: EmbeddedAws, topicArn: string): Promise<readonly Filter[]> {
  const sns = new SNSClient(aws.clientConfig('sns'));
  try {
    const { Subscriptions = [] } = await sns.send(
      new ListSubscriptionsByTopicCommand({ TopicArn: topicArn }),
    );
    return await Promise.all(
      Subscriptions.map(async ({ SubscriptionArn, Protocol, Endpoint = '' }) => {
        const { Attributes = {} } = await sns.send(
          new GetSubscriptionAttributesCommand({ SubscriptionArn }),
        );
        const given = deciding.flatMap((name): [string, string][] => {
          const value = Attributes[name];
          return value === undefined ? [] : [[name, value]];
        });
        const [end = Endpoint] = Endpoint.split(':').slice(-1);
        const whom = Endpoint.startsWith('arn:') ? end : Endpoint;
        return { name: `${Protocol} ${whom}`, attributes: Object.fromEntries(given) };
      }),
    );
  } finally {
    sns.destroy();
  }
}
