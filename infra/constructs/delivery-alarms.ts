import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { SubscriptionConfig } from '../config.ts';
import { OperationsAlarm } from './operations-alarm.ts';
import type { Topics } from './topics.ts';

export interface DeliveryAlarmsProps {
  readonly topics: Topics;
  readonly subscriptions: readonly SubscriptionConfig[];
  /** Gets the alarms about operations, too. Undefined: nobody does. */
  readonly pager: sns.ITopic | undefined;
}

/** SNS's own names. */
const failed = 'NumberOfNotificationsFailed';
const failedToRedrive = 'NumberOfNotificationsFailedToRedriveToDlq';

/**
 * Alarms on deliveries that SNS gave up, also to subscribers outside of the configuration. Only subscribers in the
 * configuration have dead letters with an alarm of their own.
 */
export class DeliveryAlarms extends Construct {
  constructor(scope: Construct, id: string, { topics, subscriptions, pager }: DeliveryAlarmsProps) {
    super(scope, id);
    const counted = (topic: sns.ITopic, metricName: string) => ({
      tells: topics.ofOperations,
      metric: topic.metric(metricName, {
        statistic: cloudwatch.Stats.SUM,
        period: Duration.minutes(5),
      }),
    });
    const hasHook = (name: SubscriptionConfig['topic']) =>
      subscriptions.some(({ topic, protocol }) => topic === name && protocol === 'https');
    const undelivered = (name: SubscriptionConfig['topic'], tellsEnd = true) =>
      new OperationsAlarm(this, `${name} not delivered`, {
        ...counted(topics[name], failed),
        // For a webhook, SNS counts every attempt, and most fail only once.
        evaluationPeriods: hasHook(name) ? 3 : 1,
        tellsEnd,
        condition: 'not-delivered',
        of: `the ${name} topic`,
      });
    const lost = (name: SubscriptionConfig['topic'], tellsEnd = true) =>
      new OperationsAlarm(this, `${name} lost`, {
        ...counted(topics[name], failedToRedrive),
        tellsEnd,
        condition: 'dead-letters-lost',
        of: `the ${name} topic`,
      });
    for (const [name, topic] of Object.entries(topics.chat)) {
      // Amazon Q subscribes by HTTPS. A chat cannot be told of the failure of its own topic.
      const tells = name === 'operations' ? [topics.operations] : topics.ofOperations;
      new OperationsAlarm(this, `chat ${name} not delivered`, {
        ...counted(topic, failed),
        evaluationPeriods: 3,
        tells,
        condition: 'not-delivered',
        of: `the topic of ${name} for chats`,
      });
    }
    undelivered('events');
    undelivered('alerts');
    lost('events');
    lost('alerts');

    // A notice of the end would be one more message that fails, and would set off the alarm again.
    const unheard = [undelivered('operations', false)];
    // Without a webhook, the alarm above already reports each lost message.
    if (hasHook('operations')) unheard.push(lost('operations', false));
    if (pager)
      for (const alarm of unheard) {
        alarm.addAlarmAction(new SnsAction(pager));
        alarm.addOkAction(new SnsAction(pager));
      }
  }
}
