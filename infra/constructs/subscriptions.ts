import * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { SubscriptionConfig } from '../config.ts';
import type { Topics } from './topics.ts';

const protocols = {
  email: sns.SubscriptionProtocol.EMAIL,
  'email-json': sns.SubscriptionProtocol.EMAIL_JSON,
  https: sns.SubscriptionProtocol.HTTPS,
  sqs: sns.SubscriptionProtocol.SQS,
  lambda: sns.SubscriptionProtocol.LAMBDA,
} as const;

/**
 * The configured subscriptions. The owner of a queue or function must let the topic in; addresses
 * and URLs confirm by answering the message that SNS sends them.
 */
export class Subscriptions extends Construct {
  constructor(
    scope: Construct,
    id: string,
    topics: Topics,
    configs: readonly SubscriptionConfig[],
  ) {
    super(scope, id);
    // Named by what it is, not by its place: reordering the list must not replace subscriptions.
    for (const { topic, protocol, endpoint, filter } of configs)
      new sns.Subscription(this, `${topic} ${protocol} ${endpoint.replaceAll('/', ' ')}`, {
        topic: topics[topic],
        protocol: protocols[protocol],
        endpoint,
        ...(filter && { filterPolicy: filterPolicyOf(filter) }),
      });
  }
}

/** Translates a filter into SNS's words, over the message attributes of an event. */
function filterPolicyOf({
  types,
  organizations,
  assessments,
  integrations,
  late,
}: NonNullable<SubscriptionConfig['filter']>): Record<string, sns.SubscriptionFilter> {
  const text = (allowlist: string[]) => sns.SubscriptionFilter.stringFilter({ allowlist });
  return {
    ...(types && { type: text(types.map((change) => `certification.${change}`)) }),
    ...(organizations && {
      organization_id: sns.SubscriptionFilter.numericFilter({ allowlist: organizations }),
    }),
    ...(assessments && { assessment_name: text(assessments) }),
    ...(integrations && { integration: text(integrations) }),
    ...(late !== undefined && { late: text([String(late)]) }),
  };
}
