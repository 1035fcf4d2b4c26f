import {
  GetSubscriptionAttributesCommand,
  ListSubscriptionsByTopicCommand,
  SNSClient,
} from '@aws-sdk/client-sns';
import type { EmbeddedAws } from './aws/index.ts';

/** A subscriber of a topic in the template, and its filter. */
export interface Filter {
  /** The protocol with the end of the ARN, or with the address. */
  readonly name: string;
  /** The subscription's attributes that decide which events it gets. */
  readonly attributes: Readonly<Record<string, string>>;
}

const deciding = ['FilterPolicy', 'FilterPolicyScope'] as const;

/** The filters of the present subscriptions of a topic. */
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
