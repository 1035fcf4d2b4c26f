import { Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { type AlarmName, adviceOn, conditions, noticed } from '../../lambda/condition-table.ts';
import { inRunbook } from './runbook.ts';

/** The condition of an alarm, and its subject. */
interface Told {
  readonly condition: AlarmName;
  readonly integration?: string | undefined;
  /** The subject, as ops know it, if it is no integration; no address of a person. */
  readonly of?: string | undefined;
}

export interface OperationsAlarmProps extends Partial<cloudwatch.AlarmProps>, Told {
  readonly metric: cloudwatch.IMetric;
  /** The topics of operations. */
  readonly tells: readonly sns.ITopic[];
  /** Whether operations get a notice of its end. @default true */
  readonly tellsEnd?: boolean;
}

/**
 * An alarm that ops can act on: it explains itself, and reports its begin and its end. By default it goes off at the
 * first value of 1 or more. Missing data are good: SNS, SQS, Firehose and the ticks report nothing while nothing is wrong.
 */
export class OperationsAlarm extends cloudwatch.Alarm {
  constructor(
    scope: Construct,
    id: string,
    { tells, condition, integration, of, tellsEnd = true, ...props }: OperationsAlarmProps,
  ) {
    super(scope, id, {
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      ...props,
      alarmDescription: describedAlarm(scope, { condition, integration, of }),
    });
    for (const topic of tells) {
      // The topic's policy is a resource of its own, and CloudWatch does not repeat a refused notice.
      this.node.addDependency(topic);
      this.addAlarmAction(new SnsAction(topic));
      if (tellsEnd) this.addOkAction(new SnsAction(topic));
    }
  }
}

/** Only ticks know which days, records or organizations. */
const details = 'The notice on the operations topic has the details.';

/** All that the table says about a condition, within CloudWatch's 1,024 characters. */
export function describedAlarm(scope: Construct, { condition, integration, of }: Told): string {
  const entry = conditions()[condition];
  const { title, happened, impact, likely } = entry;
  const place = { at: `--stack ${Stack.of(scope).stackName}`, integration } as const;
  return [
    `${of ?? integration}: ${title}`,
    Object.hasOwn(noticed, condition) ? `${happened} ${details}` : happened,
    `Impact: ${impact}`,
    ...(likely ? [`Likely: ${likely}`] : []),
    `Do: ${adviceOn(entry, place)}`,
    inRunbook(scope, condition),
  ].join('\n');
}
