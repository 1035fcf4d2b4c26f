import { Aws, Names } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { describedAlarm } from './operations-alarm.ts';

export interface UrgentAlarmProps {
  /** The integration's name. */
  readonly integration: string;
  /** Each of them suffices. */
  readonly urgent: readonly cloudwatch.IAlarm[];
  /** The topic of the pager. */
  readonly topic: sns.ITopic;
}

/** Wakes somebody once, also if several urgent alarms go off. */
export class UrgentAlarm extends cloudwatch.CompositeAlarm {
  constructor(scope: Construct, id: string, { integration, urgent, topic }: UrgentAlarmProps) {
    super(scope, id, {
      // The CDK would name the alarm after its place in the app, which two deployments share. A stack's name has at
      // most 128 characters, an alarm's 255.
      compositeAlarmName: `${Aws.STACK_NAME}-${Names.uniqueResourceName(scope, { maxLength: 100 })}`,
      alarmRule: cloudwatch.AlarmRule.anyOf(
        ...urgent.map((alarm) =>
          cloudwatch.AlarmRule.fromAlarm(alarm, cloudwatch.AlarmState.ALARM),
        ),
      ),
      alarmDescription: describedAlarm(scope, { condition: 'paged', integration }),
    });
    this.addAlarmAction(new SnsAction(topic));
    this.addOkAction(new SnsAction(topic));
  }
}
