import { Aws, Names } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { describedAlarm } from './operations-alarm.ts';

export interface PageProps {
  /** Its name. */
  readonly integration: string;
  /** Each of them is reason enough. */
  readonly urgent: readonly cloudwatch.IAlarm[];
  /** The pager's. */
  readonly topic: sns.ITopic;
}

/** Wakes somebody once, however many of the urgent alarms go off. */
export class Page extends cloudwatch.CompositeAlarm {
  constructor(scope: Construct, id: string, { integration, urgent, topic }: PageProps) {
    super(scope, id, {
      // The CDK would name it after its place in the app, which two deployments have in common. A
      // stack's name is at most 128 characters, an alarm's 255.
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
