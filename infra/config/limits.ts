import type { NotifierSettings } from './notifier.ts';
import { isChat, newQueueOf, placeOf } from './subscription.ts';

/** CloudFormation's limit for the resources of a stack. A deployment is one stack. */
export const maxResources = 500;

/**
 * The number of resources of a stack with its own key, dashboard and secrets; without one of these, there is one less.
 * A test compares the number with the synthesized stack.
 */
export function resourcesOf({
  topic,
  integrations,
  subscriptions,
  pagerTopicArn,
}: Pick<NotifierSettings, 'topic' | 'integrations' | 'subscriptions' | 'pagerTopicArn'>): number {
  const chats = subscriptions.filter(isChat);
  const hasOperationsHook = subscriptions.some(
    (one) => one.topic === 'operations' && one.protocol === 'https',
  );
  const ofSubscriptions = subscriptions.map((one) => {
    if (isChat(one)) return 0;
    if (newQueueOf(one)) return 6;
    if (one.protocol === 'archive') return topic === 'fifo' ? 14 : 10;
    return { lambda: 5, 'event-bus': 9, email: 4, 'email-json': 4, https: 4, sqs: 4 }[one.protocol];
  });
  return (
    (hasOperationsHook ? 19 : 18) +
    (pagerTopicArn === undefined ? 20 : 21) * integrations.length +
    ofSubscriptions.reduce((sum, count) => sum + count, 0) +
    (chats.length > 0 ? 1 : 0) +
    3 * new Set(chats.map((one) => one.topic)).size +
    new Set(chats.map(placeOf)).size
  );
}
