import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { AttributeType, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { FilterOrPolicy, SubscriptionFilter, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription, SqsSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Queue } from 'aws-cdk-lib/aws-sqs';

export const foreignQueueArn = 'arn:aws:sqs:us-east-1:111122223333:district-queue';

/** One resource of each kind that the embedded AWS interprets. @returns the assembly's directory */
export function synthesizeSmallStack(): string {
  const outdir = mkdtempSync(join(tmpdir(), 'small-stack-'));
  const app = new App({ outdir, analyticsReporting: false });
  const stack = new Stack(app, 'Small');

  const table = new TableV2(stack, 'Ledger', {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    globalSecondaryIndexes: [
      {
        indexName: 'by-day',
        partitionKey: { name: 'day', type: AttributeType.STRING },
        sortKey: { name: 'number', type: AttributeType.NUMBER },
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: ['kept'],
      },
    ],
  });
  const topic = new Topic(stack, 'Events');
  const deadLetters = new Queue(stack, 'DeadLetters');
  const queue = new Queue(stack, 'Created', {
    visibilityTimeout: Duration.seconds(5),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: 3 },
  });
  topic.addSubscription(
    new SqsSubscription(queue, {
      rawMessageDelivery: true,
      filterPolicy: { type: SubscriptionFilter.stringFilter({ allowlist: ['created'] }) },
    }),
  );
  topic.addSubscription(
    new SqsSubscription(Queue.fromQueueArn(stack, 'Foreign', foreignQueueArn), {
      filterPolicyWithMessageBody: {
        organization: FilterOrPolicy.filter(SubscriptionFilter.numericFilter({ allowlist: [7] })),
      },
    }),
  );
  topic.addSubscription(new EmailSubscription('ops@example.org'));
  const secret = new Secret(stack, 'Credentials');
  const handler = new LambdaFunction(stack, 'Poll', {
    runtime: Runtime.NODEJS_LATEST,
    architecture: Architecture.ARM_64,
    handler: 'index.handler',
    code: Code.fromAsset(join(import.meta.dirname, 'fixtures/function')),
    timeout: Duration.seconds(1),
    memorySize: 256,
    reservedConcurrentExecutions: 1,
    environment: {
      TABLE_NAME: table.tableName,
      TOPIC_ARN: topic.topicArn,
      SECRET_ID: secret.secretArn,
    },
  });
  new Schedule(stack, 'EveryMinute', {
    schedule: ScheduleExpression.rate(Duration.minutes(1)),
    target: new LambdaInvoke(handler, { input: ScheduleTargetInput.fromObject({ tick: true }) }),
  });
  new CfnOutput(stack, 'EventsTopic', { value: topic.topicArn });
  new CfnOutput(stack, 'CreatedQueue', { value: queue.queueArn });
  app.synth();
  return outdir;
}
