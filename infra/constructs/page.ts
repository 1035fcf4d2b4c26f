import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { runbookPage } from './operations-alarm.ts';

export interface PageProps {
  readonly integration: string;
  readonly urgent: readonly cloudwatch.IAlarm[];
  /** The pager's. */
  readonly topic: sns.ITopic;
}

/** Wakes somebody once, however many of the urgent alarms go off. */
export class Page extends cloudwatch.CompositeAlarm {
  constructor(scope: Construct, id: string, { integration, urgent, topic }: PageProps) {
    super(scope, id, {
      alarmRule: cloudwatch.AlarmRule.anyOf(
        ...urgent.map((alarm) =>
          cloudwatch.AlarmRule.fromAlarm(alarm, cloudwatch.AlarmState.ALARM),
        ),
      ),
      alarmDescription: [
        `Changes at the partner of ${integration} are not announced.`,
        'Impact: subscribers hear of them late; none is lost.',
        'Likely: see the alarm or alarms behind this one.',
        'Do: read their descriptions; the notices on the operations topic say the same and more.',
        `Runbook: ${runbookPage}#paged`,
      ].join('\n'),
    });
    this.addAlarmAction(new SnsAction(topic));
    this.addOkAction(new SnsAction(topic));
  }
}
