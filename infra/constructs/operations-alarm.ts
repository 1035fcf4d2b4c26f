import { Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { type AlarmName, adviceOn, conditions, noticed } from '../../lambda/condition-table.ts';
import { inRunbook } from './runbook.ts';

/** What it tells of, and of whom. */
interface Told {
  readonly condition: AlarmName;
  readonly integration?: string | undefined;
  /** As ops know it, where it is no integration; no address of a person. */
  readonly of?: string | undefined;
}

export interface OperationsAlarmProps
  extends Omit<cloudwatch.AlarmProps, 'alarmDescription'>,
    Told {
  /** The topics of operations. */
  readonly tells: readonly sns.ITopic[];
  /** Whether operations are told of its end. @default true */
  readonly tellsEnd?: boolean;
}

/** An alarm that somebody can act on: it explains itself, and tells ops of its begin and end. */
export class OperationsAlarm extends cloudwatch.Alarm {
  constructor(
    scope: Construct,
    id: string,
    { tells, condition, integration, of, tellsEnd = true, ...props }: OperationsAlarmProps,
  ) {
    super(scope, id, {
      ...props,
      alarmDescription: describedAlarm(scope, { condition, integration, of }),
    });
    for (const topic of tells) {
      // The topic's policy is a resource of its own, and CloudWatch does not try again to tell.
      this.node.addDependency(topic);
      this.addAlarmAction(new SnsAction(topic));
      if (tellsEnd) this.addOkAction(new SnsAction(topic));
    }
  }
}

/** Which days, records or organizations: only ticks know. */
const details = 'The notice on the operations topic has the details.';

/** All that the table says of a condition, in the 1,024 characters that CloudWatch takes. */
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
