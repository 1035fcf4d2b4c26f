import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { inRunbook } from './runbook.ts';

export interface OperationsAlarmProps extends Omit<cloudwatch.AlarmProps, 'alarmDescription'> {
  /** The operations topic. */
  readonly topic: sns.ITopic;
  /** What has happened, in one sentence. */
  readonly says: string;
  /** What it means to subscribers. */
  readonly impact: string;
  /** What has caused it, most of the time. */
  readonly likely: string;
  /** What to do about it. */
  readonly toDo: string;
  /** Its entry in the runbook: the heading's anchor. */
  readonly runbook: string;
  /** Whether operations are told of its end. @default true */
  readonly tellsEnd?: boolean;
}

/** An alarm that somebody can act on: it explains itself, and tells operators of its begin and end. */
export class OperationsAlarm extends cloudwatch.Alarm {
  constructor(
    scope: Construct,
    id: string,
    { topic, says, impact, likely, toDo, runbook, tellsEnd = true, ...props }: OperationsAlarmProps,
  ) {
    super(scope, id, {
      ...props,
      alarmDescription: [
        says,
        `Impact: ${impact}`,
        `Likely: ${likely}`,
        `Do: ${toDo}`,
        inRunbook(scope, runbook),
      ].join('\n'),
    });
    // The topic's policy is a resource of its own, and CloudWatch does not try again to tell.
    this.node.addDependency(topic);
    this.addAlarmAction(new SnsAction(topic));
    if (tellsEnd) this.addOkAction(new SnsAction(topic));
  }
}
