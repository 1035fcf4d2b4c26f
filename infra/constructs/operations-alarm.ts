import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

export interface OperationsAlarmProps extends Omit<cloudwatch.AlarmProps, 'alarmDescription'> {
  /** The operations topic. */
  readonly topic: sns.ITopic;
  /** What has happened, in one sentence. */
  readonly says: string;
  /** What it means to subscribers. */
  readonly impact: string;
  readonly likely: string;
  /** What to do about it. */
  readonly toDo: string;
  /** Its entry in the runbook, docs/operations.md: the heading's anchor. */
  readonly runbook: string;
}

/** Where the repository has it; anchors are those that GitHub gives to headings. */
export const runbookPage = 'docs/operations.md';

/** An alarm that somebody can act on: it explains itself, and tells operators of its begin and end. */
export class OperationsAlarm extends cloudwatch.Alarm {
  constructor(
    scope: Construct,
    id: string,
    { topic, says, impact, likely, toDo, runbook, ...props }: OperationsAlarmProps,
  ) {
    super(scope, id, {
      ...props,
      alarmDescription: [
        says,
        `Impact: ${impact}`,
        `Likely: ${likely}`,
        `Do: ${toDo}`,
        `Runbook: ${runbookPage}#${runbook}`,
      ].join('\n'),
    });
    this.addAlarmAction(new SnsAction(topic));
    this.addOkAction(new SnsAction(topic));
  }
}
